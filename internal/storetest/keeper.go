package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// keeperCases check what the background keeper does, beside what is in quarantine.
func keeperCases() []testCase {
	return []testCase{
		{name: "L4_SweepChangesNothingThatIsSeen", check: keeperSweepSeen},
		{name: "L4_SweepLeavesRunningLeasesAlone", check: keeperSweepRunning},
		{name: "L4_SweepEndsAtMostSoManyLeases", check: keeperSweepLimit},
		{name: "L4_SweptEntriesAreNotedAsExpired", check: keeperSweepNotes},
		{name: "L4_B013_SweepAndClaimAtOnceLoseNothing", check: keeperSweepAgainstClaim},
		{name: "L4_TwoKeepersSweepAtOnce", needs: SecondStore, check: keeperSweepTwo},
		{name: "L9_SweepTellsWhoseLeasesRanOut", check: keeperSweepTellsWhose},
		{name: "Keeper_HistoryIsTrimmedByAge", check: keeperTrim},
	}
}

// sweep ends every lease that is past its end and returns how many they were.
func (f *fixture) sweep(t *testing.T) int {
	t.Helper()
	all := 0
	for {
		n, _, err := f.Sweep(t.Context(), 100)
		if err != nil {
			t.Fatalf("sweep: %v", err)
		}
		if all += n; n == 0 {
			return all
		}
	}
}

func keeperSweepSeen(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 6)
	f.claim(t, 2)
	f.claim(t, 2)
	f.age(t, leaseTime)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 6})
	wantSame(t, "leases ended", f.sweep(t), 2)
	wantSame(t, "leases ended once more", f.sweep(t), 0)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 6})
	fresh, lease := f.freshAndSuspects(t, suspects(4))
	wantSame(t, "fresh ones", claimed(fresh), versions[4:])
	wantSame(t, "swept ones", claimed(lease), versions[:4])
	wantSame(t, "attempts", attempts(lease), []int{2, 2, 2, 2})
}

func keeperSweepRunning(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 2)
	lease := f.claim(t, 2)
	f.age(t, leaseTime-time.Minute)
	wantSame(t, "leases ended", f.sweep(t), 0)
	f.mustAccept(t, f.lines(t, lease)...)
	f.age(t, leaseTime)
	wantSame(t, "leases ended of which nothing is held", f.sweep(t), 0)
}

func keeperSweepLimit(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 7)
	for range 7 {
		f.claim(t, 1)
	}
	f.age(t, leaseTime)
	for _, want := range []int{3, 3, 1, 0} {
		n, _, err := f.Sweep(t.Context(), 3)
		if err != nil {
			t.Fatalf("sweep: %v", err)
		}
		wantSame(t, "leases ended", n, want)
	}
}

func keeperSweepNotes(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 3)
	lease := f.claim(t, 3)
	f.mustAccept(t, f.lines(t, lease)[0])
	f.age(t, leaseTime)
	f.sweep(t)
	wantSame(t, "failures of what was accepted", f.history(t, versions[0]).Failures, nil)
	for _, av := range versions[1:] {
		failures := f.history(t, av).Failures
		if len(failures) != 1 {
			t.Fatalf("%s has %d failures, want 1", av, len(failures))
		}
		failure := failures[0]
		wantBetween(t, "expired", failure.At, f.now(t).Add(-time.Minute), f.now(t))
		failure.At = time.Time{}
		wantSame(t, "failure", failure, queue.Failure{
			PipelineVersion: 1, AttemptID: lease.AttemptID, Kind: queue.FailureExpired,
			WorkerID: "worker 1", ClaimedBy: worker, Counted: true,
		})
	}
}

func keeperSweepAgainstClaim(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 120)
	for range 12 {
		f.claim(t, 10)
	}
	f.age(t, leaseTime)
	var group errgroup.Group
	for range 2 {
		group.Go(func() error {
			for {
				if n, _, err := f.Sweep(t.Context(), 2); n == 0 || err != nil {
					return err
				}
			}
		})
	}
	seen := drain(t, f)
	if err := group.Wait(); err != nil {
		t.Fatalf("sweep: %v", err)
	}
	for _, e := range f.claim(t, suspects(120)).Entries { // what the sweepers had locked when the claims passed
		seen[e.AccessionVersion]++
	}
	wantOnce(t, seen, versions)
	for _, av := range versions {
		wantSame(t, "failures of "+av.String(), len(f.history(t, av).Failures), 1)
	}
}

func keeperSweepTwo(t *testing.T, h Harness) {
	f := newFixture(t, h)
	other := f.second(t)
	f.submit(t, 60)
	for range 30 {
		f.claim(t, 2)
	}
	f.age(t, leaseTime)
	counts := make(chan int, 2)
	for _, s := range []*fixture{f, other} {
		go func() {
			all := 0
			for {
				n, _, err := s.Sweep(t.Context(), 4)
				if err != nil {
					t.Errorf("sweep: %v", err)
				}
				if all += n; n == 0 {
					counts <- all
					return
				}
			}
		}()
	}
	wantSame(t, "leases ended by both", <-counts+<-counts+f.sweep(t), 30)
	wantSame(t, "claimed", len(f.claim(t, suspects(60)).Entries), 60)
}

// keeperSweepTellsWhose has two workers, and a lease that is swept bit by bit.
func keeperSweepTellsWhose(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 2501)
	for i, n := range []int{1, 2500} {
		c := ask(n)
		c.WorkerID = fmt.Sprintf("worker %d", i+1)
		f.claimAs(t, c)
	}
	f.age(t, leaseTime)
	var whose []string
	for range 10 {
		_, ended, err := f.Sweep(t.Context(), 1)
		if err != nil {
			t.Fatalf("sweep: %v", err)
		}
		for _, e := range ended {
			wantSame(t, "user", e.ClaimedBy, worker)
			whose = append(whose, e.WorkerID)
		}
	}
	slices.Sort(whose)
	wantSame(t, "leases that ran out", whose, []string{"worker 1", "worker 2"})
}

func keeperTrim(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 2)
	f.expire(t, 2, 2)
	f.sweep(t)
	f.age(t, time.Hour)
	lease := f.claim(t, suspects(2)) // a third, alone or not
	f.giveBack(t, lease.AttemptID, true, len(lease.Entries))
	trim := func(keep time.Duration, limit int) int {
		t.Helper()
		n, err := f.TrimHistory(t.Context(), keep, limit)
		if err != nil {
			t.Fatalf("trim the history: %v", err)
		}
		return n
	}
	wantSame(t, "records trimmed that are younger", trim(3*time.Hour, 1000), 0)
	all := 0
	for {
		n := trim(time.Minute, 2)
		if n > 2 {
			t.Fatalf("%d records were trimmed, want at most 2", n)
		}
		if all += n; n == 0 {
			break
		}
	}
	if all == 0 {
		t.Error("nothing was trimmed")
	}
	for _, av := range versions {
		history := f.history(t, av)
		wantSame(t, "claims and failures left", []int{len(history.Claims), len(history.Failures)}, []int{1, 1})
	}
}
