package seqlease

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestProblemSaysWhereAndWhat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		problem Problem
		want    string
	}{
		{Problem{Message: "is empty"}, "is empty"},
		{Problem{File: "metadata file", Message: "is empty"}, "metadata file: is empty"},
		{Problem{Line: 3, Message: "is empty"}, "line 3: is empty"},
		{
			Problem{File: "metadata file", Line: 3, Record: "s\t1", Field: "country", Value: "?", Message: "is empty"},
			`metadata file, line 3, record "s\t1", field "country": is empty`,
		},
	} {
		if got := c.problem.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestInvalidErrorIsBounded(t *testing.T) {
	t.Parallel()
	e := Invalid()
	if err := e.OrNil(); err != nil {
		t.Errorf("without problems: got %v, want nil", err)
	}
	for i := 1; i <= MaxListedProblems; i++ {
		e.Add(Problem{Line: i, Message: "is empty"})
	}
	if e.More != 0 || strings.Contains(e.Error(), "more") {
		t.Errorf("%d problems: %d more, %s", MaxListedProblems, e.More, e)
	}
	for range 1_000_000 {
		e.Add(Problem{Line: 99, Message: "is empty"})
	}
	if got, want := len(e.Problems), MaxListedProblems; got != want {
		t.Errorf("got %d problems listed, want %d", got, want)
	}
	text := e.Error()
	if !strings.HasPrefix(text, "line 1: is empty; line 2: is empty; ") || !strings.HasSuffix(text, "; line 20: is empty; and 1000000 more") {
		t.Errorf("got %q", text)
	}
	var invalid *InvalidError
	if err := fmt.Errorf("submit: %w", e.OrNil()); !errors.As(err, &invalid) || invalid != e {
		t.Errorf("the error is lost in %v", err)
	}
}

func TestInvalidErrorKnowsItsKind(t *testing.T) {
	t.Parallel()
	if got, want := Invalid(Problem{Message: "x"}).Kind, InvalidContent; got != want {
		t.Errorf("got kind %d of content, want %d", got, want)
	}
	e := InvalidParameter("groupId", "is missing")
	if got, want := e.Kind, InvalidRequest; got != want {
		t.Errorf("got kind %d of a parameter, want %d", got, want)
	}
	if got, want := e.Error(), `field "groupId": is missing`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRefusedErrorIsLeaseLost(t *testing.T) {
	t.Parallel()
	lost := Refusal{AccessionVersion{"LOC_000001Y", 1}, 7, RefusedLeaseLost, "the lease ended"}
	edited := Refusal{AccessionVersion{"LOC_000002W", 1}, 3, RefusedEdited, "the entry was edited"}
	for _, c := range []struct {
		name    string
		refused []Refusal
		want    bool
	}{
		{"none", nil, false},
		{"a lost lease", []Refusal{lost}, true},
		{"another reason", []Refusal{edited}, false},
		{"a lost lease among others", []Refusal{edited, lost}, true},
	} {
		err := fmt.Errorf("accept: %w", &RefusedError{Refused: c.refused})
		if got := errors.Is(err, ErrLeaseLost); got != c.want {
			t.Errorf("%s: is a lost lease: %t, want %t", c.name, got, c.want)
		}
		if errors.Is(err, ErrNotFound) || errors.Is(err, ErrState) {
			t.Errorf("%s: is another sentinel too", c.name)
		}
	}
	got := (&RefusedError{Refused: []Refusal{edited, lost}}).Error()
	want := "2 result lines were refused and nothing was stored; the first: line 3 (LOC_000002W.1): edited: the entry was edited"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
