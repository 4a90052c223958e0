package storetest

import (
	"errors"
	"reflect"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

const hour = time.Hour

// same compares two values and ends the sequence where they differ.
func same[T any](r *rapid.T, what string, got, want T) {
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
		r.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// wantIs checks that the error is the sentinel.
func wantIs(r *rapid.T, what string, err, want error) {
	if !errors.Is(err, want) {
		r.Fatalf("%s: got error %v, want one that is %q", what, err, want)
	}
}

func (w *world) claim(r *rapid.T) {
	s := w.server(r)
	c := ask(rapid.IntRange(1, 20).Draw(r, "n"))
	c.ClaimedBy = w.user(r)
	c.WorkerID = rapid.SampledFrom([]string{"worker 1", "worker 2"}).Draw(r, "worker")
	c.Lease = rapid.SampledFrom([]time.Duration{time.Minute, 10 * time.Minute, 2 * hour}).Draw(r, "lease")
	w.claimOf(r, s, c)
}

// claimOf makes a claim, checks the answer and returns the lease of the model.
func (w *world) claimOf(r *rapid.T, s Store, c queue.Claim) *modelLease {
	lease, err := s.Claim(w.ctx, c)
	w.must(r, "claim", err)
	same(r, "paused", lease.Paused, w.paused)
	entries := w.claimed(r, s, lease)
	w.checkBatch(r, c.Entries, entries)
	l := &modelLease{
		id: lease.AttemptID, user: c.ClaimedBy, worker: c.WorkerID, until: w.now + c.Lease, asClaimed: c.Lease, entries: entries,
	}
	w.stirLeases()
	if len(entries) == 0 {
		w.tally["empty claims"]++
		return l
	}
	in := w.room(entries[0])
	for i, e := range entries {
		e.attempts++
		e.handOuts++
		same(r, "attempt of "+e.av.String(), lease.Entries[i].Attempt, e.attempts)
		e.waits, e.holder, e.ended = false, l, nil
		e.claims = append(e.claims, modelClaim{lease: l, revision: e.revision, attempt: e.attempts})
	}
	w.leases = append(w.leases, l)
	w.tally["claims of "+in.String()]++
	return l
}

// claimed finds the entries of a lease, which must wait, and compares their documents.
func (w *world) claimed(r *rapid.T, s Store, lease queue.Lease) []*modelEntry {
	var entries []*modelEntry
	for i, c := range lease.Entries {
		e := w.entry(c.AccessionVersion)
		switch {
		case e == nil || e.gone:
			r.Fatalf("%s was claimed, which doesn't exist", c.AccessionVersion)
		case e.holder != nil:
			r.Fatalf("%s was claimed, which attempt %s holds", e, e.holder.id)
		case !e.waits:
			r.Fatalf("%s was claimed, which doesn't wait", e)
		}
		for _, before := range entries {
			if before == e {
				r.Fatalf("%s is in the claim twice", e)
			}
		}
		same(r, "place", c.Place, i)
		document, err := s.Unpack(w.ctx, c.Packed)
		w.must(r, "unpack", err)
		same(r, "document of "+e.av.String(), string(document), e.document)
		entries = append(entries, e)
	}
	return entries
}

func (w *world) entry(av seqlease.AccessionVersion) *modelEntry {
	for _, e := range w.entries {
		if e.av == av {
			return e
		}
	}
	return nil
}

// checkBatch checks who may be handed out together, and that nothing was held
// back (L2, L9).
func (w *world) checkBatch(r *rapid.T, n int, entries []*modelEntry) {
	if w.paused {
		same(r, "entries of a paused queue", len(entries), 0)
		return
	}
	freshOnes, suspects, lone := len(w.waiting(fresh)), len(w.waiting(suspected)), len(w.waiting(alone))
	if len(entries) == 0 {
		if freshOnes+suspects+lone > 0 {
			r.Fatalf("nothing was claimed with %d fresh, %d suspects and %d that go alone", freshOnes, suspects, lone)
		}
		return
	}
	in := w.room(entries[0])
	for _, e := range entries {
		if w.room(e) != in {
			r.Fatalf("%s and %s were handed out together", entries[0], e)
		}
	}
	switch in {
	case fresh:
		same(r, "fresh entries claimed", len(entries), min(n, freshOnes))
	case suspected:
		if most := (n + 7) / 8; len(entries) > most {
			r.Fatalf("%d suspects in a claim of %d, want at most %d", len(entries), n, most)
		}
	case alone:
		same(r, "entries beside one that goes alone", len(entries), 1)
	case spent:
		r.Fatalf("%s was claimed though it is used up", entries[0])
	}
}
