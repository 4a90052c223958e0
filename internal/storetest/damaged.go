package storetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// RunDamaged has the documents of 2,000 entries damaged or without their dictionary,
// more than any page has, among 20 good ones (B022): claims and the keeper go past
// them. spoil does that to every entry but those whose submission id ends in 00, and
// spend makes every ticket one that is used up.
func RunDamaged(t *testing.T, h Harness, spoil, spend func(t *testing.T, s Store)) {
	f := newFixture(t, h)
	versions := f.submit(t, 2020)
	spoil(t, f.Store)
	var good, bad []seqlease.AccessionVersion
	for i, av := range versions {
		if strings.HasSuffix(sampleID(i), "00") {
			good = append(good, av)
		} else {
			bad = append(bad, av)
		}
	}
	var served, leftOut []seqlease.AccessionVersion
	for round := 0; round < 9 && len(served) < len(good); round++ { // three, and those in which suspects have their turn
		lease := f.claim(t, 1000)
		delivered, _, damaged := f.deliver(t, lease)
		if err := f.queueOf(t).Damaged(t.Context(), lease.AttemptID, WestNile, damaged); err != nil {
			t.Fatal(err)
		}
		served, leftOut = append(served, claimed(delivered)...), append(leftOut, damaged...)
		f.mustAccept(t, f.lines(t, delivered)...)
	}
	for _, list := range [][]seqlease.AccessionVersion{served, leftOut} {
		slices.SortFunc(list, seqlease.AccessionVersion.Compare)
	}
	wantSame(t, "served", served, good)
	wantSame(t, "left out", slices.Compact(leftOut), bad)

	spend(t, f.Store)
	f.keepUntilNothingIsSpent(t)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: int64(len(versions))})
	list := f.quarantined(t)
	wantSame(t, "a page of the quarantine", len(list), 1000)
	for _, q := range list {
		if len(q.Failures) == 0 || q.Failures[0].Kind != queue.FailureDamaged || !strings.Contains(q.Reason, "can't be read") {
			t.Fatalf("%s is in quarantine for %q after %v, want that it can't be read", q.AccessionVersion, q.Reason, q.Failures)
		}
	}
}

// keepUntilNothingIsSpent runs a keeper until no ticket is used up.
func (f *fixture) keepUntilNothingIsSpent(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	kept := make(chan error, 1)
	go func() { kept <- queue.NewKeeper(f.Store, queue.KeeperOptions{}).Run(ctx) }()
	again := time.NewTicker(100 * time.Millisecond) // else it takes the keeper's time
	defer again.Stop()
	for left := 1; left > 0; <-again.C {
		spent, err := f.Spent(ctx, 1)
		if err != nil {
			t.Fatalf("the keeper leaves tickets that are used up: %v", err)
		}
		left = len(spent)
	}
	stop()
	if err := <-kept; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
