package storetest

import (
	"crypto/sha256"
	"slices"

	"pgregory.net/rapid"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// systemResult is the packed result document whose one error is the reason.
func (w *world) systemResult(r *rapid.T, reason string) queue.PackedResult {
	doc := document(seqlease.StoredResult{Errors: []seqlease.Annotation{{Message: reason}}, Warnings: []seqlease.Annotation{}})
	packed, err := w.servers[0].Pack(WestNile, doc)
	w.must(r, "pack", err)
	digest := sha256.Sum256(doc)
	return queue.PackedResult{Packed: packed, Digest: [16]byte(digest[:16])}
}

// endedLeases lists those that have entries still which nobody touched.
func (w *world) endedLeases() []*modelLease {
	return slices.DeleteFunc(slices.Clone(w.leases), func(l *modelLease) bool { return len(l.left()) == 0 })
}

func (w *world) sweep(r *rapid.T) {
	limit := rapid.IntRange(1, 4).Draw(r, "limit")
	ended := w.endedLeases()
	n, of, err := w.server(r).Sweep(w.ctx, limit)
	w.must(r, "sweep", err)
	if n < 0 || n > min(limit, len(ended)) {
		r.Fatalf("%d leases were ended of %d, want at most %d", n, len(ended), limit)
	}
	if !slices.ContainsFunc(ended, func(l *modelLease) bool { return l.stirred }) {
		same(r, "leases ended", n, min(limit, len(ended)))
	}
	same(r, "leases of which it is told whose they were", len(of), n)
	w.tally["leases swept"] += n
	w.stirLeases()
}

// sweepAll leaves no ended lease.
func (w *world) sweepAll(r *rapid.T, s Store) {
	for {
		n, _, err := s.Sweep(w.ctx, 100)
		w.must(r, "sweep", err)
		if n == 0 {
			break
		}
	}
	for _, e := range w.entries {
		e.ended = nil
	}
	w.stirLeases()
}

// readSpent reads what is used up and compares it.
func (w *world) readSpent(r *rapid.T, s Store) []queue.SpentTicket {
	type row struct {
		av                 seqlease.AccessionVersion
		attempts, handOuts int
	}
	list, err := s.Spent(w.ctx, 1000)
	w.must(r, "spent", err)
	var got, want []row
	for _, ticket := range list {
		got = append(got, row{ticket.AccessionVersion, ticket.Attempts, ticket.HandOuts})
	}
	for _, e := range w.waiting(spent) {
		want = append(want, row{e.av, e.attempts, e.handOuts})
	}
	byName := func(a, b row) int { return a.av.Compare(b.av) }
	slices.SortFunc(got, byName)
	slices.SortFunc(want, byName)
	same(r, "used up", got, want)
	return list
}

// keep does what the keeper does, and something may happen between its look and
// its write (B001).
func (w *world) keep(r *rapid.T) {
	w.judge(r, func() {
		for range rapid.IntRange(0, 3).Draw(r, "meanwhile") {
			meanwhile := map[string]func(*rapid.T){
				"edit": w.edit, "delete": w.remove, "quarantine": w.quarantine, "requeue": w.requeueAll, "reprocess": w.reprocess,
			}
			meanwhile[rapid.SampledFrom([]string{"edit", "delete", "quarantine", "requeue", "reprocess"}).Draw(r, "happens")](r)
		}
	})
}

// judge quarantines what is used up, after what happens meanwhile.
func (w *world) judge(r *rapid.T, meanwhile func()) {
	s := w.server(r)
	w.sweepAll(r, s)
	list := w.readSpent(r, s)
	if len(list) == 0 {
		return
	}
	type seen struct {
		entry                        *modelEntry
		revision, attempts, handOuts int
	}
	var read []seen
	verdicts := make([]queue.Verdict, len(list))
	for i, ticket := range list {
		e := w.entry(ticket.AccessionVersion)
		read = append(read, seen{e, e.revision, e.attempts, e.handOuts})
		verdicts[i] = queue.Verdict{SpentTicket: ticket, Reason: usedUp, Result: w.systemResult(r, usedUp)}
	}
	w.focus = slices.Concat(w.waiting(spent), w.where(func(e *modelEntry) bool { return e.quarantined }))
	defer func() { w.focus = nil }()
	meanwhile()
	n, err := w.server(r).Quarantine(w.ctx, verdicts)
	w.must(r, "quarantine", err)
	want := 0
	for _, before := range read {
		e := before.entry
		if (seen{e, e.revision, e.attempts, e.handOuts}) == before && !e.gone && e.waits && w.room(e) == spent {
			want++
			e.confine()
		}
	}
	same(r, "tickets quarantined", n, want)
	w.tally["quarantined as used up"] += n
	w.tally["verdicts passed over"] += len(read) - n
}

// processedAgain says that something in quarantine is in a lease, or in one that
// has ended: whether a requeue cuts it from there is the store's affair.
func (w *world) processedAgain() bool {
	return len(w.where(func(e *modelEntry) bool { return e.quarantined && (e.holder != nil || e.ended != nil) })) > 0
}

// requeueAll requeues unless one in quarantine is being processed again.
func (w *world) requeueAll(r *rapid.T) {
	if !w.processedAgain() {
		w.requeue(r)
	}
}

// canLose says whether the harness can make gaps.
func (w *world) canLose() bool {
	_, lacking := w.h.Lacks[LoseTickets]
	return !lacking && w.h.Lose != nil
}

// lose makes a gap: an entry that waits has no ticket any more.
func (w *world) lose(r *rapid.T) {
	if !w.canLose() {
		r.Skip("nothing can be lost")
	}
	e := one(r, w.where(func(e *modelEntry) bool { return e.waits }), "entry")
	w.sweepAll(r, w.servers[0]) // so that it waits as a ticket
	w.h.Lose(w.t, w.servers[0], e.av)
	e.rest()
}

// reconcile finds every gap (L1, V4).
func (w *world) reconcile(r *rapid.T) {
	keeper := w.server(r)
	gaps := w.where(func(e *modelEntry) bool { return !e.waits && e.holder == nil && e.result == nil })
	limit := rapid.SampledFrom([]int{1, 7, 1000}).Draw(r, "limit")
	added := w.allPages(r, "reconcile", func(after int64) (int, int64, error) { return keeper.Reconcile(w.ctx, after, limit) })
	same(r, "tickets added", added, len(gaps))
	w.tally["gaps filled"] += added
	for _, e := range gaps {
		w.wait(e, 0, 0)
	}
}
