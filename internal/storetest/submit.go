package storetest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

func submitCases() []testCase {
	return []testCase{
		{name: "L1_EachSubmittedEntryIsClaimableAtOnce", check: submitL1ClaimableAtOnce},
		{name: "L1_UploadThatFailsMidwayLeavesNothing", check: submitL1FailsMidway},
		{name: "L1_CancelledUploadLeavesNothing", check: submitL1Cancelled},
		{name: "L1_UploadIsSeenWholeOrNotAtAll", check: submitL1Whole},
		{name: "L13_B025_SlowUploadHoldsUpNobodyAndIsNotStarved", check: submitL13Slow},
		{name: "Submit_KeepsOrderAndAccessionsAscend", check: submitKeepsOrder},
		{name: "Submit_ConcurrentUploadsGetDifferentAccessions", check: submitConcurrently},
		{name: "Submit_SubmissionIDsMayRepeat", check: submitRepeatedIDs},
		{name: "Submit_OrganismsShareTheCounter", check: submitSharedCounter},
		{name: "Submit_UnknownOrganismIsRefused", check: submitUnknownOrganism},
	}
}

func submitL1ClaimableAtOnce(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 25)
	wantSame(t, "claimed", claimed(f.claim(t, 100)), versions)
}

func submitL1FailsMidway(t *testing.T, h Harness) {
	f := newFixture(t, h)
	before := f.claim(t, 0).Mark
	broken := errors.New("the upload is cut off")
	u := f.upload(0)
	u.Entries = func(yield func(submission.PackedEntry, error) bool) {
		for i := range 700 { // more than a chunk of any store
			if !yield(f.sample(WestNile, i), nil) {
				return
			}
		}
		yield(submission.PackedEntry{}, broken)
	}
	_, err := f.Submit(t.Context(), u)
	wantError(t, err, broken)
	wantNothingSubmitted(t, f, before)

	wantSame(t, "claimed after a good upload", len(f.submit(t, 3)), 3)
	wantSame(t, "entries claimed after a good upload", len(f.claim(t, 100).Entries), 3)
}

func submitL1Cancelled(t *testing.T, h Harness) {
	f := newFixture(t, h)
	before := f.claim(t, 0).Mark
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	u := f.upload(0)
	u.Entries = func(yield func(submission.PackedEntry, error) bool) {
		for i := range 700 {
			if i == 400 {
				cancel()
			}
			if !yield(f.sample(WestNile, i), nil) {
				return
			}
		}
	}
	if _, err := f.Submit(ctx, u); err == nil {
		t.Error("a cancelled upload was stored")
	}
	wantNothingSubmitted(t, f, before)
}

func submitL1Whole(t *testing.T, h Harness) {
	f := newFixture(t, h)
	const n = 5000
	stored := make(chan error, 1)
	go func() {
		_, err := f.Submit(t.Context(), f.upload(n))
		stored <- err
	}()
	for done := false; !done; {
		select {
		case err := <-stored:
			if err != nil {
				t.Fatalf("submit: %v", err)
			}
			done = true
		default:
		}
		_, counts := f.list(t, submission.ListFilter{Organism: WestNile, Limit: 1})
		if got := counts.Statuses[seqlease.Received]; got != n && (got != 0 || done) {
			t.Fatalf("%d of %d entries are seen, with the upload stored: %t", got, n, done)
		}
	}
	wantSame(t, "entries claimed", len(f.claim(t, 2*n).Entries), n)
}

// submitL13Slow stops an upload midway while entries that came later go through
// their whole life, so that everything that is claimed has a higher accession.
func submitL13Slow(t *testing.T, h Harness) {
	f := newFixture(t, h)
	const n = 1200
	reached, resume, stored := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	goOn := sync.OnceFunc(func() { close(resume) })
	var tooLong atomic.Bool
	rescue := time.AfterFunc(time.Minute, func() { // an error instead of a test that hangs
		tooLong.Store(true)
		goOn()
	})
	defer rescue.Stop()
	u := f.upload(0)
	u.Entries = func(yield func(submission.PackedEntry, error) bool) {
		for i := range n {
			if i == n/2 {
				close(reached)
				<-resume
			}
			if !yield(f.sample(WestNile, i), nil) {
				return
			}
		}
	}
	go func() {
		_, err := f.Submit(t.Context(), u)
		stored <- err
	}()
	<-reached
	versions := f.everyState(t)
	f.mustEdit(t, versions[3], submitted(1))
	f.mustDelete(t, versions[0])
	wantSame(t, "claimed while the upload is under way", claimed(f.claim(t, n)), versions[3:4])
	wantSame(t, "claimed when nothing more waits", claimed(f.claim(t, n)), nil)
	goOn()
	if err := <-stored; err != nil {
		t.Fatalf("submit: %v", err)
	}
	if tooLong.Load() {
		t.Error("others waited until the upload went on")
	}
	wantSame(t, "entries claimed after the upload", len(f.claim(t, 2*n).Entries), n)
}

// wantNothingSubmitted checks that no entry, ticket or count is there.
func wantNothingSubmitted(t *testing.T, f *fixture, mark string) {
	t.Helper()
	f.wantStatuses(t, nil)
	lease := f.claim(t, 10)
	wantSame(t, "claimed", claimed(lease), nil)
	wantSame(t, "mark", lease.Mark, mark)
}

func submitKeepsOrder(t *testing.T, h Harness) {
	f := newFixture(t, h)
	const n = 2500
	mappings, err := f.Submit(t.Context(), f.upload(n))
	if err != nil {
		t.Fatalf("submit: %v", err)
	}
	if len(mappings) != n {
		t.Fatalf("got %d mappings, want %d", len(mappings), n)
	}
	for i, m := range mappings {
		if want := sampleID(i); m.SubmissionID != want || m.Version != 1 {
			t.Fatalf("mapping %d is %+v, want %s with version 1", i, m, want)
		}
		if i > 0 && m.Accession <= mappings[i-1].Accession {
			t.Fatalf("accession %s of entry %d doesn't follow %s", m.Accession, i, mappings[i-1].Accession)
		}
		if !m.Accession.HasValidCheckSymbol(prefix) {
			t.Fatalf("accession %s has no valid check symbol", m.Accession)
		}
	}
	listed, _ := f.list(t, submission.ListFilter{Organism: WestNile})
	for i, e := range listed {
		if e.AccessionVersion != mappings[i].AccessionVersion || e.SubmissionID != mappings[i].SubmissionID {
			t.Fatalf("listed entry %d is %s (%s), want %s (%s)", i, e.AccessionVersion, e.SubmissionID, mappings[i].AccessionVersion, mappings[i].SubmissionID)
		}
	}
}

func submitConcurrently(t *testing.T, h Harness) {
	f := newFixture(t, h)
	const uploads, each = 4, 300
	all := make([][]seqlease.SubmissionIDMapping, uploads)
	var group errgroup.Group
	for i := range uploads {
		group.Go(func() (err error) {
			all[i], err = f.Submit(t.Context(), f.upload(each))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatalf("submit: %v", err)
	}
	seen := map[seqlease.AccessionVersion]bool{}
	for _, mappings := range all {
		if !slices.IsSortedFunc(mappings, func(a, b seqlease.SubmissionIDMapping) int {
			return a.Compare(b.AccessionVersion)
		}) {
			t.Error("the accessions of an upload don't ascend")
		}
		for _, m := range mappings {
			seen[m.AccessionVersion] = true
		}
	}
	wantSame(t, "different accessions", len(seen), uploads*each)
	wantSame(t, "entries claimed", len(f.claim(t, 2*uploads*each).Entries), uploads*each)
}

func submitRepeatedIDs(t *testing.T, h Harness) {
	f := newFixture(t, h)
	first, second := f.submit(t, 2), f.submit(t, 2)
	listed, _ := f.list(t, submission.ListFilter{Organism: WestNile})
	var ids []string
	for _, e := range listed {
		ids = append(ids, e.SubmissionID)
	}
	wantSame(t, "submission ids", ids, []string{"sample-0", "sample-1", "sample-0", "sample-1"})
	wantSame(t, "claimed", claimed(f.claim(t, 10)), slices.Concat(first, second))
}

func submitSharedCounter(t *testing.T, h Harness) {
	f := newFixture(t, h)
	seen := map[seqlease.AccessionVersion]bool{}
	for _, o := range []seqlease.Organism{WestNile, CCHF, WestNile} {
		for _, av := range f.submitTo(t, o, 3) {
			seen[av] = true
		}
	}
	wantSame(t, "different accessions", len(seen), 9)
}

func submitUnknownOrganism(t *testing.T, h Harness) {
	f := newFixture(t, h)
	u := f.upload(1)
	u.Organism = "measles"
	_, err := f.Submit(t.Context(), u)
	wantError(t, err, seqlease.ErrUnknownOrganism)
}
