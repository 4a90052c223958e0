package storetest

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// rounds is in how many parts a sequence is drawn; each ends with its plots.
const rounds = 2

// plots are short stories of what chance alone brings about too seldom. Each
// sequence has all of them, beside whatever else there is by then.
func (w *world) plots(round int) []func(*rapid.T) {
	return [rounds][]func(*rapid.T){
		{w.sweptInTime, w.tooLate, w.robbed, w.handedBack, w.judgedTooLate, w.letGo},
		{w.pause, w.revised, w.fillGap, w.judgedTooLate, w.failsAgain},
	}[round]
}

// coverage is what must have happened in a run, else it shows less than it seems to.
func (w *world) coverage() []string {
	want := []string{
		"submissions", "claims of fresh entries", "claims of suspects", "claims of one alone", "empty claims", "results", "refusals",
		"renewals", "renewals refused", "told as lost", "late results refused", "edits", "deletions", "freed", "leases swept", "failures of swept leases",
		"given back by user", "given back by undelivered", "given back by damaged", "quarantined as used up", "verdicts passed over",
		"quarantined by operators", "requeued", "reprocessed", "quarantined beside a good result",
	}
	if w.canLose() {
		want = append(want, "gaps filled")
	}
	return want
}

// end lets as much time pass as it takes to end the lease.
func (w *world) end(l *modelLease) {
	d := l.until - w.now
	w.h.Age(w.t, w.servers[0], d)
	w.pass(d)
}

// company claims until it gets at least two entries, of some that it submits first.
func (w *world) company(r *rapid.T) *modelLease {
	w.submitSome(r, rapid.IntRange(3, 6).Draw(r, "company"))
	for {
		c := ask(20)
		c.ClaimedBy, c.Lease = w.user(r), time.Minute
		if l := w.claimOf(r, w.server(r), c); len(l.entries) > 1 {
			return l
		}
	}
}

// on has the calls be about the entries alone.
func (w *world) on(entries []*modelEntry, calls ...func()) {
	before := w.focus
	w.focus = entries
	defer func() { w.focus = before }()
	for _, call := range calls {
		call()
	}
}

// sweptInTime: a lease that ends and is swept at once leaves a failure of each
// entry.
func (w *world) sweptInTime(r *rapid.T) {
	l := w.company(r)
	w.sweepAll(r, w.servers[0])
	w.end(l)
	w.sweep(r)
	w.sweepAll(r, w.server(r))
	for _, e := range l.entries {
		history, err := w.server(r).History(w.ctx, WestNile, e.av, 1000)
		w.must(r, "history", err)
		failures := slices.DeleteFunc(history.Failures, func(f queue.Failure) bool {
			return f.AttemptID != l.id || f.Kind != queue.FailureExpired || !f.Counted
		})
		same(r, "failures of the swept lease, of "+e.av.String(), len(failures), 1)
		w.tally["failures of swept leases"]++
	}
}

// tooLate: a lease is renewed while it runs and not after, and takes no results then.
func (w *world) tooLate(r *rapid.T) {
	l := w.company(r)
	w.renewOf(r, l, queue.Renew{Organism: WestNile, AttemptID: l.id, ClaimedBy: l.user, Lease: time.Minute})
	w.end(l)
	w.renewOf(r, l, queue.Renew{Organism: WestNile, AttemptID: l.id, ClaimedBy: l.user, Lease: time.Minute})
	w.answer(r, l, l.entries[:1])
	w.tally["late results refused"]++
}

// answer sends results of the entries, as the lease's user.
func (w *world) answer(r *rapid.T, l *modelLease, entries []*modelEntry) {
	s := w.server(r)
	var lines []modelLine
	for i, e := range entries {
		lines = append(lines, w.line(r, s, i+1, e, l))
	}
	sub := results()
	sub.ClaimedBy, sub.Skip = l.user, rapid.Bool().Draw(r, "skip")
	w.send(r, s, sub, lines)
}

// robbed: an operator takes an entry out of a running lease, whose worker is told.
func (w *world) robbed(r *rapid.T) {
	l := w.company(r)
	w.on(l.entries[:1], func() { w.quarantine(r) })
	w.renewOf(r, l, queue.Renew{Organism: WestNile, AttemptID: l.id, ClaimedBy: l.user, Lease: time.Minute})
	w.answer(r, l, l.entries[1:])
}

// handedBack: one entry of a lease is damaged, what is left isn't delivered; and an
// operator frees another lease.
func (w *world) handedBack(r *rapid.T) {
	l := w.company(r)
	w.giveBackOf(r, l, queue.GiveBack{
		Organism: WestNile, AttemptID: l.id, ClaimedBy: l.user, Entries: named(l.entries[:1]), Damaged: true, Reason: "because",
	}, "damaged")
	w.giveBackOf(r, l, queue.GiveBack{Organism: WestNile, AttemptID: l.id, ClaimedBy: l.user, Undelivered: true, Reason: "because"}, "undelivered")
	w.freeOf(r, queue.FreeLeases{Organism: WestNile, AttemptIDs: []seqlease.AttemptID{w.company(r).id}, Reason: "stuck"})
}

// useUp claims and fails until an entry is used up that is one of those meant.
func (w *world) useUp(r *rapid.T, meant func(*modelEntry) bool) []*modelEntry {
	const most = 60
	for range most {
		if list := slices.DeleteFunc(w.waiting(spent), func(e *modelEntry) bool { return !meant(e) }); len(list) > 0 {
			return list
		}
		c := ask(20)
		c.Lease = time.Minute
		l := w.claimOf(r, w.server(r), c)
		if len(l.entries) == 0 || rapid.IntRange(0, 3).Draw(r, "fails by") == 0 {
			w.h.Age(w.t, w.servers[0], time.Minute)
			w.pass(time.Minute)
			continue
		}
		w.giveBackOf(r, l, queue.GiveBack{Organism: WestNile, AttemptID: l.id, ClaimedBy: l.user, CountsAsAttempt: true, Reason: "crashed"}, "user")
	}
	return nil
}

// judgedTooLate: what is used up moves on between the keeper's look and its
// verdict (B001).
func (w *world) judgedTooLate(r *rapid.T) {
	w.submitSome(r, 1)
	w.useUp(r, func(*modelEntry) bool { return true })
	w.judge(r, func() {
		aim := w.focus[:1:1]
		quarantine, edit, requeue := func() { w.quarantine(r) }, func() { w.edit(r) }, func() { w.requeueAll(r) }
		switch rapid.SampledFrom([]string{"edit", "requeue", "delete", "reprocess", "nothing"}).Draw(r, "meanwhile") {
		case "edit":
			w.on(aim, quarantine, edit)
		case "requeue":
			w.on(aim, quarantine, requeue)
		case "delete":
			w.on(aim, func() { w.remove(r) })
		case "reprocess":
			w.on(aim, quarantine, func() { w.reprocess(r) })
		}
	})
}

// letGo: when no lease runs, what is in quarantine waits again if an operator says so.
func (w *world) letGo(r *rapid.T) {
	w.h.Age(w.t, w.servers[0], 3*hour)
	w.pass(3 * hour)
	w.sweepAll(r, w.server(r))
	list := w.where(func(e *modelEntry) bool { return e.quarantined })
	if len(list) == 0 {
		return
	}
	w.on(list, func() { w.requeueAll(r) })
	w.claim(r)
}

// revised: of what is processed, one is edited while it is processed again, and
// one is deleted.
func (w *world) revised(r *rapid.T) {
	l := w.company(r)
	w.answer(r, l, l.entries)
	w.on(l.entries[:1], func() { w.reprocess(r) }, func() { w.claim(r) }, func() { w.edit(r) })
	w.on(l.entries[1:2], func() { w.remove(r) })
}

// fillGap: an entry without a ticket gets one.
func (w *world) fillGap(r *rapid.T) {
	if !w.canLose() {
		return
	}
	w.submitSome(r, 1)
	w.lose(r)
	w.reconcile(r)
}

// failsAgain: what has a good result fails until its attempts are used up, and
// keeps the result (V9).
func (w *world) failsAgain(r *rapid.T) {
	l := w.company(r)
	w.answer(r, l, l.entries)
	good := slices.DeleteFunc(slices.Clone(l.entries), func(e *modelEntry) bool { return !e.good() })
	if len(good) == 0 {
		return // chance gave errors to all
	}
	w.on(good[:1], func() { w.reprocess(r) })
	w.look(r)
	list := w.useUp(r, func(e *modelEntry) bool { return e == good[0] })
	w.judge(r, func() {})
	for _, e := range list {
		if e.result != nil && e.result.judged != seqlease.HasErrors {
			w.tally["quarantined beside a good result"]++
		}
	}
}
