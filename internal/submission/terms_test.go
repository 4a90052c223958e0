package submission_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

func restricted(day string) seqlease.DataUseTerms {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err)
	}
	return seqlease.DataUseTerms{Type: seqlease.TermsRestricted, RestrictedUntil: at}
}

func TestRefuseTerms_SaysWhichAndWhy(t *testing.T) {
	t.Parallel()
	open := seqlease.DataUseTerms{Type: seqlease.TermsOpen}
	type terms = map[seqlease.Accession]seqlease.DataUseTerms
	many := terms{}
	for i := range 25 {
		many[seqlease.Accession(fmt.Sprintf("A%02d", i))] = open
	}
	for _, tc := range []struct {
		name   string
		next   seqlease.DataUseTerms
		stored terms
		says   []string // nil: allowed
	}{
		{"nothing", open, nil, nil},
		{"end", open, terms{"A": restricted("2027-01-02")}, nil},
		{"shorten", restricted("2027-01-01"), terms{"A": restricted("2027-01-02"), "B": restricted("2027-01-01")}, nil},
		{"open again", open, terms{"B": open, "A": open, "C": restricted("2027-01-02")}, []string{"A, B are OPEN already"}},
		{"close", restricted("2027-01-01"), terms{"B": open, "A": restricted("2027-01-02")}, []string{"B are OPEN", "can't be restricted"}},
		{"open before extension", restricted("2027-01-03"), terms{"B": open, "A": restricted("2027-01-02")}, []string{"B are OPEN"}},
		{
			"extend", restricted("2027-01-03"),
			terms{"B": restricted("2027-01-01"), "A": restricted("2027-01-02")},
			[]string{"extended to 2027-01-03", "that of A ends on 2027-01-02", "A, B"},
		},
		{"many", open, many, []string{"A00, A01", "A19 and 5 more"}},
	} {
		err := submission.RefuseTerms(tc.next, tc.stored)
		if tc.says == nil {
			if err != nil {
				t.Errorf("%s: %v", tc.name, err)
			}
			continue
		}
		if !errors.Is(err, seqlease.ErrState) {
			t.Fatalf("%s: got %v, want %v", tc.name, err, seqlease.ErrState)
		}
		for _, part := range tc.says {
			if !strings.Contains(seqlease.Explanation(err), part) {
				t.Errorf("%s: %q doesn't say %q", tc.name, err, part)
			}
		}
	}
}
