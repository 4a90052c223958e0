package sqlite

import (
	"context"
	"errors"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// A part of a large lease that was undone and is given back again goes to where the
// queue begins then, and the parts after it go there too.
func TestGiveBack_L8_FindsItsPlaceAnewWhenItIsRepeated(t *testing.T) {
	t.Parallel()
	s, u, _ := submitted(t, 1)
	u.Entries = benchEntries(s, 3)
	if _, err := s.Submit(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	var leases []queue.GiveBack
	for range 2 {
		c := benchClaim(1)
		if _, err := s.Claim(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		leases = append(leases, queue.GiveBack{AttemptID: c.AttemptID, ClaimedBy: c.ClaimedBy, Undelivered: true})
	}
	var first int64
	err := s.write(t.Context(), func(ctx context.Context, t *tx) error {
		var organismID, version, now int64
		if err := t.row(ctx, "give_back_state", giveBackArgs(leases[0]), &organismID, &version, &now); err != nil {
			return err
		}
		return t.row(ctx, "first_rank", named("organism_id", organismID, "pipeline_version", version), &first)
	})
	if err != nil {
		t.Fatal(err)
	}
	// The writer is the test: it has the request beside another one that changes the
	// head of the queue, undoes both, and carries the request out alone.
	asked := &Store{writer: &writer{requests: make(chan *write)}, retry: s.retry, bell: s.bell}
	returned := make(chan error, 1)
	go func() {
		n, err := asked.giveBackAll(context.WithoutCancel(t.Context()), leases[1])
		if n != 1 {
			err = errors.Join(err, errors.New("not one entry was given back"))
		}
		returned <- err
	}()
	request := <-asked.writer.requests
	undone := errors.New("undone")
	err = s.write(t.Context(), func(ctx context.Context, t *tx) error {
		_, _, err := giveBack(ctx, t, &added{organisms: map[seqlease.Organism]bool{}}, s.retry, leases[0], nil)
		return errors.Join(err, request.fn(ctx, t), undone)
	})
	if !errors.Is(err, undone) {
		t.Fatal(err)
	}
	request.done <- s.write(t.Context(), request.fn)
	if err := <-returned; err != nil {
		t.Fatal(err)
	}
	var rank int64
	if err := outsider(t, s).QueryRowContext(t.Context(), "SELECT min(rank) FROM ticket").Scan(&rank); err != nil || rank != first-1 {
		t.Errorf("the entry has rank %d (%v), want %d", rank, err, first-1)
	}
}
