package sqlite

import (
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

// TestRead_L13_LongReadsLeaveReaders has more lists than readers, none of which
// ends: claims go on beside them, and afterwards every list is served.
func TestRead_L13_LongReadsLeaveReaders(t *testing.T) {
	t.Parallel()
	s, _, _ := submitted(t, 10)
	inside, finish := make(chan struct{}, 2*maxReaders), make(chan struct{})
	letFinish := sync.OnceFunc(func() { close(finish) })
	defer letFinish() // also when a check fails
	var lists errgroup.Group
	for range 2 * maxReaders {
		lists.Go(func() error {
			_, err := s.List(t.Context(), submission.ListFilter{Organism: storetest.WestNile, Limit: 1}, func(submission.ListedEntry) error {
				inside <- struct{}{}
				<-finish
				return nil
			})
			return err
		})
	}
	for range maxLongReads {
		<-inside
	}
	for range 10 {
		lease, err := s.Claim(t.Context(), benchClaim(1))
		if err != nil || len(lease.Entries) != 1 {
			t.Fatalf("claimed %d entries: %v", len(lease.Entries), err)
		}
	}
	if got := len(inside); got != 0 {
		t.Errorf("%d lists more than %d are being read", got, maxLongReads)
	}
	letFinish()
	if err := lists.Wait(); err != nil {
		t.Error(err)
	}
	if got := len(inside); got != 2*maxReaders-maxLongReads {
		t.Errorf("%d lists were read afterwards, want %d", got, 2*maxReaders-maxLongReads)
	}
}
