package storetest

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

// operator is one of the servers' calls for operators.
func (w *world) operator(r *rapid.T) queue.OperatorStore {
	return w.server(r)
}

// allPages calls until the end has come and returns the sum.
func (w *world) allPages(r *rapid.T, what string, call func(after int64) (int, int64, error)) int {
	all := 0
	for after := int64(0); ; {
		n, last, err := call(after)
		w.must(r, what, err)
		all += n
		if last == 0 {
			return all
		}
		if last <= after {
			r.Fatalf("%s: the page after %d ends at %d", what, after, last)
		}
		after = last
	}
}

func (w *world) edit(r *rapid.T) {
	from := w.where(func(e *modelEntry) bool { return e.result != nil })
	if w.focus != nil || len(from) == 0 || rapid.IntRange(0, 3).Draw(r, "any") == 3 {
		from = w.anyOf()
	}
	e := one(r, from, "entry")
	doc := w.document()
	err := w.server(r).Edit(w.ctx, submission.Edit{Organism: WestNile, AccessionVersion: e.av, Data: doc})
	if e.gone || e.status() != seqlease.Processed {
		wantIs(r, "edit of what isn't processed", err, seqlease.ErrState)
		return
	}
	w.must(r, "edit", err)
	w.tally["edits"]++
	e.cut()
	e.document, e.result, e.quarantined = string(doc), nil, false
	e.revision++
	w.wait(e, 0, 0)
}

func (w *world) remove(r *rapid.T) {
	if len(w.entries) == 0 {
		r.Skip("nothing to delete")
	}
	var list []*modelEntry
	for range rapid.IntRange(1, 2).Draw(r, "how many") {
		if e := rapid.SampledFrom(w.anyOf()).Draw(r, "entry"); !slices.Contains(list, e) {
			list = append(list, e)
		}
	}
	deleted, err := w.server(r).Delete(w.ctx, submission.Deletion{Organism: WestNile, Scope: seqlease.DeleteAll, Entries: named(list)})
	for _, e := range list {
		if e.gone || e.status() == seqlease.InProcessing {
			wantIs(r, "delete what may not be", err, seqlease.ErrState)
			return
		}
	}
	w.must(r, "delete", err)
	same(r, "entries deleted", len(deleted), len(list))
	w.tally["deletions"]++
	for _, e := range list {
		e.cut()
		e.gone = true
	}
}

// selection draws which entries an operator means: some, or all for which it is so.
func (w *world) selection(r *rapid.T, is func(*modelEntry) bool) (queue.Selection, []*modelEntry) {
	s := queue.Selection{Organism: WestNile}
	from := w.entries
	if rapid.IntRange(0, 9).Draw(r, "all") < 9 {
		from = nil
		for range rapid.IntRange(1, 4).Draw(r, "how many") {
			if e := one(r, w.anyOf(), "selected"); !slices.Contains(from, e) {
				from = append(from, e)
			}
		}
		s.Entries = named(from)
	}
	return s, slices.DeleteFunc(slices.Clone(from), func(e *modelEntry) bool { return e.gone || !is(e) })
}

func (w *world) requeue(r *rapid.T) {
	if w.processedAgain() {
		r.Skip("one in quarantine is being processed again")
	}
	s, entries := w.selection(r, func(e *modelEntry) bool { return e.quarantined })
	server := w.operator(r)
	n := w.allPages(r, "requeue", func(after int64) (int, int64, error) { return server.Requeue(w.ctx, s, after, 5) })
	same(r, "entries requeued", n, len(entries))
	w.tally["requeued"] += n
	for _, e := range entries {
		e.quarantined = false
		if e.result != nil && e.result.lease == nil {
			e.result = nil
		}
		w.wait(e, 0, 0)
	}
}

func (w *world) quarantine(r *rapid.T) {
	s, entries := w.selection(r, func(e *modelEntry) bool { return e.waits || e.holder != nil })
	verdict := queue.OperatorVerdict{By: operatorName, Reason: byOperator, Result: w.systemResult(r, byOperator)}
	server := w.operator(r)
	n := w.allPages(r, "quarantine", func(after int64) (int, int64, error) {
		return server.PutInQuarantine(w.ctx, s, verdict, after, 5)
	})
	same(r, "entries quarantined", n, len(entries))
	w.tally["quarantined by operators"] += n
	for _, e := range entries {
		e.confine()
	}
}

func (w *world) reprocess(r *rapid.T) {
	s, entries := w.selection(r, func(e *modelEntry) bool { return e.result != nil })
	server := w.operator(r)
	n := w.allPages(r, "reprocess", func(after int64) (int, int64, error) { return server.Reprocess(w.ctx, s, after, 5) })
	added := 0
	w.tally["reprocessed"] += n
	for _, e := range entries {
		if !e.waits && e.holder == nil {
			added++
			w.wait(e, 0, 0)
		}
	}
	if n < added || n > len(entries) { // whether those count that wait already is the store's affair
		r.Fatalf("%d entries are to be processed again, want from %d to %d", n, added, len(entries))
	}
}

func (w *world) free(r *rapid.T) {
	f := queue.FreeLeases{Organism: WestNile, Reason: "stuck"}
	l := w.lease(r)
	by := rapid.SampledFrom([]string{"attempt", "worker", "entries", "attempt and entries"}).Draw(r, "by")
	switch by {
	case "attempt", "attempt and entries":
		f.AttemptIDs = []seqlease.AttemptID{l.id}
	case "worker":
		f.WorkerID = l.worker
	}
	if by == "entries" || by == "attempt and entries" {
		f.Entries = named(pick(r, l.entries, "freed"))
	}
	w.freeOf(r, f)
}

// freeOf ends leases and checks the answer (L16).
func (w *world) freeOf(r *rapid.T, f queue.FreeLeases) {
	meant := func(e *modelEntry, of *modelLease) bool {
		return of != nil && (f.AttemptIDs == nil || slices.Contains(f.AttemptIDs, of.id)) && (f.WorkerID == "" || of.worker == f.WorkerID) &&
			(f.Entries == nil || slices.Contains(f.Entries, e.av))
	}
	server := w.operator(r)
	all := 0
	for more := true; more; {
		var n int
		var err error
		n, more, err = server.FreeLeases(w.ctx, f, 2)
		w.must(r, "free", err)
		all += n
	}
	freed := w.where(func(e *modelEntry) bool { return meant(e, e.holder) })
	ended := w.where(func(e *modelEntry) bool { return meant(e, e.ended) }) // those may be freed or not
	if all < len(freed) || all > len(freed)+len(ended) {
		r.Fatalf("%d entries were freed, want %d and at most %d of ended leases", all, len(freed), len(ended))
	}
	w.tally["freed"] += len(freed)
	for _, e := range freed {
		e.cut()
		w.wait(e, e.attempts, e.handOuts)
	}
	w.stirLeases()
}

// pause pauses the organism or the version, claims in vain, and resumes after at
// most two other things.
func (w *world) pause(r *rapid.T) {
	version := seqlease.PipelineVersion(rapid.IntRange(0, 1).Draw(r, "version"))
	server := w.operator(r)
	set := func(paused bool) {
		w.must(r, "pause", server.SetPaused(w.ctx, WestNile, version, paused, nil))
		state, err := server.Paused(w.ctx, WestNile)
		w.must(r, "paused", err)
		same(r, "paused", state, queue.PauseState{
			Organism: paused && version == 0, Versions: slices.Repeat([]seqlease.PipelineVersion{1}, count(paused && version == 1)),
		})
		w.paused = paused
		if !paused {
			w.added++
		}
	}
	set(true)
	w.claim(r)
	for range rapid.IntRange(0, 2).Draw(r, "meanwhile") {
		meanwhile := rapid.SampledFrom([]func(*rapid.T){w.submit, w.giveBack, w.results, w.age, w.renew, w.sweep}).Draw(r, "happens")
		if len(w.leases) > 0 {
			meanwhile(r)
			w.look(r)
		}
	}
	set(false)
}

func (w *world) trim(r *rapid.T) {
	limit := rapid.IntRange(1, 20).Draw(r, "limit")
	keep := rapid.SampledFrom([]time.Duration{time.Second, hour}).Draw(r, "keep")
	n, err := w.server(r).TrimHistory(w.ctx, keep, limit)
	w.must(r, "trim", err)
	if n < 0 || n > limit {
		r.Fatalf("%d records were trimmed, want at most %d", n, limit)
	}
	w.trimmed = w.trimmed || n > 0
}

// count is 1 if it is so.
func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
