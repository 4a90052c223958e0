package storetest

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// repeatCases check submissions of results that come again (L6).
func repeatCases() []testCase {
	return []testCase{
		{name: "L6_RepeatedSubmissionIsHarmless", check: repeatL6Harmless},
		{name: "L6_RepetitionAfterTheLeaseEndIsHarmless", check: repeatL6AfterLeaseEnd},
		{name: "L6_RepetitionAfterReleaseIsHarmless", check: repeatL6AfterRelease},
		{name: "L6_DifferentResultsAreRefused", check: repeatL6Different},
		{name: "L6_RepetitionWithFurtherLinesStoresThem", check: repeatL6WithFurther},
		{name: "L6_RepetitionWithABadLineNamesOnlyThat", check: repeatL6WithBad},
		{name: "L6_AnotherAttemptIsNoRepetition", check: repeatL6AnotherAttempt},
		{name: "L3_AnotherUserIsNoRepetition", check: repeatL3AnotherUser},
		{name: "L6_EqualSubmissionsAtOnceAllSucceed", check: repeatL6EqualAtOnce},
		{name: "L6_DifferentSubmissionsAtOnceExactlyOneWins", check: repeatL6DifferentAtOnce},
	}
}

// wantReleased approves everything and checks the text of the results in order.
func (f *fixture) wantReleased(t *testing.T, texts ...string) {
	t.Helper()
	f.approveAll(t)
	_, released := f.released(t)
	got := make([]string, len(released))
	want := make([]string, len(texts))
	for i, e := range released {
		got[i] = string(e.Result)
	}
	for i, text := range texts {
		want[i] = string(processed(text, seqlease.NoIssues))
	}
	wantSame(t, "released results", got, want)
}

func repeatL6Harmless(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 3)
	lines := f.lines(t, f.claim(t, 3))
	f.mustAccept(t, lines...)
	before := f.claim(t, 1)
	f.mustAccept(t, lines...)
	f.mustAccept(t, lines[1])
	after := f.claim(t, 1)
	wantSame(t, "claimed after the repetition", claimed(after), nil)
	wantSame(t, "mark", after.Mark, before.Mark)
	f.wantReleased(t, "result of "+versions[0].String(), "result of "+versions[1].String(), "result of "+versions[2].String())
}

func repeatL6AfterLeaseEnd(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 3)
	lines := f.lines(t, f.claim(t, 3))
	f.mustAccept(t, lines[:2]...)
	f.age(t, leaseTime)
	f.mustAccept(t, lines[:2]...)
	wantRefused(t, f.accept(t, lines...), refused(3, versions[2], seqlease.RefusedLeaseLost))
	f.claim(t, 1)
	f.mustAccept(t, lines[:2]...)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.InProcessing: 1, seqlease.Processed: 2})
}

func repeatL6AfterRelease(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 1)
	lease := f.claim(t, 1)
	lines := f.lines(t, lease)
	f.mustAccept(t, lines...)
	f.approveAll(t)
	before, _ := f.released(t)
	f.mustAccept(t, lines...)
	different := f.line(t, 1, versions[0], lease.AttemptID, "different", seqlease.NoIssues)
	wantRefused(t, f.accept(t, different), refused(1, versions[0], seqlease.RefusedDifferentResults))
	after, _ := f.released(t)
	wantSame(t, "mark of what is released", after.Mark, before.Mark)
	f.wantReleased(t, "result of "+versions[0].String())
}

func repeatL6Different(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 3)
	lease := f.claim(t, 3)
	lines := f.lines(t, lease)
	f.mustAccept(t, lines[:2]...)
	again := []queue.Line{
		lines[0],
		f.line(t, 2, versions[1], lease.AttemptID, "different", seqlease.NoIssues),
		lines[2],
	}
	wantRefused(t, f.accept(t, again...), refused(2, versions[1], seqlease.RefusedDifferentResults))
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.InProcessing: 1, seqlease.Processed: 2})
	f.mustAccept(t, lines[2])
	f.wantReleased(t, "result of "+versions[0].String(), "result of "+versions[1].String(), "result of "+versions[2].String())
}

func repeatL6WithFurther(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 4)
	lines := f.lines(t, f.claim(t, 4))
	f.mustAccept(t, lines[:2]...)
	f.mustAccept(t, lines...)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 4})
}

func repeatL6WithBad(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 3)
	lease := f.claim(t, 3)
	lines := f.lines(t, lease)
	f.mustAccept(t, lines[:2]...)
	missing := seqlease.AccessionVersion{Accession: seqlease.NewAccession(prefix, 999_999), Version: 1}
	bad := f.line(t, 4, missing, lease.AttemptID, "of nothing", seqlease.NoIssues)
	wantRefused(t, f.accept(t, lines[0], lines[1], lines[2], bad), refused(4, missing, seqlease.RefusedNotFound))
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.InProcessing: 1, seqlease.Processed: 2})
}

func repeatL6AnotherAttempt(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 1)
	lines := f.lines(t, f.claim(t, 1))
	f.mustAccept(t, lines...)
	lines[0].AttemptID = seqlease.NewAttemptID()
	wantRefused(t, f.accept(t, lines...), leaseLost(versions)...)
}

// A lease belongs to the user who claimed, and so does what came of it: another
// user learns nothing about a stored result from sending it again.
func repeatL3AnotherUser(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 2)
	lines := f.lines(t, f.claim(t, 2))
	f.mustAccept(t, lines[0])
	other := results(lines...)
	other.ClaimedBy = "another worker"
	wantRefused(t, f.submitResults(t, other), leaseLost(versions)...)
	different := f.line(t, 1, versions[0], lines[0].AttemptID, "different", seqlease.NoIssues)
	other.Lines = []queue.Line{different}
	wantRefused(t, f.submitResults(t, other), leaseLost(versions[:1])...)
	f.mustAccept(t, lines...)
	f.wantReleased(t, "result of "+versions[0].String(), "result of "+versions[1].String())
}

func repeatL6EqualAtOnce(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 20)
	lines := f.lines(t, f.claim(t, 20))
	var group errgroup.Group
	for range 8 {
		group.Go(func() error { return f.submitResults(t, results(lines...)) })
	}
	if err := group.Wait(); err != nil {
		t.Errorf("of equal submissions at once one was refused: %v", err)
	}
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 20})
}

func repeatL6DifferentAtOnce(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 2)
	lease := f.claim(t, 2)
	var winners atomic.Int64
	var winner atomic.Int64
	var group errgroup.Group
	for i := range 8 {
		lines := []queue.Line{
			f.line(t, 1, versions[0], lease.AttemptID, fmt.Sprintf("first %d", i), seqlease.NoIssues),
			f.line(t, 2, versions[1], lease.AttemptID, fmt.Sprintf("second %d", i), seqlease.NoIssues),
		}
		group.Go(func() error {
			err := f.submitResults(t, results(lines...))
			if err == nil {
				winners.Add(1)
				winner.Store(int64(i))
				return nil
			}
			var refusal *seqlease.RefusedError
			if !errors.As(err, &refusal) || len(refusal.Refused) != 2 || refusal.Refused[0].Reason != seqlease.RefusedDifferentResults {
				return fmt.Errorf("submission %d: %w", i, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Errorf("want %s for the others: %v", seqlease.RefusedDifferentResults, err)
	}
	wantSame(t, "accepted submissions", winners.Load(), 1)
	f.wantReleased(t, fmt.Sprintf("first %d", winner.Load()), fmt.Sprintf("second %d", winner.Load()))
}
