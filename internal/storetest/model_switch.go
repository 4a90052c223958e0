package storetest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/reprocess"
	"github.com/seqlease/seqlease/internal/submission"
)

// RunSwitchModel draws sequences of what changes the results of several pipeline
// versions, and wants a version to become current exactly when every entry with a
// result without errors under the current one has such a result under it (V5), those
// of revoked accessions aside. Old versions are retired meanwhile (V7). It is bounded
// as [RunModel] is.
func RunSwitchModel(t *testing.T, h Harness) {
	ctx, cancel := context.WithTimeout(t.Context(), *modelFor)
	defer cancel()
	tally := map[string]int{}
	failed := false
	missing := func() []string {
		return slices.DeleteFunc([]string{"switches", "blocked", "asked again", "quarantined"}, func(what string) bool { return tally[what] > 0 })
	}
	rapid.Check(t, func(r *rapid.T) {
		enough := tally["sequences"] >= leastSequences && len(missing()) == 0 || tally["sequences"] >= mostForCoverage
		if ctx.Err() != nil && enough && !failed {
			return
		}
		withStores(t, h, func(st *testing.T, servers []Store) {
			tally["sequences"]++
			w := &switchWorld{f: newFixtureOn(st, h, servers[0]), t: st, r: r, tally: tally, current: 1, live: []seqlease.PipelineVersion{1}, clean: map[seqlease.PipelineVersion]bool{}}
			done := false
			defer func() { failed = failed || !done }()
			w.submit(r)
			r.Repeat(map[string]func(*rapid.T){
				"":         func(*rapid.T) { w.look() },
				"submit":   w.submit,
				"register": w.register,
				"process1": w.process, "process2": w.process, "process3": w.process, "process4": w.process,
				"hold": w.hold, "time passes": w.age, "reprocess": w.reprocess, "edit": w.edit, "delete": w.remove,
				"approve": w.approve, "revoke": w.revoke, "quarantine": w.quarantine, "requeue": w.requeue, "switch1": w.trySwitch, "switch2": w.trySwitch, "retire": w.retire,
			})
			w.drain()
			done = true
		})
	})
	t.Logf("%v", tally)
	if left := missing(); len(left) > 0 && !t.Failed() {
		t.Errorf("in %d sequences there were no %q", tally["sequences"], left)
	}
}

// switchWorld is what is known of the entries beside the store.
type switchWorld struct {
	f       *fixture
	t       *testing.T // of the stores
	r       *rapid.T
	tally   map[string]int
	current seqlease.PipelineVersion
	live    []seqlease.PipelineVersion        // ascending
	clean   map[seqlease.PipelineVersion]bool // none blocked it once all entries were looked at
	entries []*switchEntry
}

type switchEntry struct {
	av         seqlease.AccessionVersion
	results    map[seqlease.PipelineVersion]seqlease.ProcessingResult // of present data
	held       bool                                                   // in a lease that may run
	released   bool
	revocation bool
	revoked    bool // by a released revocation
}

func (w *switchWorld) must(what string, err error) {
	if err != nil {
		w.r.Fatalf("%s: %v", what, err)
	}
}

func isGood(r seqlease.ProcessingResult) bool {
	return r == seqlease.NoIssues || r == seqlease.HasWarnings
}

// may says whether the version may become current.
func (w *switchWorld) may(v seqlease.PipelineVersion) bool {
	for _, e := range w.entries {
		if !e.revocation && !e.revoked && isGood(e.results[w.current]) && !isGood(e.results[v]) {
			return false
		}
	}
	return true
}

func (w *switchWorld) version(r *rapid.T) seqlease.PipelineVersion {
	return rapid.SampledFrom(w.live).Draw(r, "version")
}

func (w *switchWorld) submit(r *rapid.T) {
	u := w.f.upload(rapid.IntRange(1, 3).Draw(r, "entries"))
	mappings, err := w.f.Submit(w.ctx(), u)
	w.must("submit", err)
	for _, m := range mappings {
		w.entries = append(w.entries, &switchEntry{av: m.AccessionVersion, results: map[seqlease.PipelineVersion]seqlease.ProcessingResult{}})
	}
}

func (w *switchWorld) register(r *rapid.T) {
	if len(w.live) > 3 {
		r.Skip("enough versions")
	}
	v := w.live[len(w.live)-1] + seqlease.PipelineVersion(rapid.IntRange(1, 2).Draw(r, "above"))
	w.add(v)
}

// add registers a version and makes its backfill complete.
func (w *switchWorld) add(v seqlease.PipelineVersion) {
	_, err := w.f.RegisterVersion(w.ctx(), WestNile, v, ahead)
	w.must("register", err)
	for {
		chunk, err := w.f.Backfill(w.ctx(), WestNile, v, 100)
		w.must("backfill", err)
		if chunk.Progress == reprocess.Complete {
			break
		}
	}
	w.live = append(w.live, v)
}

func (w *switchWorld) ctx() context.Context { return w.t.Context() }

func (w *switchWorld) claim(v seqlease.PipelineVersion, n int) queue.Lease {
	c := ask(n)
	c.PipelineVersion = v
	lease, err := w.f.Claim(w.ctx(), c)
	w.must("claim", err)
	return lease
}

func (w *switchWorld) entry(av seqlease.AccessionVersion) *switchEntry {
	for _, e := range w.entries {
		if e.av == av {
			return e
		}
	}
	w.r.Fatalf("%s is handed out and shouldn't be there", av)
	return nil
}

func (w *switchWorld) process(r *rapid.T) {
	v := w.version(r)
	w.judge(w.claim(v, rapid.IntRange(1, 6).Draw(r, "claimed")), v, func() seqlease.ProcessingResult {
		return rapid.SampledFrom([]seqlease.ProcessingResult{seqlease.NoIssues, seqlease.NoIssues, seqlease.HasWarnings, seqlease.HasErrors}).Draw(r, "outcome")
	})
}

func (w *switchWorld) judge(lease queue.Lease, v seqlease.PipelineVersion, outcome func() seqlease.ProcessingResult) {
	s := results()
	s.PipelineVersion = v
	for i, e := range lease.Entries {
		judged := outcome()
		s.Lines = append(s.Lines, w.f.line(w.t, i+1, e.AccessionVersion, lease.AttemptID, "result", judged))
		w.entry(e.AccessionVersion).results[v] = judged
	}
	if len(s.Lines) > 0 {
		_, err := w.f.AcceptResults(w.ctx(), s)
		w.must("results", err)
	}
}

func (w *switchWorld) hold(r *rapid.T) {
	for _, e := range w.claim(w.version(r), rapid.IntRange(1, 2).Draw(r, "held")).Entries {
		w.entry(e.AccessionVersion).held = true
	}
}

// age ends every lease, and has the entries wait again.
func (w *switchWorld) age(*rapid.T) {
	w.f.h.Age(w.t, w.f.Store, leaseTime)
	for {
		n, _, err := w.f.Sweep(w.ctx(), 100)
		w.must("sweep", err)
		if n == 0 {
			break
		}
	}
	for _, e := range w.entries {
		e.held = false
	}
}

// some draws an entry of which the condition is true.
func (w *switchWorld) some(r *rapid.T, is func(e *switchEntry) bool) *switchEntry {
	return one(r, slices.DeleteFunc(slices.Clone(w.entries), func(e *switchEntry) bool { return !is(e) }), "entry")
}

func (w *switchWorld) reprocess(r *rapid.T) {
	v := w.version(r)
	e := w.some(r, func(e *switchEntry) bool { return !e.revocation && !e.held && e.results[v] != "" })
	_, _, err := w.f.Reprocess(w.ctx(), queue.Selection{Organism: WestNile, PipelineVersion: v, Entries: []seqlease.AccessionVersion{e.av}}, 0, 10)
	w.must("reprocess", err)
}

func (w *switchWorld) edit(r *rapid.T) {
	e := w.some(r, func(e *switchEntry) bool { return !e.revocation && !e.released && e.results[w.current] != "" })
	w.must("edit", w.f.Edit(w.ctx(), submission.Edit{Organism: WestNile, AccessionVersion: e.av, Data: submitted(len(e.results) + 500)}))
	e.results, e.held = map[seqlease.PipelineVersion]seqlease.ProcessingResult{}, false
}

func (w *switchWorld) remove(r *rapid.T) {
	e := w.some(r, func(e *switchEntry) bool { return !e.released && !e.held })
	_, err := w.f.Delete(w.ctx(), deletion(e.av))
	w.must("delete", err)
	w.entries = slices.DeleteFunc(w.entries, func(other *switchEntry) bool { return other == e })
}

func (w *switchWorld) approve(*rapid.T) {
	approved, err := w.f.Approve(w.ctx(), approval())
	w.must("approve", err)
	for _, av := range approved {
		e := w.entry(av)
		if !e.revocation && !isGood(e.results[w.current]) {
			w.r.Fatalf("%s is released with the outcome %q under version %d", av, e.results[w.current], w.current)
		}
		e.released = true
		for _, other := range w.entries {
			other.revoked = other.revoked || e.revocation && other.av.Accession == av.Accession && other.av.Version < av.Version
		}
	}
}

func (w *switchWorld) revoke(r *rapid.T) {
	e := w.some(r, func(e *switchEntry) bool {
		return e.released && !e.revocation && !slices.ContainsFunc(w.entries, func(o *switchEntry) bool { return o.av.Accession == e.av.Accession && o != e })
	})
	made, err := w.f.Revoke(w.ctx(), revocation(e.av.Accession))
	w.must("revoke", err)
	w.entries = append(w.entries, &switchEntry{av: made[0].AccessionVersion, revocation: true})
}

// quarantine has some entry of a version end in quarantine: it has a result with errors
// then, unless a good one stays.
func (w *switchWorld) quarantine(r *rapid.T) {
	v := w.version(r)
	w.putInQuarantine(v, w.some(r, func(e *switchEntry) bool { return !e.revocation && !isGood(e.results[v]) }))
}

func (w *switchWorld) putInQuarantine(v seqlease.PipelineVersion, e *switchEntry) {
	verdict := queue.OperatorVerdict{By: operatorName, Reason: byOperator, Result: w.f.systemResult(w.t, byOperator)}
	n, _, err := w.f.PutInQuarantine(w.ctx(), queue.Selection{Organism: WestNile, PipelineVersion: v, Entries: []seqlease.AccessionVersion{e.av}}, verdict, 0, 10)
	w.must("quarantine", err)
	if n > 0 {
		e.results[v] = seqlease.HasErrors
		w.tally["quarantined"]++
	}
}

func (w *switchWorld) requeue(*rapid.T) {
	in, err := w.f.Quarantined(w.ctx(), WestNile, 0, 100)
	w.must("quarantine", err)
	for _, q := range in {
		_, _, err := w.f.Requeue(w.ctx(), queue.Selection{Organism: WestNile, PipelineVersion: q.PipelineVersion, Entries: []seqlease.AccessionVersion{q.AccessionVersion}}, 0, 10)
		w.must("requeue", err)
		delete(w.entry(q.AccessionVersion).results, q.PipelineVersion)
	}
}

func (w *switchWorld) trySwitch(r *rapid.T) {
	v := w.version(r)
	if v == w.current {
		r.Skip("it is current")
	}
	w.switchTo(v, w.may(v))
}

func (w *switchWorld) switchTo(v seqlease.PipelineVersion, want bool) {
	c := reprocess.Candidate{Organism: WestNile, Current: w.current, Version: v}
	// What was clean once stays so but for what the switch itself looks at.
	if !w.clean[v] {
		look, err := w.f.FindBlocker(w.ctx(), c, 0, 1000)
		w.must("look for a blocker", err)
		if w.clean[v] = look.Blocker == 0; !w.clean[v] && want {
			w.r.Fatalf("entry %d blocks a switch from version %d to %d, as the results are %v", look.Blocker, w.current, v, w.outcomes())
		}
	}
	switched := false
	if w.clean[v] {
		may, err := w.f.MaySwitch(w.ctx(), c)
		w.must("ask for a switch", err)
		switched, err = w.f.Switch(w.ctx(), c)
		w.must("switch", err)
		if may != switched {
			w.r.Fatalf("it may switch: %t, and does: %t", may, switched)
		}
		w.tally["asked again"]++
	}
	if switched != want {
		w.r.Fatalf("a switch from version %d to %d: %t, want %t, as the results are %v", w.current, v, switched, want, w.outcomes())
	}
	if !switched {
		w.tally["blocked"]++
		return
	}
	w.tally["switches"]++
	w.current, w.clean = v, map[seqlease.PipelineVersion]bool{}
	w.live = slices.DeleteFunc(w.live, func(old seqlease.PipelineVersion) bool { return old < v })
}

func (w *switchWorld) outcomes() map[seqlease.AccessionVersion]map[seqlease.PipelineVersion]seqlease.ProcessingResult {
	all := map[seqlease.AccessionVersion]map[seqlease.PipelineVersion]seqlease.ProcessingResult{}
	for _, e := range w.entries {
		all[e.av] = maps.Clone(e.results)
	}
	return all
}

func (w *switchWorld) retire(*rapid.T) {
	outdated, err := w.f.Outdated(w.ctx(), 1)
	w.must("outdated", err)
	for _, of := range outdated {
		for after := int64(0); ; {
			chunk, err := w.f.Retire(w.ctx(), of, after, 2)
			w.must("retire", err)
			if chunk.Gone || chunk.Waiting {
				w.tally["retired"]++
				break
			}
			after = chunk.Last
		}
	}
}

// look wants everybody to see what the current version says, and no other.
func (w *switchWorld) look() {
	shown := map[seqlease.AccessionVersion]seqlease.ProcessingResult{}
	_, err := w.f.List(w.ctx(), submission.ListFilter{Organism: WestNile}, func(e submission.ListedEntry) error {
		shown[e.AccessionVersion] = e.Result
		return nil
	})
	w.must("list", err)
	if len(shown) != len(w.entries) {
		w.r.Fatalf("%d entries are listed, want %d", len(shown), len(w.entries))
	}
	for _, e := range w.entries {
		if want := e.results[w.current]; want != "" && shown[e.av] != want {
			w.r.Fatalf("%s is shown with %q, want %q of version %d", e.av, shown[e.av], want, w.current)
		}
	}
	versions, err := w.f.CurrentPipelineVersions(w.ctx())
	w.must("current versions", err)
	if versions[WestNile] != w.current {
		w.r.Fatalf("version %d is current, want %d", versions[WestNile], w.current)
	}
	if w.current > 1 {
		c := ask(1)
		c.PipelineVersion = w.current - 1
		if _, err := w.f.Claim(w.ctx(), c); !errors.Is(err, seqlease.ErrPipelineOutdated) {
			w.r.Fatalf("a claim below the current version: %v, want %v", err, seqlease.ErrPipelineOutdated)
		}
	}
}

// another registers a version above all others, which may not become current yet: it has
// nothing but an entry in quarantine.
func (w *switchWorld) another() seqlease.PipelineVersion {
	v := w.live[len(w.live)-1] + 1
	w.add(v)
	last := w.entries[len(w.entries)-1]
	w.putInQuarantine(v, last)
	w.switchTo(v, w.may(v))
	return v
}

// drain has the newest version process all that waits or failed: then it may become current.
func (w *switchWorld) drain() {
	w.age(nil)
	good := func() seqlease.ProcessingResult { return seqlease.NoIssues }
	w.submit(w.r)
	w.judge(w.claim(w.current, 100), w.current, good)
	newest := w.another()
	for {
		lease := w.claim(newest, 100)
		if len(lease.Entries) == 0 {
			break
		}
		w.judge(lease, newest, good)
	}
	w.requeue(nil)
	for _, e := range w.entries {
		if e.revocation || isGood(e.results[newest]) {
			continue
		}
		_, _, err := w.f.Reprocess(w.ctx(), queue.Selection{Organism: WestNile, PipelineVersion: newest, Entries: []seqlease.AccessionVersion{e.av}}, 0, 10)
		w.must("reprocess", err)
	}
	w.judge(w.claim(newest, 100), newest, good)
	if newest > w.current {
		w.switchTo(newest, true)
	}
	w.retire(nil)
	w.look()
}
