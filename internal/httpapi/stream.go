package httpapi

import (
	"context"
	"fmt"
)

// streamedLine is how large the buffer for the lines of a streamed body may get.
const streamedLine = 256 << 10

// stream lets a body of results be worked on while it comes, without a detour by the
// disk, and says whether it may be: only where that costs next to no memory however
// slow the client is. It takes a turn for the work on what has come, and gives it
// back before it waits for the client again. A body that turns out not to be small
// is settled.
func (b *requestBody) stream() bool {
	if b.open != nil || !b.budget.streams.TryAcquire(1) {
		return false
	}
	b.streamed = true
	return true
}

// settle has the rest of a body of results fetched from the client, and then a place
// held until the answer begins. Further calls do nothing.
func (b *requestBody) settle(ctx context.Context) error {
	if b.settled {
		return nil
	}
	b.settled = true
	b.pause()
	if err := b.fetch(); err != nil {
		return err
	}
	err := b.hold(ctx, b.budget.results)
	b.endStream()
	return err
}

// work waits until what came of a streamed body may be worked on. A settled one
// holds a place.
func (b *requestBody) work(ctx context.Context) error {
	if !b.streamed || b.working {
		return nil
	}
	if !b.budget.turns.TryAcquire(1) {
		if err := b.budget.turns.Acquire(ctx, 1); err != nil {
			return fmt.Errorf("wait for a turn: %w", err)
		}
		if client, ok := b.source.(*patientBody); ok {
			client.owed = 0 // it is not to blame for the time: the next read sets another deadline
		}
	}
	b.working = true
	return nil
}

// pause gives the turn to others while the client is waited for.
func (b *requestBody) pause() {
	if b.working {
		b.working = false
		b.budget.turns.Release(1)
	}
}

func (b *requestBody) endStream() {
	b.pause()
	if b.streamed {
		b.streamed = false
		b.budget.streams.Release(1)
	}
}

// streamedBody is a body of results to read from.
type streamedBody struct{ body *requestBody }

// Read waits for the client with nothing in its hands.
func (s streamedBody) Read(p []byte) (int, error) {
	s.body.pause()
	return s.body.Read(p)
}
