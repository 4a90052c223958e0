package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

func releaseCases() []testCase {
	return []testCase{
		{name: "Release_CarriesEverything", check: releaseFields},
		{name: "Release_NothingReleased", check: releaseNothing},
		{name: "Release_OnlyApprovedEntries", check: releaseOnlyApproved},
		{name: "Release_IsOneSnapshot", needs: WriteWhileReading, check: releaseSnapshot},
		{name: "Release_ErrorOfACallbackEndsTheCall", check: releaseCallbackError},
		{name: "Release_MarkRisesWithEachApproval", check: releaseMarkRises},
		{name: "Release_MarkIsThatOfTheSnapshot", needs: WriteWhileReading, check: releaseMarkOfSnapshot},
		{name: "L13_ReleasedMarkIgnoresClaimsAndOtherOrganisms", check: releaseL13Mark},
		{name: "Release_B040_ReadersDoNotStopWriters", needs: WriteWhileReading, check: releaseReadersAndWriters},
	}
}

func releaseFields(t *testing.T, h Harness) {
	f := newFixture(t, h)
	before := f.now(t)
	u := f.upload(1)
	u.Terms = seqlease.DataUseTerms{Type: seqlease.TermsRestricted, RestrictedUntil: time.Date(2027, 2, 28, 0, 0, 0, 0, time.UTC)}
	versions := f.submitUpload(t, u)
	afterSubmit := f.now(t)
	other := f.newGroup(t, "Public Health Agency", "bert")
	u = f.upload(1)
	u.GroupID, u.Submitter = other.GroupID, "bert"
	versions = append(versions, f.submitUpload(t, u)...)
	lines := f.lines(t, f.claim(t, 2))
	lines[1] = f.line(t, 2, versions[1], lines[1].AttemptID, "with warnings", seqlease.HasWarnings)
	f.mustAccept(t, lines...)
	f.approveAll(t)
	after := f.now(t)

	head, released := f.released(t)
	wantBetween(t, "read", head.Now, after, f.now(t))
	times := cmpopts.IgnoreFields(submission.ReleasedEntry{}, "SubmittedAt", "ReleasedAt", "TermsChangedAt")
	want := []submission.ReleasedEntry{
		{
			AccessionVersion: versions[0], SubmissionID: "sample-0", Submitter: submitter,
			GroupID: f.group.GroupID, GroupName: "Institute of Virology", PipelineVersion: 1,
			Terms:  seqlease.DataUseTerms{Type: seqlease.TermsRestricted, RestrictedUntil: time.Date(2027, 2, 28, 0, 0, 0, 0, time.UTC)},
			Result: processed("result of "+versions[0].String(), seqlease.NoIssues),
		},
		{
			AccessionVersion: versions[1], SubmissionID: "sample-0", Submitter: "bert",
			GroupID: other.GroupID, GroupName: "Public Health Agency", PipelineVersion: 1,
			Terms: seqlease.DataUseTerms{Type: seqlease.TermsOpen}, Result: processed("with warnings", seqlease.HasWarnings),
		},
	}
	if diff := cmp.Diff(want, released, times, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("released (-want +got):\n%s", diff)
	}
	first := released[0]
	wantBetween(t, "submitted", first.SubmittedAt, before, afterSubmit)
	wantBetween(t, "terms changed", first.TermsChangedAt, before, afterSubmit)
	wantBetween(t, "open terms changed", released[1].TermsChangedAt, afterSubmit, after)
	wantBetween(t, "released", first.ReleasedAt, afterSubmit, after)
}

func releaseNothing(t *testing.T, h Harness) {
	f := newFixture(t, h)
	head, released := f.released(t)
	wantSame(t, "released", released, nil)
	mark, err := f.ReleasedMark(t.Context(), WestNile)
	if err != nil {
		t.Fatalf("released mark: %v", err)
	}
	wantSame(t, "mark of the head", head.Mark, mark)
	if mark == "" {
		t.Error("the mark is empty")
	}
}

func releaseOnlyApproved(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.everyState(t)
	_, released := f.released(t)
	wantSame(t, "released entries", len(released), 1)
	wantSame(t, "released", released[0].AccessionVersion, versions[5])
}

func releaseSnapshot(t *testing.T, h Harness) {
	f := newFixture(t, h)
	first := f.process(t, seqlease.NoIssues, seqlease.NoIssues, seqlease.NoIssues)
	f.wantApproved(t, "the first", approval(), first...)
	second := f.process(t, seqlease.NoIssues, seqlease.NoIssues)
	var count int64
	var got []seqlease.AccessionVersion
	err := f.ReadReleased(t.Context(), WestNile,
		func(head submission.ReleasedHead) error {
			count = head.Count
			f.wantApproved(t, "after the head", approval(second[:1]...), second[0])
			return nil
		},
		func(e submission.ReleasedEntry) error {
			if got = append(got, e.AccessionVersion); len(got) == 1 {
				f.wantApproved(t, "after the first line", approval(), second[1])
			}
			return nil
		})
	if err != nil {
		t.Fatalf("read released: %v", err)
	}
	wantSame(t, "announced entries", count, 3)
	wantSame(t, "released in the snapshot", got, first)
	_, released := f.released(t)
	wantSame(t, "entries released afterwards", len(released), 5)
}

func releaseCallbackError(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.process(t, seqlease.NoIssues, seqlease.NoIssues)
	f.approveAll(t)
	broken := errors.New("the spool is full")
	lines := 0
	begin := func(submission.ReleasedHead) error { return nil }
	yield := func(submission.ReleasedEntry) error {
		lines++
		return broken
	}
	wantError(t, f.ReadReleased(t.Context(), WestNile, begin, yield), broken)
	wantSame(t, "lines until the error", lines, 1)

	begin = func(submission.ReleasedHead) error { return broken }
	wantError(t, f.ReadReleased(t.Context(), WestNile, begin, yield), broken)
	wantSame(t, "lines after an error of begin", lines, 1)
	_, released := f.released(t)
	wantSame(t, "released entries", len(released), 2)
}

// releasedMark reads the mark of what is released of West Nile virus.
func (f *fixture) releasedMark(t *testing.T) string {
	t.Helper()
	mark, err := f.ReleasedMark(t.Context(), WestNile)
	if err != nil {
		t.Fatalf("released mark: %v", err)
	}
	return mark
}

func releaseMarkRises(t *testing.T, h Harness) {
	f := newFixture(t, h)
	last := f.releasedMark(t)
	for i := range 12 { // past ten, where unpadded numbers stop to rise as text
		f.process(t, seqlease.NoIssues)
		f.approveAll(t)
		mark := f.releasedMark(t)
		if mark <= last {
			t.Errorf("approval %d: the mark %q doesn't rise over %q", i, mark, last)
		}
		wantSame(t, "mark read again", f.releasedMark(t), mark)
		last = mark
	}
}

func releaseMarkOfSnapshot(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.process(t, seqlease.NoIssues)
	before := f.releasedMark(t)
	err := f.ReadReleased(t.Context(), WestNile,
		func(head submission.ReleasedHead) error {
			f.approveAll(t)
			wantSame(t, "mark of the head", head.Mark, before)
			return nil
		},
		func(e submission.ReleasedEntry) error {
			return fmt.Errorf("%s was not released in the snapshot", e.AccessionVersion)
		})
	if err != nil {
		t.Errorf("read released: %v", err)
	}
	head, _ := f.released(t)
	wantSame(t, "mark of the next head", head.Mark, f.releasedMark(t))
	if head.Mark == before {
		t.Errorf("the mark is %q before and after an approval", before)
	}
}

func releaseL13Mark(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.process(t, seqlease.NoIssues)
	f.approveAll(t)
	f.submit(t, 3)
	mark := f.releasedMark(t)
	lease := f.claim(t, 3)
	wantSame(t, "mark after a claim", f.releasedMark(t), mark)
	f.giveBack(t, lease.AttemptID, false, 3)
	wantSame(t, "mark after a give back", f.releasedMark(t), mark)

	f.submitTo(t, CCHF, 1)
	foreign := f.claimFrom(t, CCHF, 1)
	s := results(f.lines(t, foreign)...)
	s.Organism = CCHF
	if err := f.submitResults(t, s); err != nil {
		t.Fatalf("accept results of %s: %v", CCHF, err)
	}
	a := approval()
	a.Organism = CCHF
	f.wantApproved(t, "of "+string(CCHF), a, claimed(foreign)...)
	wantSame(t, "mark after another organism's release", f.releasedMark(t), mark)
}

func releaseReadersAndWriters(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.process(t, seqlease.NoIssues)
	f.approveAll(t)
	const readers = 2 // as many as the smallest default share of connections
	begun, finish, ended := make(chan struct{}, readers), make(chan struct{}), make(chan error, readers)
	letFinish := sync.OnceFunc(func() { close(finish) })
	defer letFinish() // also when a check fails
	for range readers {
		go func() {
			ended <- f.ReadReleased(t.Context(), WestNile,
				func(submission.ReleasedHead) error {
					begun <- struct{}{}
					<-finish
					return nil
				},
				func(submission.ReleasedEntry) error { return nil })
		}()
	}
	for range readers {
		<-begun
	}
	f.process(t, seqlease.NoIssues, seqlease.NoIssues) // while all readers hold their snapshots
	wantSame(t, "entries approved", len(f.approveAll(t)), 2)
	letFinish()
	for range readers {
		if err := <-ended; err != nil {
			t.Errorf("read released: %v", err)
		}
	}
}
