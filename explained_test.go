package seqlease_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/seqlease/seqlease"
)

func TestExplanation_IsTheSentenceWithoutTheChain(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("read group 7: %w", fmt.Errorf("group 7: %w", seqlease.Explain(seqlease.ErrNotFound, "there is no group %d", 7)))
	if got, want := seqlease.Explanation(err), "there is no group 7"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := err.Error(), "read group 7: group 7: not found: there is no group 7"; got != want {
		t.Errorf("for the log: got %q, want %q", got, want)
	}
	if !errors.Is(err, seqlease.ErrNotFound) {
		t.Errorf("%v isn't %v", err, seqlease.ErrNotFound)
	}
}

func TestExplanation_OfAnErrorWithoutASentenceIsItsText(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("claim: %w", seqlease.ErrBusy)
	if got, want := seqlease.Explanation(err), "claim: busy"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProblemString_NamesTheFieldOnce(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"groupId is missing":        "line 3: groupId is missing",
		"groupIdsFilter is missing": `line 3, field "groupId": groupIdsFilter is missing`,
		"is missing":                `line 3, field "groupId": is missing`,
	} {
		p := seqlease.Problem{Line: 3, Field: "groupId", Message: message}
		if got := p.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestRefusedError_Plural(t *testing.T) {
	t.Parallel()
	refused := func(lines ...int) *seqlease.RefusedError {
		e := &seqlease.RefusedError{}
		for _, line := range lines {
			e.Refused = append(e.Refused, seqlease.Refusal{
				AccessionVersion: seqlease.AccessionVersion{Accession: "A", Version: 1},
				Line:             line, Reason: seqlease.RefusedInvalid, Detail: "it is odd",
			})
		}
		return e
	}
	for want, e := range map[string]*seqlease.RefusedError{
		"1 result line was refused and nothing was stored: line 3 (A.1): invalid: it is odd":              refused(3),
		"2 result lines were refused and nothing was stored; the first: line 3 (A.1): invalid: it is odd": refused(3, 4),
		"1 result line was refused and nothing was stored: line 3: invalid: it is odd": {
			Refused: []seqlease.Refusal{{Line: 3, Reason: seqlease.RefusedInvalid, Detail: "it is odd"}},
		},
	} {
		if got := e.Error(); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}
