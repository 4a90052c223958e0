package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/reprocess"
)

// backfillCases check that a newer version gets to every entry (V3, V4).
func backfillCases() []testCase {
	return []testCase{
		{name: "V3_EveryEntryWaitsOnce", check: backfillEveryEntry},
		{name: "V3_ClaimsTakeWhatIsThere", check: backfillChunks},
		{name: "V3_WhateverIsReleasedMeanwhile", check: backfillReleased},
		{name: "V3_ManyAtOnceBesideClaims", check: backfillAtOnce},
		{name: "V3_AnotherServerGoesOn", needs: SecondStore, check: backfillOtherServer},
		{name: "V1_NewerResultsChangeNothingThatIsShown", check: backfillV1},
		{name: "L10_EditsAndDeletionsBesideABackfill", check: backfillEdits},
		{name: "L14_EmptyClaimSeesTheNextChunk", check: backfillMark},
		{name: "L14_EmptyClaimSeesTheChunkOfAnotherServer", needs: SecondStore, check: backfillMarkElsewhere},
		{name: "L17_BackfilledGroupsTakeTurns", check: backfillFair},
		{name: "L17_FreshGoBeforeBackfilled", check: backfillFresh},
		{name: "V4_ReconcileBeginsWhenTheBackfillIsComplete", needs: LoseTickets, check: backfillReconcile},
	}
}

// backfill makes chunks until the backfill of West Nile virus is complete, and wants
// so many tickets.
func (f *fixture) backfill(t *testing.T, version seqlease.PipelineVersion, limit, want int) {
	t.Helper()
	wantSame(t, fmt.Sprintf("tickets of the backfill of version %d", version), f.backfillOf(t, WestNile, version, limit), want)
}

// backfillOf makes chunks until the backfill is complete, and returns how many
// tickets they added.
func (f *fixture) backfillOf(t *testing.T, o seqlease.Organism, version seqlease.PipelineVersion, limit int) (tickets int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // transactions of other tests may keep it waiting
	defer cancel()
	for {
		chunk, err := f.Backfill(ctx, o, version, limit)
		if err != nil {
			t.Fatalf("backfill: %v", err)
		}
		if chunk.Tickets > limit {
			t.Fatalf("a chunk of %d entries has %d tickets", limit, chunk.Tickets)
		}
		tickets += chunk.Tickets
		if chunk.Progress == reprocess.Complete {
			return tickets
		}
	}
}

// nextTickets makes chunks until one has tickets, or the backfill is complete: a pass
// may begin anew, with entries that have theirs.
func (f *fixture) nextTickets(t *testing.T, limit int) int {
	t.Helper()
	for {
		if chunk := f.chunk(t, limit); chunk.Tickets > 0 || chunk.Progress == reprocess.Complete {
			return chunk.Tickets
		}
	}
}

// chunk makes one chunk of the newer version.
func (f *fixture) chunk(t *testing.T, limit int) reprocess.Chunk {
	t.Helper()
	chunk, err := f.Backfill(t.Context(), WestNile, newer, limit)
	if err != nil {
		t.Fatalf("backfill: %v", err)
	}
	return chunk
}

func (f *fixture) wantUnfinished(t *testing.T, want ...reprocess.Version) {
	t.Helper()
	list, err := f.Unfinished(t.Context())
	if err != nil {
		t.Fatalf("unfinished backfills: %v", err)
	}
	wantSame(t, "unfinished backfills", list, want)
}

func backfillEveryEntry(t *testing.T, h Harness) {
	for _, limit := range []int{1, 3, 1000} {
		f := newFixture(t, h)
		all := f.process(t, seqlease.NoIssues, seqlease.HasWarnings)
		f.approveAll(t)
		all = append(all, f.process(t, seqlease.HasErrors, seqlease.NoIssues)...)
		f.submitTo(t, CCHF, 4)
		all = append(all, f.submit(t, 5)...)
		f.claim(t, 2)
		f.registerVersion(t, newer)
		all = append(all, f.submit(t, 2)...) // has tickets of its own
		f.wantUnfinished(t, reprocess.Version{Organism: WestNile, PipelineVersion: newer})
		f.backfill(t, newer, limit, len(all)-2)
		f.wantUnfinished(t)
		f.backfill(t, newer, limit, 0)
		lease := f.claimNewer(t, 100)
		wantOnce(t, counted(lease), all)
		f.backfill(t, newer, limit, 0)
		f.mustAcceptNewer(t, f.lines(t, lease)...)
		f.backfill(t, newer, limit, 0)
		wantSame(t, "claimed", claimed(f.claimNewer(t, 100)), nil)
		f.reconcile(t, 100, 0)
	}
}

func backfillChunks(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 7)
	f.registerVersion(t, newer)
	wantSame(t, "claimed before", claimed(f.claimNewer(t, 10)), nil)
	chunk := f.chunk(t, 3)
	wantSame(t, "the first chunk", chunk, reprocess.Chunk{Tickets: 3, Progress: reprocess.More})
	first := f.claimNewer(t, 10)
	wantSame(t, "claimed after the first chunk", claimed(first), versions[:3])
	f.mustAcceptNewer(t, f.lines(t, first)...)
	f.backfill(t, newer, 3, 4)
	second := f.claimNewer(t, 10)
	wantSame(t, "claimed at the end", claimed(second), versions[3:])
	f.mustAcceptNewer(t, f.lines(t, second)...)
}

func backfillReleased(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, slices.Repeat([]seqlease.ProcessingResult{seqlease.NoIssues}, 9)...)
	f.registerVersion(t, newer)
	tickets := f.chunk(t, 4).Tickets
	f.approveAll(t)
	tickets += f.chunk(t, 2).Tickets
	tickets += f.backfillOf(t, WestNile, newer, 2)
	wantSame(t, "tickets", tickets, 9)
	wantOnce(t, counted(f.claimNewer(t, 100)), versions)
}

func backfillAtOnce(t *testing.T, h Harness) {
	f := newFixture(t, h)
	servers := []*fixture{f}
	if _, lacking := h.Lacks[SecondStore]; !lacking {
		servers = append(servers, f.second(t))
	}
	versions := f.submit(t, 600)
	f.registerVersion(t, newer)
	var mu sync.Mutex
	seen := map[seqlease.AccessionVersion]int{}
	var group errgroup.Group
	for i := range 12 {
		s := servers[i%len(servers)]
		group.Go(func() error {
			for complete := false; ; {
				chunk, err := s.Backfill(t.Context(), WestNile, newer, 20)
				if err != nil {
					return err
				}
				lease, err := s.Claim(t.Context(), askNewer(7))
				if err != nil {
					return err
				}
				mu.Lock()
				for _, e := range lease.Entries {
					seen[e.AccessionVersion]++
				}
				mu.Unlock()
				if complete && len(lease.Entries) == 0 {
					return nil
				}
				complete = chunk.Progress == reprocess.Complete
			}
		})
	}
	more := f.submit(t, 30)
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, e := range f.claimNewer(t, 100).Entries {
		seen[e.AccessionVersion]++
	}
	wantOnce(t, seen, slices.Concat(versions, more))
	f.reconcile(t, 1000, 0)
}

func backfillOtherServer(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 6)
	f.registerVersion(t, newer)
	wantSame(t, "tickets of the first chunk", f.chunk(t, 2).Tickets, 2)
	other := f.second(t)
	other.wantUnfinished(t, reprocess.Version{Organism: WestNile, PipelineVersion: newer})
	other.backfill(t, newer, 2, 4)
	wantSame(t, "progress", f.chunk(t, 2), reprocess.Chunk{})
	wantOnce(t, counted(f.claimNewer(t, 100)), versions)
}

func backfillV1(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues, seqlease.NoIssues, seqlease.HasErrors)
	f.approveAll(t)
	waiting := f.submit(t, 2)
	shown := map[seqlease.Status]int64{seqlease.ApprovedForRelease: 2, seqlease.Processed: 1, seqlease.Received: 2}
	f.wantStatuses(t, shown)
	mark := f.releasedMark(t)
	queued := f.mark(t)
	f.registerVersion(t, newer)
	f.backfill(t, newer, 2, 5)
	lease := f.claimNewer(t, 10)
	f.wantStatuses(t, shown)
	lines := make([]seqlease.AccessionVersion, 0, 5)
	for i, e := range lease.Entries {
		judged := seqlease.HasErrors
		if i%2 == 1 {
			judged = seqlease.NoIssues
		}
		f.mustAcceptNewer(t, f.line(t, 1, e.AccessionVersion, lease.AttemptID, "newer", judged))
		lines = append(lines, e.AccessionVersion)
	}
	wantSame(t, "processed by the newer version", len(lines), 5)
	f.wantStatuses(t, shown)
	wantSame(t, "released mark", f.releasedMark(t), mark)
	wantSame(t, "mark of the current version", f.mark(t), queued)
	_, released := f.released(t)
	for i, e := range released {
		wantSame(t, "released result", string(e.Result), string(processed("result of "+versions[i].String(), seqlease.NoIssues)))
	}
	wantSame(t, "claimed with the current version", claimed(f.claim(t, 10)), waiting)
}

func backfillEdits(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, slices.Repeat([]seqlease.ProcessingResult{seqlease.NoIssues}, 6)...)
	f.registerVersion(t, newer)
	wantSame(t, "tickets of the first chunk", f.chunk(t, 3).Tickets, 3)
	old := f.claimNewer(t, 2)
	wantSame(t, "claimed", claimed(old), versions[:2])
	f.mustEdit(t, versions[0], submitted(90)) // held by the newer version
	f.mustEdit(t, versions[2], submitted(92)) // waits in it
	f.mustEdit(t, versions[4], submitted(94)) // is not there yet
	f.mustDelete(t, versions[1], versions[5])
	f.backfill(t, newer, 3, 1)
	wantRefused(t, f.submitResults(t, newerResults(f.lines(t, old)...)),
		refused(1, versions[0], seqlease.RefusedEdited), refused(2, versions[1], seqlease.RefusedNotFound))
	lease := f.claimNewer(t, 10)
	wantOnce(t, counted(lease), []seqlease.AccessionVersion{versions[0], versions[2], versions[3], versions[4]})
	for _, e := range lease.Entries {
		if i := slices.Index(versions, e.AccessionVersion); i != 3 {
			wantSame(t, "data of "+e.String(), f.data(t, e), string(submitted(90+i)))
		}
	}
	wantOnce(t, counted(f.claim(t, 10)), []seqlease.AccessionVersion{versions[0], versions[2], versions[4]})
	f.mustAcceptNewer(t, f.lines(t, lease)...)
	f.mustEdit(t, versions[3], submitted(93)) // is processed by both
	wantSame(t, "claimed after the edit", claimed(f.claimNewer(t, 10)), versions[3:4])
}

// wantChunkSeen makes a chunk through f after s was answered empty.
func wantChunkSeen(t *testing.T, f, s *fixture) {
	t.Helper()
	versions := f.submit(t, 4)
	f.registerVersion(t, newer)
	for n := range 4 {
		empty := s.claimNewer(t, 10)
		wantSame(t, "claimed before the chunk", claimed(empty), nil)
		wantSame(t, "mark of an empty queue", s.claimNewer(t, 10).Mark, empty.Mark)
		wantSame(t, "tickets", f.nextTickets(t, 1), 1)
		if s.claimNewer(t, 0).Mark == empty.Mark {
			t.Errorf("the mark is the same after chunk %d", n)
		}
		wantSame(t, "claimed after the chunk", claimed(s.claimNewer(t, 10)), versions[n:n+1])
	}
}

func backfillMark(t *testing.T, h Harness) {
	f := newFixture(t, h)
	wantChunkSeen(t, f, f)
}

func backfillMarkElsewhere(t *testing.T, h Harness) {
	f := newFixture(t, h)
	wantChunkSeen(t, f, f.second(t))
}

func backfillFair(t *testing.T, h Harness) {
	f := newFixture(t, h)
	small := f.newGroup(t, "A clinic", submitter)
	f.submitAs(t, f.group, 300)
	f.submitAs(t, small, 20)
	f.registerVersion(t, newer)
	for f.chunk(t, 50).Tickets == 50 {
		wantSame(t, "claimed meanwhile", len(f.claimNewer(t, 10).Entries), 10)
	}
	f.backfillOf(t, WestNile, newer, 50)
	wantShare(t, "after the backfill", f.claimNewer(t, 20), small, 9, 11)
}

func backfillFresh(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 20)
	f.registerVersion(t, newer)
	f.backfill(t, newer, 10, 20)
	wantSame(t, "claimed", len(f.claimNewer(t, 5).Entries), 5)
	fresh := f.submit(t, 2)
	wantSame(t, "claimed first after a submission", claimed(f.claimNewer(t, 2)), fresh)
}

func backfillReconcile(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 4)
	f.registerVersion(t, newer)
	f.reconcile(t, 100, 0)
	f.backfill(t, newer, 10, 4)
	f.h.Lose(t, f.Store, versions[1])
	f.reconcile(t, 100, 2) // one of each version
	fresh := f.submit(t, 1)
	// What a version that isn't current had forgotten is bulk work.
	wantSame(t, "claimed first", claimed(f.claimNewer(t, 1)), fresh)
	wantOnce(t, counted(f.claimNewer(t, 10)), versions)
	wantOnce(t, counted(f.claim(t, 10)), slices.Concat(versions, fresh))
}
