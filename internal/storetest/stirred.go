package storetest

import (
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// stirredCases check the one look that answers for every waiting claim (L14).
func stirredCases() []testCase {
	return []testCase{
		{name: "L14_NothingStirsInAQuietQueue", check: stirredQuiet},
		{name: "L14_WhatIsAddedStirs", check: stirredAdded},
		{name: "L14_LeaseEndStirs", check: stirredLeaseEnd},
		{name: "L14_ManyQueuesInOneLook", check: stirredMany},
		{name: "L14_WorkOfTheOtherServerStirs", needs: SecondStore, check: stirredOtherServer},
	}
}

// stirred looks at one queue of West Nile virus.
func (f *fixture) stirred(t *testing.T, mark string) bool {
	t.Helper()
	return f.allStirred(t, queue.Awaited{Organism: WestNile, PipelineVersion: 1, Mark: mark})[0]
}

func (f *fixture) allStirred(t *testing.T, awaited ...queue.Awaited) []bool {
	t.Helper()
	stirred, err := f.Stirred(t.Context(), awaited)
	if err != nil {
		t.Fatalf("stirred: %v", err)
	}
	if len(stirred) != len(awaited) {
		t.Fatalf("%d answers for %d queues", len(stirred), len(awaited))
	}
	return stirred
}

// wantStirred checks that the empty queue stirs when something happens.
func (f *fixture) wantStirred(t *testing.T, what string, happen func()) {
	t.Helper()
	empty := f.claim(t, 100)
	wantSame(t, "claimed before "+what, claimed(empty), nil)
	wantSame(t, "stirred before "+what, f.stirred(t, empty.Mark), false)
	happen()
	wantSame(t, "stirred after "+what, f.stirred(t, empty.Mark), true)
	if len(f.claim(t, 100).Entries) == 0 {
		t.Errorf("nothing to claim after %s", what)
	}
}

func stirredQuiet(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 3)
	lease := f.claim(t, 3)
	empty := f.claim(t, 3)
	for range 3 {
		wantSame(t, "stirred", f.stirred(t, empty.Mark), false)
		f.submitTo(t, CCHF, 1)
		f.mustAccept(t, f.lines(t, lease)[0])
	}
	f.age(t, leaseTime-time.Minute)
	wantSame(t, "stirred while the lease runs", f.stirred(t, empty.Mark), false)
	f.mustAccept(t, f.lines(t, lease)...)
	f.age(t, leaseTime)
	wantSame(t, "stirred after all is processed", f.stirred(t, empty.Mark), false)
	wantSame(t, "answers for nobody", len(f.allStirred(t)), 0)
}

func stirredAdded(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues)
	f.wantStirred(t, "a submission", func() { f.submit(t, 1) })
	f.wantStirred(t, "an edit", func() { f.mustEdit(t, versions[0], submitted(3)) })
	more := f.submit(t, 1)
	lease := f.claim(t, 1)
	f.wantStirred(t, "a give back", func() { f.giveBack(t, lease.AttemptID, false, 1) })
	f.wantStirred(t, "a freed lease", func() { f.free(t, queue.FreeLeases{Organism: WestNile, Entries: more}, 1) })
	f.quarantineEntries(t, more, 1)
	f.wantStirred(t, "requeuing", func() { f.requeue(t, queue.Selection{Organism: WestNile}, 1) })
	f.quarantineEntries(t, more, 1)
	f.wantStirred(t, "reprocessing", func() { f.reprocess(t, queue.Selection{Organism: WestNile, Entries: more}, 1) })
	f.setPaused(t, 0, true)
	f.submit(t, 1)
	f.wantStirred(t, "resuming", func() { f.setPaused(t, 0, false) })
}

func stirredLeaseEnd(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 1)
	f.claim(t, 1)
	f.wantStirred(t, "the lease end", func() { f.age(t, leaseTime) })
	f.wantStirred(t, "the next lease end", func() { f.age(t, leaseTime) })
	f.wantStirred(t, "a lease end and a sweep", func() {
		f.age(t, leaseTime)
		f.sweep(t)
	})
}

func stirredMany(t *testing.T, h Harness) {
	f := newFixture(t, h)
	nile, cchf := f.mark(t), f.claimFrom(t, CCHF, 0).Mark
	awaited := []queue.Awaited{
		{Organism: WestNile, PipelineVersion: 1, Mark: nile},
		{Organism: CCHF, PipelineVersion: 1, Mark: cchf},
		{Organism: WestNile, PipelineVersion: 1, Mark: "an old one"},
		{Organism: CCHF, PipelineVersion: 1, Mark: cchf},
	}
	wantSame(t, "stirred", f.allStirred(t, awaited...), []bool{false, false, true, false})
	f.submitTo(t, CCHF, 1)
	wantSame(t, "stirred", f.allStirred(t, awaited...), []bool{false, true, true, true})
}

func stirredOtherServer(t *testing.T, h Harness) {
	f := newFixture(t, h)
	other := f.second(t)
	f.wantStirred(t, "a submission through the other server", func() { other.submit(t, 1) })
	lease := other.claim(t, 1)
	wantSame(t, "claimed by the other server", claimed(lease), nil)
	other.submit(t, 1)
	lease = other.claim(t, 1)
	f.wantStirred(t, "a give back through the other server", func() { other.giveBack(t, lease.AttemptID, false, 1) })
}
