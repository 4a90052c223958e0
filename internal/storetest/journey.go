package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

// journeyCases check what the history tells of an entry's whole life.
func journeyCases() []testCase {
	return []testCase{
		{name: "Journey_FromSubmissionToApproval", check: journeyWhole},
		{name: "Journey_TellsTheResultOfEachVersion", check: journeyVersions},
		{name: "Journey_TellsOfEditsAndLaterVersions", check: journeyChanged},
		{name: "L9_JourneyTellsOfQuarantineOnce", check: journeyQuarantine},
		{name: "Journey_CountsWhatItLeavesOut", check: journeyOmitted},
	}
}

// steps are the events of an entry's journey as texts, in order.
func (f *fixture) steps(t *testing.T, av seqlease.AccessionVersion) []string {
	t.Helper()
	events := f.history(t, av).Events()
	if !slices.IsSortedFunc(events, func(a, b queue.Event) int { return a.At.Compare(b.At) }) {
		t.Errorf("the events of %s aren't in order of time", av)
	}
	texts := make([]string, len(events))
	for i, e := range events {
		texts[i] = fmt.Sprintf("%s %s %s %d %s", e.Kind, e.By, e.WorkerID, e.PipelineVersion, e.Detail)
		if e.At.IsZero() {
			t.Errorf("%s has no instant", texts[i])
		}
	}
	return texts
}

func journeyWhole(t *testing.T, h Harness) {
	f := newFixture(t, h)
	begun := f.now(t)
	versions := f.submit(t, 2)
	wantSame(t, "steps of a new entry", f.steps(t, versions[0]), []string{"submitted anna  0 "})
	f.age(t, time.Second)
	g := returned(f.claim(t, 2).AttemptID)
	g.Reason, g.CountsAsAttempt = "no memory", true
	if _, err := f.GiveBack(t.Context(), g); err != nil {
		t.Fatalf("give back: %v", err)
	}
	f.age(t, time.Second)
	lease := f.claim(t, 1)
	f.mustAccept(t, f.line(t, 1, versions[0], lease.AttemptID, "fine", seqlease.HasWarnings))
	f.age(t, time.Second)
	f.approveAll(t)
	steps := []string{
		"submitted anna  0 ", "claimed preprocessing_pipeline worker 1 1 ", "failed preprocessing_pipeline worker 1 1 given-back: no memory",
		"claimed preprocessing_pipeline worker 1 1 ", "processed preprocessing_pipeline worker 1 1 HAS_WARNINGS", "approved " + submitter + "  0 ",
	}
	wantSame(t, "steps of the whole journey", f.steps(t, versions[0]), steps)
	wantSame(t, "steps of its neighbour", f.steps(t, versions[1]), steps[:3])
	events := f.history(t, versions[0]).Events()
	wantBetween(t, "submitted", events[0].At, begun.Add(-3*time.Second), f.now(t).Add(-3*time.Second))
	wantSame(t, "attempts", []seqlease.AttemptID{events[2].AttemptID, events[3].AttemptID, events[4].AttemptID},
		[]seqlease.AttemptID{g.AttemptID, lease.AttemptID, lease.AttemptID})
}

func journeyVersions(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.registerVersion(t, newer)
	versions := f.process(t, seqlease.NoIssues)
	f.age(t, time.Second)
	lease := f.claimNewer(t, 1)
	f.mustAcceptNewer(t, f.line(t, 1, versions[0], lease.AttemptID, "newer", seqlease.HasErrors))
	f.age(t, time.Second)
	f.reprocess(t, queue.Selection{Organism: WestNile}, 1)
	again := f.claim(t, 1)
	f.mustAccept(t, f.line(t, 1, versions[0], again.AttemptID, "again", seqlease.HasWarnings))
	wantSame(t, "steps", f.steps(t, versions[0]), []string{
		"submitted anna  0 ", "claimed preprocessing_pipeline worker 1 1 ", // whose result was replaced
		"claimed preprocessing_pipeline worker 1 2 ", "processed preprocessing_pipeline worker 1 2 HAS_ERRORS",
		"claimed preprocessing_pipeline worker 1 1 ", "processed preprocessing_pipeline worker 1 1 HAS_WARNINGS",
	})
}

func journeyChanged(t *testing.T, h Harness) {
	f := newFixture(t, h)
	av := f.process(t, seqlease.HasErrors)[0]
	f.age(t, time.Second)
	if err := f.Edit(t.Context(), submission.Edit{Organism: WestNile, User: "edda", AccessionVersion: av, Data: submitted(7)}); err != nil {
		t.Fatalf("edit: %v", err)
	}
	f.age(t, time.Second)
	lease := f.claim(t, 1)
	f.mustAccept(t, f.line(t, 1, av, lease.AttemptID, "corrected", seqlease.NoIssues))
	f.age(t, time.Second)
	f.approveAll(t)
	f.age(t, time.Second)
	later := f.mustRevoke(t, av.Accession)[0]
	wantSame(t, "steps", f.steps(t, av), []string{
		"submitted anna  0 ", "claimed preprocessing_pipeline worker 1 1 ", "edited edda  0 ", // the edit removed the result
		"claimed preprocessing_pipeline worker 1 1 ", "processed preprocessing_pipeline worker 1 1 NO_ISSUES", "approved " + submitter + "  0 ",
		"superseded bert  0 revoked by " + later.String(),
	})
	wantSame(t, "steps of the revocation", f.steps(t, later.AccessionVersion), []string{"revoked bert  0 "})
}

func journeyQuarantine(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 1)
	f.age(t, time.Second)
	f.quarantineEntries(t, versions, 1)
	wantSame(t, "steps", f.steps(t, versions[0]), []string{"submitted anna  0 ", "quarantined " + operatorName + "  1 " + byOperator})
}

func journeyOmitted(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 1)
	for range 5 {
		f.giveBack(t, f.claim(t, 1).AttemptID, false, 1)
		f.age(t, time.Second)
	}
	for limit, want := range map[int][]int64{100: {0, 11}, 5: {0, 11}, 3: {4, 7}, 1: {8, 3}} {
		history, err := f.History(t.Context(), WestNile, versions[0], limit)
		if err != nil {
			t.Fatalf("history: %v", err)
		}
		wantSame(t, fmt.Sprintf("omitted and told at a limit of %d", limit), []int64{history.Omitted(), int64(len(history.Events()))}, want)
	}
}
