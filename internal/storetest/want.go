package storetest

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// wantError checks that err is the sentinel.
func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got error %v, want one that is %q", err, want)
	}
}

// wantSame compares two values and shows where they differ.
func wantSame[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if reflect.DeepEqual(got, want) { // much faster for long lists
		return
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// clockStep is the coarsest step in which a store keeps times.
const clockStep = 2 * time.Millisecond

// now reads the database's clock.
func (f *fixture) now(t *testing.T) time.Time {
	t.Helper()
	now, err := f.Now(t.Context())
	if err != nil {
		t.Fatalf("now: %v", err)
	}
	return now
}

// wantBetween checks that an instant lies between two others, give or take a clock step.
func wantBetween(t *testing.T, what string, got, earliest, latest time.Time) {
	t.Helper()
	if got.Before(earliest.Add(-clockStep)) || got.After(latest.Add(clockStep)) {
		t.Errorf("%s at %s, want between %s and %s", what, got, earliest, latest)
	}
}

// refused is a refusal without the words for people.
func refused(line int, av seqlease.AccessionVersion, reason seqlease.RefusalReason) seqlease.Refusal {
	return seqlease.Refusal{AccessionVersion: av, Line: line, Reason: reason}
}

// wantRefused checks that exactly these lines were refused, in this order, and
// that each says why in words.
func wantRefused(t *testing.T, err error, want ...seqlease.Refusal) {
	t.Helper()
	var refusal *seqlease.RefusedError
	if !errors.As(err, &refusal) {
		t.Fatalf("got error %v, want a refusal of %d lines", err, len(want))
	}
	got := slices.Clone(refusal.Refused)
	for i := range got {
		if got[i].Detail == "" {
			t.Errorf("the refusal of line %d has no detail", got[i].Line)
		}
		got[i].Detail = ""
	}
	wantSame(t, "refused lines", got, want)
}

// list returns the listed entries and the counts.
func (f *fixture) list(t *testing.T, filter submission.ListFilter) ([]submission.ListedEntry, submission.Counts) {
	t.Helper()
	var listed []submission.ListedEntry
	counts, err := f.List(t.Context(), filter, func(e submission.ListedEntry) error {
		listed = append(listed, e)
		return nil
	})
	if err != nil {
		t.Fatalf("list: %v", err)
	}
	return listed, counts
}

// wantStatuses checks the status counts of West Nile virus, and that the listed
// entries agree with them. Statuses that aren't mentioned have no entries.
func (f *fixture) wantStatuses(t *testing.T, want map[seqlease.Status]int64) {
	t.Helper()
	listed, counts := f.list(t, submission.ListFilter{Organism: WestNile})
	fromList := map[seqlease.Status]int64{}
	for _, e := range listed {
		fromList[e.Status]++
	}
	wantSame(t, "statuses of the listed entries", fromList, want)
	wantSame(t, "status counts", present(counts.Statuses), want)
}

// present leaves out what is counted as 0: whether a store lists it is its own affair.
func present[K comparable](counts map[K]int64) map[K]int64 {
	kept := map[K]int64{}
	for k, n := range counts {
		if n != 0 {
			kept[k] = n
		}
	}
	return kept
}

// wantStatus checks the status of one entry of West Nile virus.
func (f *fixture) wantStatus(t *testing.T, av seqlease.AccessionVersion, want seqlease.Status) {
	t.Helper()
	listed, _ := f.list(t, submission.ListFilter{Organism: WestNile})
	for _, e := range listed {
		if e.AccessionVersion == av {
			if e.Status != want {
				t.Errorf("%s is %s, want %s", av, e.Status, want)
			}
			return
		}
	}
	t.Errorf("%s is not listed, want %s", av, want)
}

// released returns everything that is released of West Nile virus.
func (f *fixture) released(t *testing.T) (submission.ReleasedHead, []submission.ReleasedEntry) {
	t.Helper()
	return f.releasedOf(t, WestNile)
}

// releasedOf returns everything that is released of the organism, with copies of
// the bodies, which are valid in the callback only.
func (f *fixture) releasedOf(t *testing.T, o seqlease.Organism) (submission.ReleasedHead, []submission.ReleasedEntry) {
	t.Helper()
	var head submission.ReleasedHead
	var all []submission.ReleasedEntry
	begun := 0
	err := f.ReadReleased(t.Context(), o,
		func(h submission.ReleasedHead) error {
			head = h
			begun++
			return nil
		},
		func(e submission.ReleasedEntry) error {
			e.Result, e.Submitted = slices.Clone(e.Result), slices.Clone(e.Submitted)
			all = append(all, e)
			return nil
		})
	if err != nil {
		t.Fatalf("read released: %v", err)
	}
	if begun != 1 {
		t.Errorf("begin was called %d times, want once", begun)
	}
	if int(head.Count) != len(all) {
		t.Errorf("the head announces %d entries, but %d came", head.Count, len(all))
	}
	return head, all
}

// approveAll releases everything that can be.
func (f *fixture) approveAll(t *testing.T) []seqlease.AccessionVersion {
	t.Helper()
	approved, err := f.Approve(t.Context(), submission.Approval{Organism: WestNile, Approver: submitter, Scope: seqlease.ApproveAll})
	if err != nil {
		t.Fatalf("approve: %v", err)
	}
	return approved
}
