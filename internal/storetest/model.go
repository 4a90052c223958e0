package storetest

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

// modelFor bounds how long sequences are drawn; a sequence that was begun is
// finished, and a failing one is made smaller in time of its own
// (-rapid.shrinktime). A long run: go test -timeout 0 -run TestModel
// ./internal/sqlite -args -model.for=1h -rapid.checks=1000000.
var modelFor = flag.Duration("model.for", 8*time.Second, "how long the model draws sequences for each store")

// RunModel draws sequences of calls, makes them on one or two servers' stores of
// a database and compares every answer, and after each call what everybody sees,
// with a [model]. Each sequence has a fresh database.
func RunModel(t *testing.T, h Harness) {
	ctx, cancel := context.WithTimeout(t.Context(), *modelFor)
	defer cancel()
	failed := false
	tally := map[string]int{}
	missing := func() []string {
		return slices.DeleteFunc((&world{h: h}).coverage(), func(what string) bool { return tally[what] > 0 })
	}
	rapid.Check(t, func(r *rapid.T) {
		enough := tally["sequences"] >= leastSequences && len(missing()) == 0 || tally["sequences"] >= mostForCoverage
		if ctx.Err() != nil && enough && !failed {
			return // nothing is drawn any more, but what failed is made smaller
		}
		withStores(t, h, func(st *testing.T, servers []Store) {
			w := newWorld(st, r, h, servers)
			w.tally = tally
			tally["sequences"]++
			done := false
			defer func() { failed = failed || !done }()
			for round := range rounds { // of -rapid.steps calls on average
				w.submit(r)
				r.Repeat(w.actions())
				for _, play := range w.plots(round) {
					play(r)
					w.look(r)
				}
			}
			w.drain(r)
			done = true
		})
	})
	t.Logf("%v", tally)
	if left := missing(); len(left) > 0 && !t.Failed() {
		t.Errorf("in %d sequences there were no %q", tally["sequences"], left)
	}
}

// However slow the machine is, so many sequences are drawn at least; and beyond
// the time, so many at most for the sake of what hasn't happened yet.
const (
	leastSequences  = 2
	mostForCoverage = 8
)

// withStores opens stores for the time of run, as a subtest that waits beside it:
// so they are closed after each sequence, while run stays in rapid's goroutine.
func withStores(t *testing.T, h Harness, run func(st *testing.T, servers []Store)) {
	type opened struct {
		t       *testing.T
		servers []Store
	}
	ready, done, closed := make(chan opened, 1), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(closed)
		defer close(ready)
		t.Run("stores", func(st *testing.T) {
			servers := []Store{h.New(st)}
			if _, lacking := h.Lacks[SecondStore]; !lacking {
				servers = append(servers, h.Second(st, servers[0]))
			}
			ready <- opened{st, servers}
			<-done
		})
	}()
	defer func() { <-closed }()
	defer close(done)
	o, isOpen := <-ready
	if !isOpen {
		t.Fatal("no stores")
	}
	run(o.t, o.servers)
}

// world is a model beside the stores that it is compared with.
type world struct {
	model
	t       *testing.T // of the stores
	h       Harness
	ctx     context.Context
	servers []Store
	groups  []int64
	// seen are the marks, each with how often something had been added.
	seen    map[string]int
	tally   map[string]int // what happened, over all sequences, for the log
	focus   []*modelEntry  // if any, what operators and submitters are about to change
	texts   int            // documents drawn so far
	trimmed bool
	awaited string // the mark that a waiting claim knows
}

func newWorld(t *testing.T, r *rapid.T, h Harness, servers []Store) *world {
	retry := h.Retry
	if retry == (queue.Retry{}) {
		retry = queue.DefaultRetry
	}
	w := &world{model: model{retry: retry}, t: t, h: h, ctx: t.Context(), servers: servers, seen: map[string]int{}}
	for _, s := range servers {
		w.must(r, "register", s.Register(w.ctx, Organisms()))
	}
	for _, name := range []string{"Institute of Virology", "A clinic"} {
		g, err := servers[0].CreateGroup(w.ctx, seqlease.NewGroup{GroupName: name}, submitter)
		w.must(r, "create group", err)
		w.groups = append(w.groups, g.GroupID)
	}
	return w
}

// actions are what may happen next. What happens most in life is there more than
// once; the one without a name looks at everything after each. An action that
// can't be done skips before it draws anything: else rapid gives the sequence up.
func (w *world) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"":         w.look,
		"submit 1": w.submit, "submit 2": w.submit,
		"claim 1": w.claim, "claim 2": w.claim, "claim 3": w.claim, "claim 4": w.claim, "claim 5": w.claim, "claim 6": w.claim,
		"results 1": w.results, "results 2": w.results, "results 3": w.results,
		"renew 1": w.renew, "renew 2": w.renew, "give back 1": w.giveBack, "give back 2": w.giveBack, "give back 3": w.giveBack,
		"time passes 1": w.age, "time passes 2": w.age, "time passes 3": w.age,
		"edit": w.edit, "delete": w.remove,
		"sweep": w.sweep, "keeper 1": w.keep, "keeper 2": w.keep, "keeper 3": w.keep, "trim": w.trim, "lose": w.lose, "reconcile": w.reconcile,
		"requeue": w.requeue, "quarantine": w.quarantine, "free": w.free, "reprocess": w.reprocess, "pause": w.pause,
		"history": w.history, "stirred": w.stir,
	}
}

// must ends the sequence if a call failed that has to work.
func (w *world) must(r *rapid.T, what string, err error) {
	if err != nil {
		r.Fatalf("%s: %v", what, err)
	}
}

// server draws through which server the next call goes.
func (w *world) server(r *rapid.T) Store {
	return w.servers[rapid.IntRange(0, len(w.servers)-1).Draw(r, "server")]
}

// user draws who calls.
func (w *world) user(r *rapid.T) string {
	return rapid.SampledFrom([]string{worker, "another_pipeline"}).Draw(r, "user")
}

// pick draws some of the list, in its order.
func pick[T any](r *rapid.T, list []T, label string) []T {
	return slices.DeleteFunc(slices.Clone(list), func(T) bool { return rapid.IntRange(0, 2).Draw(r, label) == 0 })
}

// anyOf are the entries from which operators and submitters choose.
func (w *world) anyOf() []*modelEntry {
	if w.focus != nil {
		return w.focus
	}
	return w.entries
}

// one draws one of the list and skips the action if there is none.
func one[T any](r *rapid.T, list []T, label string) T {
	if len(list) == 0 {
		r.Skip("nothing to draw from")
	}
	return rapid.SampledFrom(list).Draw(r, label)
}

// document makes a document that no other entry has.
func (w *world) document() []byte {
	w.texts++
	return submitted(w.texts)
}

func (w *world) submit(r *rapid.T) {
	w.submitSome(r, rapid.IntRange(1, 9).Draw(r, "entries"))
}

func (w *world) submitSome(r *rapid.T, n int) {
	s := w.server(r)
	group := rapid.SampledFrom(w.groups).Draw(r, "group")
	var documents []string
	u := submission.Upload{
		Organism: WestNile, GroupID: group, Submitter: submitter, AccessionPrefix: prefix,
		Terms: seqlease.DataUseTerms{Type: seqlease.TermsOpen},
	}
	var packed []submission.PackedEntry
	for range n {
		doc := w.document()
		p, err := s.Pack(WestNile, doc)
		w.must(r, "pack", err)
		documents = append(documents, string(doc))
		packed = append(packed, submission.PackedEntry{SubmissionID: "sample", Data: p})
	}
	u.Entries = func(yield func(submission.PackedEntry, error) bool) {
		for _, e := range packed {
			if !yield(e, nil) {
				return
			}
		}
	}
	mappings, err := s.Submit(w.ctx, u)
	w.must(r, "submit", err)
	w.tally["submissions"]++
	if len(mappings) != n {
		r.Fatalf("%d entries were stored of %d", len(mappings), n)
	}
	for i, m := range mappings {
		e := &modelEntry{av: m.AccessionVersion, document: documents[i]}
		w.entries = append(w.entries, e)
		w.wait(e, 0, 0)
	}
}

// age lets some time pass, or just as much as it takes to end one of the leases.
func (w *world) age(r *rapid.T) {
	d := rapid.SampledFrom([]time.Duration{30 * time.Second, time.Minute, 10 * time.Minute, time.Hour}).Draw(r, "time")
	running := slices.DeleteFunc(slices.Clone(w.leases), func(l *modelLease) bool { return len(l.held()) == 0 })
	if len(running) > 0 && rapid.Bool().Draw(r, "to an end") {
		d = rapid.SampledFrom(running).Draw(r, "which ends").until - w.now
	}
	w.h.Age(w.t, w.servers[0], d)
	w.pass(d)
}

// named lists the entries by name.
func named(entries []*modelEntry) []seqlease.AccessionVersion {
	versions := []seqlease.AccessionVersion{}
	for _, e := range entries {
		versions = append(versions, e.av)
	}
	return versions
}

// String is for the log of a failing sequence.
func (e *modelEntry) String() string {
	return fmt.Sprintf("%s(attempts %d of %d hand-outs)", e.av, e.attempts, e.handOuts)
}
