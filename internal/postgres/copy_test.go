package postgres_test

import (
	"errors"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

// Wherever in an upload a row is that the database refuses, or an entry that can't be
// read, nothing of it is stored, and the next one is stored whole and in order.
func TestSubmit_L1_WhatIsRefusedMidwayStoresNothing(t *testing.T) {
	t.Parallel()
	s := newHarness("", postgres.Options{}).open(t)
	group := register(t, s).GroupID
	const n = 12_000
	unreadable := errors.New("unreadable")
	for _, at := range []int{0, 1000, 5000, n - 1} {
		for name, broken := range map[string]error{"refused": nil, "unreadable": unreadable} {
			u := smallUpload(s, group, n)
			entries := u.Entries
			u.Entries = func(yield func(submission.PackedEntry, error) bool) {
				i := 0
				for e, err := range entries {
					if i == at {
						e.SubmissionID, err = "\x00", broken
					}
					if i++; !yield(e, err) || err != nil {
						return
					}
				}
			}
			if _, err := s.Submit(t.Context(), u); err == nil || broken != nil && !errors.Is(err, broken) {
				t.Errorf("entry %d is %s: got %v", at, name, err)
			}
		}
	}
	made, err := s.Submit(t.Context(), smallUpload(s, group, n))
	if err != nil || len(made) != n {
		t.Fatalf("made %d entries, %v", len(made), err)
	}
	listed := 0
	_, err = s.List(t.Context(), submission.ListFilter{Organism: storetest.WestNile}, func(e submission.ListedEntry) error {
		if want := made[listed]; e.AccessionVersion != want.AccessionVersion || e.SubmissionID != want.SubmissionID || e.Terms.Type != seqlease.TermsOpen {
			t.Errorf("entry %d is %+v, want %+v", listed, e, want)
		}
		listed++
		return nil
	})
	if err != nil || listed != n {
		t.Errorf("listed %d entries, %v, want %d", listed, err, n)
	}
}
