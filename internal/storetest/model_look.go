package storetest

import (
	"cmp"
	"slices"

	"pgregory.net/rapid"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

// look compares what everybody sees with the model.
func (w *world) look(r *rapid.T) {
	w.lookAtList(r)
	w.lookAtLeases(r)
	for _, s := range w.servers {
		w.lookAtMark(r, s)
	}
}

func (w *world) lookAtList(r *rapid.T) {
	type row struct {
		av     seqlease.AccessionVersion
		status seqlease.Status
		result seqlease.ProcessingResult // of processed ones
	}
	var got, want []row
	counts, err := w.servers[0].List(w.ctx, submission.ListFilter{Organism: WestNile}, func(e submission.ListedEntry) error {
		listed := row{av: e.AccessionVersion, status: e.Status}
		if e.Status == seqlease.Processed {
			listed.result = e.Result
		}
		got = append(got, listed)
		return nil
	})
	w.must(r, "list", err)
	statuses, results := map[seqlease.Status]int64{}, map[seqlease.ProcessingResult]int64{}
	for _, e := range w.where(func(*modelEntry) bool { return true }) {
		listed := row{av: e.av, status: e.status()}
		statuses[listed.status]++
		if e.result != nil {
			listed.result = e.result.judged
			results[listed.result]++
		}
		want = append(want, listed)
	}
	slices.SortFunc(want, func(a, b row) int { return a.av.Compare(b.av) })
	same(r, "what is listed", got, want)
	same(r, "status counts", present(counts.Statuses), statuses)
	same(r, "result counts", present(counts.Results), results)
}

// lookAtLeases compares the running leases. Those that have ended may be there or not.
func (w *world) lookAtLeases(r *rapid.T) {
	type row struct {
		id           seqlease.AttemptID
		user, worker string
		held         int
		first        []seqlease.AccessionVersion
	}
	list, err := w.servers[0].Leases(w.ctx, WestNile, nil, 10_000)
	w.must(r, "leases", err)
	got, want := []row{}, []row{}
	for _, l := range list {
		if !l.Ended {
			got = append(got, row{l.AttemptID, l.ClaimedBy, l.WorkerID, l.Entries, l.First})
		}
	}
	for _, l := range w.leases {
		if held := l.held(); len(held) > 0 {
			want = append(want, row{l.id, l.user, l.worker, len(held), named(held[:min(len(held), 10)])})
		}
	}
	byID := func(a, b row) int { return cmp.Compare(a.id.String(), b.id.String()) }
	slices.SortFunc(got, byID)
	slices.SortFunc(want, byID)
	same(r, "running leases", got, want)
}

// lookAtMark checks that no mark stands for two states of the queue (L14).
func (w *world) lookAtMark(r *rapid.T, s Store) string {
	lease, err := s.Claim(w.ctx, ask(0))
	w.must(r, "read the mark", err)
	same(r, "paused", lease.Paused, w.paused)
	if added, known := w.seen[lease.Mark]; known && added != w.added {
		r.Fatalf("the mark %q was there before something was added", lease.Mark)
	}
	w.seen[lease.Mark] = w.added
	return lease.Mark
}

// stir looks whether a claim that waits would be woken, and then waits anew.
func (w *world) stir(r *rapid.T) {
	s := w.server(r)
	mark := w.lookAtMark(r, s)
	ended := w.where(func(e *modelEntry) bool { return e.ended != nil })
	wake := !w.paused && slices.ContainsFunc(ended, func(e *modelEntry) bool { return !e.ended.stirred && w.room(e) != spent })
	// A store may say so while anything waits: others may have let it go by a rollback.
	waits := slices.ContainsFunc(w.entries, func(e *modelEntry) bool { return e.waits })
	if old := w.awaited; old != "" {
		stirred, err := s.Stirred(w.ctx, []queue.Awaited{{Organism: WestNile, PipelineVersion: 1, Mark: old}})
		w.must(r, "stirred", err)
		switch {
		case len(stirred) != 1:
			r.Fatalf("%d answers for one queue", len(stirred))
		case (mark != old || wake) && !stirred[0]:
			r.Fatalf("nothing stirred, but the mark was %q and is %q, and %v are in ended leases", old, mark, ended)
		case mark == old && len(ended) == 0 && !waits && stirred[0]:
			r.Fatalf("the queue stirred under the same mark %q without an entry that waits or an ended lease", mark)
		}
	}
	w.awaited = mark
}

// history compares the claims of an entry.
func (w *world) history(r *rapid.T) {
	if w.trimmed {
		r.Skip("some of it is gone")
	}
	e := one(r, w.entries, "entry")
	history, err := w.server(r).History(w.ctx, WestNile, e.av, 1000)
	if e.gone {
		wantIs(r, "history of a deleted entry", err, seqlease.ErrNotFound)
		return
	}
	w.must(r, "history", err)
	type row struct {
		id                seqlease.AttemptID
		user, worker      string
		attempt, entries  int
		accepted, holding bool
	}
	var got, want []row
	for _, c := range history.Claims {
		if e.ended != nil && e.ended.id == c.AttemptID {
			c.Holding = false // until somebody takes the ended lease apart, a store may say so or not
		}
		got = append(got, row{c.AttemptID, c.ClaimedBy, c.WorkerID, c.Attempt, c.Entries, c.Accepted != nil, c.Holding})
	}
	for _, c := range e.claims {
		l := c.lease
		accepted := e.result != nil && e.result.lease == l
		want = append(want, row{l.id, l.user, l.worker, c.attempt, len(l.entries), accepted, e.holder == l})
	}
	byID := func(a, b row) int { return cmp.Compare(a.id.String(), b.id.String()) }
	slices.SortFunc(got, byID)
	slices.SortFunc(want, byID)
	same(r, "claims of "+e.av.String(), got, want)
}

// drain ends a sequence: everything that can be claimed is, once, and all else is
// used up (L2, L9).
func (w *world) drain(r *rapid.T) {
	w.h.Age(w.t, w.servers[0], 30*24*hour)
	w.pass(30 * 24 * hour)
	for i := 0; ; i++ {
		if lease := w.claimOf(r, w.servers[i%len(w.servers)], ask(20)); len(lease.entries) == 0 {
			break
		}
	}
	w.sweepAll(r, w.servers[0])
	w.readSpent(r, w.servers[0])
}
