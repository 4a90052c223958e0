package storetest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

func reviseL10AtOnce(t *testing.T, h Harness) {
	f := newFixture(t, h)
	reviseAtOnce(t, f, f, f)
}

func reviseL10AtOnceElsewhere(t *testing.T, h Harness) {
	f := newFixture(t, h)
	reviseAtOnce(t, f, f, f.second(t))
}

// reviseAtOnce has servers revise the same entries, each in another order.
func reviseAtOnce(t *testing.T, f *fixture, servers ...*fixture) {
	t.Helper()
	for range 8 {
		versions := f.releasedEntries(t, 40)
		var all sync.WaitGroup
		errs := make([]error, len(servers))
		for i, server := range servers {
			mine := slices.Clone(versions)
			if i%2 == 1 {
				slices.Reverse(mine)
			}
			all.Go(func() { _, errs[i] = server.Revise(t.Context(), server.revision(mine...)) })
		}
		all.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
				continue
			}
			wantRefusedState(t, err, received(next(versions)...))
		}
		wantSame(t, "revisions that were stored", won, 1)
		lease := f.claim(t, 100)
		wantSame(t, "entries claimed", len(lease.Entries), len(versions))
		f.mustAccept(t, f.lines(t, lease)...) // leave nothing for the next round
	}
}

// stopped is a revision that waits for resume after the n-th entry.
func (f *fixture) stopped(n int, entries ...seqlease.AccessionVersion) (r submission.Revision, reached <-chan struct{}, resume func()) {
	at, goOn := make(chan struct{}), make(chan struct{})
	r = f.revision(entries...)
	all := r.Entries
	r.Entries = func(yield func(submission.PackedEntry, error) bool) {
		i := 0
		for e, err := range all {
			if i == n {
				close(at)
				<-goOn
			}
			if i++; !yield(e, err) {
				return
			}
		}
	}
	return r, at, sync.OnceFunc(func() { close(goOn) })
}

func reviseL10Waits(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.waitsForARevision(t, func(av seqlease.AccessionVersion) error {
		_, err := f.Revise(t.Context(), f.revision(av))
		return err
	})
}

func reviseL10RevocationWaits(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.waitsForARevision(t, func(av seqlease.AccessionVersion) error {
		_, err := f.Revoke(t.Context(), revocation(av.Accession))
		return err
	})
}

// waitsForARevision stops a revision midway: who adds a version to one of its entries
// isn't refused until it is sure that the revision is stored.
func (f *fixture) waitsForARevision(t *testing.T, add func(av seqlease.AccessionVersion) error) {
	t.Helper()
	versions := f.releasedEntries(t, 1300)
	r, reached, resume := f.stopped(1200, versions...)
	defer resume()
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { _, err := f.Revise(t.Context(), r); first <- err }()
	<-reached
	go func() { second <- add(versions[1299]) }()
	select {
	case err := <-second:
		t.Fatalf("the second one ended before the first: %v", err)
	case <-time.After(100 * time.Millisecond): // long enough for one that doesn't wait
	}
	resume()
	if err := <-first; err != nil {
		t.Fatalf("the first revision: %v", err)
	}
	wantRefusedState(t, <-second, received(next(versions[1299:])...))
}
