package storetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/reprocess"
	"github.com/seqlease/seqlease/internal/submission"
)

// retireCases check that the rows of old versions go, and nothing else (V7).
func retireCases() []testCase {
	return []testCase{
		{name: "V7_OutdatedOnceEnoughNewerOnesHaveBeenCurrent", check: retireOutdated},
		{name: "V7_NothingOfTheVersionIsLeft", check: retireEverything},
		{name: "V7_RowsGoInChunks", check: retireChunks},
		{name: "V7_ResultsOfLeasesThatStillRunGoToo", check: retireLeases},
		{name: "V7_LiveVersionsStay", check: retireLive},
		{name: "L10_EntriesCanBeEditedAndDeletedAfterwards", check: retireChanged},
	}
}

var firstOfWestNile = reprocess.Version{Organism: WestNile, PipelineVersion: 1}

func (f *fixture) wantOutdated(t *testing.T, keep int, want ...reprocess.Version) {
	t.Helper()
	f.settle(t, keep, want)
	list, err := f.Outdated(t.Context(), keep)
	if err != nil {
		t.Fatalf("outdated versions: %v", err)
	}
	wantSame(t, "outdated versions", list, want)
}

// settle waits until everybody has ended who may not have seen the last switch: on a
// server that other tests use, too, that takes a while.
func (f *fixture) settle(t *testing.T, keep int, want []reprocess.Version) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for look := time.NewTicker(10 * time.Millisecond); ; {
		list, err := f.Outdated(ctx, keep)
		if err != nil {
			t.Fatalf("outdated versions: %v", err)
		}
		if len(list) >= len(want) {
			look.Stop()
			return
		}
		<-look.C
	}
}

// retireAll retires the version, some rows at a time, until nothing is left.
func (f *fixture) retireAll(t *testing.T, of reprocess.Version) (chunks int) {
	t.Helper()
	after := int64(0)
	for chunks = 1; ; chunks++ {
		chunk, err := f.Retire(t.Context(), of, after, 2)
		switch {
		case err != nil:
			t.Fatalf("retire version %d: %v", of.PipelineVersion, err)
		case chunk.Waiting || chunks > 1000:
			t.Fatalf("chunk %d of version %d: %+v", chunks, of.PipelineVersion, chunk)
		case chunk.Gone:
			return chunks
		}
		after = chunk.Last
	}
}

// switchOver has all entries processed by a version and makes it current.
func (f *fixture) switchOver(t *testing.T, from, to seqlease.PipelineVersion, entries int) {
	t.Helper()
	f.registerVersion(t, to)
	f.backfill(t, to, 100, entries)
	c := ask(entries)
	c.PipelineVersion = to
	s := results(f.lines(t, f.claimAs(t, c))...)
	s.PipelineVersion = to
	if err := f.submitResults(t, s); err != nil {
		t.Fatalf("results of version %d: %v", to, err)
	}
	f.switches(t, reprocess.Candidate{Organism: WestNile, Current: from, Version: to}, true)
}

func retireOutdated(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.process(t, seqlease.NoIssues)
	f.wantOutdated(t, 1)
	f.switchOver(t, 1, newer, 1)
	f.wantOutdated(t, 2)
	f.wantOutdated(t, 1, firstOfWestNile)
	f.switchOver(t, newer, newer+2, 1)
	f.wantOutdated(t, 2, firstOfWestNile)
	f.wantOutdated(t, 3)
	f.wantOutdated(t, 1, firstOfWestNile, reprocess.Version{Organism: WestNile, PipelineVersion: newer})
}

func retireEverything(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues, seqlease.HasErrors, seqlease.NoIssues)
	f.submitTo(t, CCHF, 2)
	f.wantApproved(t, "the first", approval(versions[0]), versions[0])
	f.complete(t, 3)
	f.judgeNewer(t, seqlease.NoIssues, seqlease.HasErrors, seqlease.NoIssues)
	f.submit(t, 4)
	f.reprocess(t, queue.Selection{Organism: WestNile, Entries: versions[:1]}, 1)
	held := f.claim(t, 2)
	f.putInQuarantine(t, queue.Selection{Organism: WestNile, PipelineVersion: 1, Entries: claimed(f.claim(t, 1))}, 1)
	f.switches(t, toNewer, true)
	before := f.everything(t)
	f.retireAll(t, firstOfWestNile)
	wantSame(t, "what is shown and released", f.everything(t), before)
	wantRefused(t, f.accept(t, f.lines(t, held)...), leaseLost(claimed(held))...)
	counts, err := f.PipelineStatistics(t.Context())
	if err != nil {
		t.Fatalf("statistics: %v", err)
	}
	wantSame(t, "statistics", counts, []queue.PipelineCount{{Organism: WestNile, PipelineVersion: newer, Results: 3}})
	wantSame(t, "entries in quarantine", len(f.inQuarantine(t)), 0)
	wantSame(t, "leases", len(f.leases(t, 10)), 0)
	wantSame(t, "claimed of the other organism", len(f.claimFrom(t, CCHF, 10).Entries), 2)
	events, err := f.AuditLog(t.Context(), queue.AuditFilter{Action: seqlease.ActionRetire}, 0, 10)
	if err != nil || len(events) != 1 || events[0].User != seqlease.SystemUser || events[0].Detail != "pipeline version 1" {
		t.Errorf("the audit log has %+v, %v", events, err)
	}
	f.wantOutdated(t, 1)
}

// inQuarantine lists what is in quarantine.
func (f *fixture) inQuarantine(t *testing.T) []queue.Quarantined {
	t.Helper()
	list, err := f.Quarantined(t.Context(), WestNile, 0, 100)
	if err != nil {
		t.Fatalf("quarantine: %v", err)
	}
	return list
}

// everything is what is shown and what is released.
func (f *fixture) everything(t *testing.T) string {
	t.Helper()
	listed, counts := f.list(t, submission.ListFilter{Organism: WestNile})
	_, released := f.released(t)
	return string(document([]any{listed, counts, released, f.releasedMark(t)}))
}

func retireChunks(t *testing.T, h Harness) {
	f := newFixture(t, h)
	all := make([]seqlease.ProcessingResult, 7)
	for i := range all {
		all[i] = seqlease.NoIssues
	}
	f.process(t, all...)
	f.switchOver(t, 1, newer, len(all))
	if chunks := f.retireAll(t, firstOfWestNile); chunks < 4 {
		t.Errorf("seven results went in %d chunks of at most two", chunks)
	}
}

// retireLeases has leases deliver while rows of their version go: either is in time, or
// the other one is; nothing is left of the version in the end.
func retireLeases(t *testing.T, h Harness) {
	f := newFixture(t, h)
	const held = 25
	versions := f.process(t, slices.Repeat([]seqlease.ProcessingResult{seqlease.NoIssues}, held)...)
	f.reprocess(t, queue.Selection{Organism: WestNile, Entries: versions}, held)
	leases := make([]queue.Lease, held)
	for i := range leases {
		leases[i] = f.claim(t, 1)
	}
	f.complete(t, held)
	f.judgeNewer(t, slices.Repeat([]seqlease.ProcessingResult{seqlease.NoIssues}, held)...)
	f.switches(t, toNewer, true)
	after, stored, gone := int64(0), 0, false
	for _, lease := range leases {
		if err := f.accept(t, f.line(t, 1, lease.Entries[0].AccessionVersion, lease.AttemptID, "late", seqlease.HasWarnings)); err == nil {
			stored++
		}
		chunk, err := f.Retire(t.Context(), firstOfWestNile, after, 2)
		if err != nil {
			t.Fatalf("retire: %v", err)
		}
		if after, gone = chunk.Last, gone || chunk.Gone; chunk.Waiting {
			after = 0
		}
	}
	if stored == 0 {
		t.Error("no lease delivered: nothing is tested")
	}
	if !gone {
		f.retireAll(t, firstOfWestNile)
	}
	counts, err := f.PipelineStatistics(t.Context())
	if err != nil {
		t.Fatalf("statistics: %v", err)
	}
	wantSame(t, "statistics", counts, []queue.PipelineCount{{Organism: WestNile, PipelineVersion: newer, Results: held}})
}

func retireLive(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.process(t, seqlease.NoIssues)
	f.complete(t, 1)
	f.judgeNewer(t, seqlease.NoIssues)
	for _, of := range []reprocess.Version{firstOfWestNile, {Organism: WestNile, PipelineVersion: newer}} {
		chunk, err := f.Retire(t.Context(), of, 0, 10)
		if err != nil || !chunk.Waiting {
			t.Errorf("retire the live version %d: %+v, %v, want that nothing happens", of.PipelineVersion, chunk, err)
		}
	}
	counts, err := f.PipelineStatistics(t.Context())
	if err != nil {
		t.Fatalf("statistics: %v", err)
	}
	wantSame(t, "statistics", counts, []queue.PipelineCount{
		{Organism: WestNile, PipelineVersion: 1, Results: 1}, {Organism: WestNile, PipelineVersion: newer, Results: 1},
	})
	f.switches(t, toNewer, true)
}

func retireChanged(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.HasErrors, seqlease.NoIssues)
	f.complete(t, 2)
	f.judgeNewer(t, seqlease.HasErrors, seqlease.NoIssues)
	f.switches(t, toNewer, true)
	f.retireAll(t, firstOfWestNile)
	f.mustEdit(t, versions[0], submitted(9))
	f.mustDelete(t, versions[1])
	wantSame(t, "claimed", claimed(f.claimNewer(t, 10)), versions[:1])
	f.reconcile(t, 100, 0)
}
