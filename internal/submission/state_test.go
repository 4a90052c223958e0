package submission

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seqlease/seqlease"
)

func TestStateErrorNamesTheFirstKindOfFault(t *testing.T) {
	t.Parallel()
	a, b, c := seqlease.AccessionVersion{Accession: "A", Version: 1}, seqlease.AccessionVersion{Accession: "A", Version: 10}, seqlease.AccessionVersion{Accession: "B", Version: 2}
	all := StateError{
		Missing:      []seqlease.AccessionVersion{c, b, a},
		Unknown:      []seqlease.Accession{"B", "A"},
		Foreign:      map[seqlease.Organism][]seqlease.AccessionVersion{"zika": {c, a}, "cchf": {b}},
		WrongStatus:  map[seqlease.AccessionVersion]seqlease.Status{c: seqlease.Received, a: seqlease.InProcessing},
		WithErrors:   []seqlease.AccessionVersion{c, a},
		Revocations:  []seqlease.AccessionVersion{b, c},
		WantStatuses: []seqlease.Status{seqlease.Processed},
	}
	for _, step := range []struct {
		want string
		drop func()
	}{
		{"entry versions that do not exist: A.1, A.10, B.2", func() { all.Missing = nil }},
		{"accessions that do not exist: A, B", func() { all.Unknown = nil }},
		{"entries of another organism: A.10 is of organism cchf; A.1, B.2 are of organism zika", func() { all.Foreign = nil }},
		{"entries must be in status [PROCESSED], but A.1 - IN_PROCESSING, B.2 - RECEIVED", func() { all.WrongStatus = nil }},
		{"entries with errors can't be approved: A.1, B.2", func() { all.WithErrors = nil }},
		{"A.10, B.2 are revocations, which have no data to edit", func() { all.Revocations = all.Revocations[:1] }},
		{"A.10 is a revocation, which has no data to edit", func() { all.Revocations = nil }},
	} {
		if got := all.Error(); got != step.want {
			t.Errorf("got %q, want %q", got, step.want)
		}
		if all.IsEmpty() {
			t.Errorf("%q is empty", step.want)
		}
		step.drop()
	}
	if !all.IsEmpty() {
		t.Error("an error without entries isn't empty")
	}
}

func TestStateErrorCountsWhatItDoesNotName(t *testing.T) {
	t.Parallel()
	var many []seqlease.AccessionVersion
	wrong := map[seqlease.AccessionVersion]seqlease.Status{}
	for i := range maxNamed + 3 {
		many = append(many, seqlease.AccessionVersion{Accession: "A", Version: seqlease.Version(i + 1)})
		wrong[many[i]] = seqlease.Received
	}
	for _, e := range []StateError{{Missing: many}, {Foreign: map[seqlease.Organism][]seqlease.AccessionVersion{"zika": many}}, {WrongStatus: wrong}, {WithErrors: many}} {
		text := e.Error()
		if !strings.Contains(text, "A.20") || strings.Contains(text, "A.21") || !strings.Contains(text, "and 3 more") {
			t.Errorf("%q must name the first 20 entries and count the others", text)
		}
	}
}

func TestStateErrorIsErrState(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("approve: %w", &StateError{})
	if !errors.Is(err, seqlease.ErrState) {
		t.Errorf("%v is not ErrState", err)
	}
	if errors.Is(err, seqlease.ErrConflict) {
		t.Errorf("%v is ErrConflict", err)
	}
}

// TestNotMember_AgreesInNumber has one and several groups and entries.
func TestNotMember_AgreesInNumber(t *testing.T) {
	t.Parallel()
	a, b := seqlease.AccessionVersion{Accession: "A", Version: 1}, seqlease.AccessionVersion{Accession: "B", Version: 2}
	for want, err := range map[string]error{
		`user "bert" is not a member of group 1: ask a member to do it`:                               NotMember("bert", 1),
		`user "bert" is not a member of group 1, which A.1 belongs to: ask a member to do it`:         notMember(seqlease.Person{Name: "bert"}, []int64{1}, []seqlease.AccessionVersion{a}),
		`user "bert" is not a member of groups 1, 2, which A.1, B.2 belong to: ask a member to do it`: notMember(seqlease.Person{Name: "bert"}, []int64{1, 2}, []seqlease.AccessionVersion{b, a}),
	} {
		if got := seqlease.Explanation(err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
