package storetest

import (
	"errors"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

// deleteAllCases check the call that empties a store.
func deleteAllCases() []testCase {
	return []testCase{
		{name: "DeleteAll_LeavesNothingOfAnyEntry", check: deleteAllGone},
		{name: "DeleteAll_LeavesGroupsAndGivesOutNoAccessionAgain", check: deleteAllStays},
		{name: "V1_DeleteAllGoesBackToTheFirstVersion", check: deleteAllVersions},
		{name: "L10_DeleteAllRefusesResultsOfRunningClaims", check: deleteAllL10},
		{name: "L14_DeleteAllChangesEveryMark", check: deleteAllL14},
		{name: "DeleteAll_IsSafeBesideClaimsAndResults", check: deleteAllBesideWorkers},
		{name: "DeleteAll_IsSeenByTheOtherServer", needs: SecondStore, check: deleteAllOtherServer},
	}
}

// deleteAll empties the store, which must have had so many entries.
func (f *fixture) deleteAll(t *testing.T, want int64) {
	t.Helper()
	n, err := f.DeleteAllSequenceData(t.Context(), operatorName)
	if err != nil {
		t.Fatalf("delete all sequence data: %v", err)
	}
	wantSame(t, "entries deleted", n, want)
}

func deleteAllGone(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.everyState(t)
	f.submitTo(t, CCHF, 2)
	quarantined := f.submit(t, 1)
	f.quarantineEntries(t, quarantined, 1)
	f.deleteAll(t, int64(len(versions)+3))
	for _, o := range []seqlease.Organism{WestNile, CCHF} {
		listed, counts := f.list(t, submission.ListFilter{Organism: o})
		wantSame(t, "listed entries of "+string(o), len(listed), 0)
		for status, n := range counts.Statuses {
			wantSame(t, string(status)+" entries of "+string(o), n, 0)
		}
		wantSame(t, "claimed of "+string(o), len(f.claimFrom(t, o, 100).Entries), 0)
	}
	head, released := f.released(t)
	wantSame(t, "released", []int64{head.Count, int64(len(released))}, []int64{0, 0})
	statistics, err := f.PipelineStatistics(t.Context())
	if err != nil || len(statistics) > 0 {
		t.Errorf("statistics: %v, %v, want none", statistics, err)
	}
	in, err := f.Quarantined(t.Context(), WestNile, 0, 10)
	if err != nil || len(in) > 0 {
		t.Errorf("quarantine: %v, %v, want nothing", in, err)
	}
	wantSame(t, "leases", len(f.leases(t, 10)), 0)
	failing, err := f.FailingWorkers(t.Context(), WestNile, leaseTime, 10)
	if err != nil || len(failing) > 0 {
		t.Errorf("failing workers: %v, %v, want none", failing, err)
	}
	for _, av := range append(versions, quarantined...) {
		_, err := f.History(t.Context(), WestNile, av, 10)
		wantError(t, err, seqlease.ErrNotFound)
	}
	events := f.audit(t, queue.AuditFilter{Action: seqlease.ActionDeleteAll})
	if len(events) != 1 || events[0].Entries != int64(len(versions)+3) || events[0].Organism != "" {
		t.Errorf("audit log: %+v, want one row of %d entries", events, len(versions)+3)
	}
	f.deleteAll(t, 0) // repeating it is harmless
}

func deleteAllStays(t *testing.T, h Harness) {
	f := newFixture(t, h)
	before := f.submit(t, 3)
	f.setPaused(t, 0, true)
	f.deleteAll(t, 3)
	f.wantPaused(t, queue.PauseState{Organism: true})
	f.setPaused(t, 0, false)
	groups, err := f.GroupsOf(t.Context(), submitter)
	if err != nil || len(groups) != 1 || groups[0] != f.group {
		t.Errorf("groups: %+v, %v, want the one from before", groups, err)
	}
	after := f.submit(t, 2)
	if after[0].Accession <= before[2].Accession {
		t.Errorf("%s was given out after %s", after[0], before[2])
	}
	wantSame(t, "claimed", claimed(f.claim(t, 10)), after)
}

func deleteAllVersions(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.registerVersion(t, newer)
	f.submit(t, 2)
	f.claimNewer(t, 1)
	f.deleteAll(t, 2)
	_, err := f.Claim(t.Context(), askNewer(1))
	wantError(t, err, seqlease.ErrPipelineUnknown)
	versions, err := f.CurrentPipelineVersions(t.Context())
	if err != nil {
		t.Fatalf("current versions: %v", err)
	}
	wantSame(t, "current versions", versions, map[seqlease.Organism]seqlease.PipelineVersion{WestNile: 1, CCHF: 1})
	f.wantUnfinished(t)
	entries := f.submit(t, 2)
	wantSame(t, "registered again", f.registerVersion(t, newer).Made, true)
	f.backfill(t, newer, 100, 2)
	wantSame(t, "claimed with the version that registered again", claimed(f.claimNewer(t, 10)), entries)
}

func deleteAllL10(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 3)
	lease := f.claim(t, 3)
	lines := f.lines(t, lease)
	f.deleteAll(t, 3)
	err := f.accept(t, lines...)
	var refusal *seqlease.RefusedError
	if !errors.As(err, &refusal) || len(refusal.Refused) != 3 || refusal.Refused[0].Reason != seqlease.RefusedNotFound {
		t.Errorf("results of a claim from before: %v, want 3 refusals as not found", err)
	}
	_, err = f.Renew(t.Context(), queue.Renew{Organism: WestNile, AttemptID: lease.AttemptID, ClaimedBy: worker})
	wantError(t, err, seqlease.ErrLeaseLost)
	statistics, err := f.PipelineStatistics(t.Context())
	if err != nil || len(statistics) > 0 {
		t.Errorf("statistics: %v, %v, want none", statistics, err)
	}
}

func deleteAllL14(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.registerVersion(t, newer)
	f.process(t, seqlease.NoIssues)
	f.approveAll(t)
	mark, newerMark, released := f.mark(t), f.claimNewer(t, 0).Mark, f.releasedMark(t)
	f.deleteAll(t, 1)
	if got := f.mark(t); got <= mark {
		t.Errorf("the mark of the queue is %s, want one after %s", got, mark)
	}
	if got := f.releasedMark(t); got <= released {
		t.Errorf("the mark of what is released is %s, want one after %s", got, released)
	}
	f.registerVersion(t, newer)
	if got := f.claimNewer(t, 0).Mark; got <= newerMark {
		t.Errorf("the mark of the newer version's queue is %s, want one after %s", got, newerMark)
	}
}

// deleteAllBesideWorkers has workers claim and send results while everything is
// deleted, again and again: each of their calls ends well or is refused, and in the
// end nothing is there but what was submitted last.
func deleteAllBesideWorkers(t *testing.T, h Harness) {
	f := newFixture(t, h)
	stop := make(chan struct{})
	ended := make(chan error, 3)
	for range cap(ended) {
		go func() {
			for {
				select {
				case <-stop:
					ended <- nil
					return
				default:
				}
				lease, err := f.Claim(t.Context(), ask(3))
				if err == nil && len(lease.Entries) > 0 {
					err = f.submitResults(t, results(f.lines(t, lease)...))
				}
				if err != nil && !errors.As(err, new(*seqlease.RefusedError)) {
					ended <- err
					return
				}
			}
		}()
	}
	for range 8 {
		f.submit(t, 10)
		if _, err := f.DeleteAllSequenceData(t.Context(), operatorName); err != nil {
			t.Errorf("delete all: %v", err)
		}
	}
	close(stop)
	for range cap(ended) {
		if err := <-ended; err != nil {
			t.Errorf("a worker: %v", err)
		}
	}
	f.deleteAll(t, 0)
	last := f.submit(t, 4)
	wantSame(t, "claimed", claimed(f.claim(t, 10)), last)
	statistics, err := f.PipelineStatistics(t.Context())
	if err != nil || len(statistics) > 0 {
		t.Errorf("statistics: %v, %v, want none", statistics, err)
	}
}

func deleteAllOtherServer(t *testing.T, h Harness) {
	f := newFixture(t, h)
	other := f.second(t)
	f.submit(t, 5)
	other.claim(t, 2)
	mark := other.claim(t, 0).Mark
	f.deleteAll(t, 5)
	if other.mark(t) == mark {
		t.Error("the other server has the mark from before")
	}
	wantSame(t, "claimed by the other server", len(other.claim(t, 10).Entries), 0)
	versions := f.submit(t, 3)
	wantSame(t, "claimed by the other server after a submission", claimed(other.claim(t, 10)), versions)
}
