package worker

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff lengthens the pauses of a streak of failures.
type backoff struct {
	max      time.Duration
	failures int
	spokeAt  time.Time
}

// failed counts a failure and returns how long to pause, and whether to tell
// people: of a streak only the first failure and then one a minute.
func (b *backoff) failed() (d time.Duration, loud bool) {
	d = min(firstBackoff<<min(b.failures, 20), b.max)
	b.failures++
	if loud = time.Since(b.spokeAt) >= quietTime; loud {
		b.spokeAt = time.Now()
	}
	return jitter(d), loud
}

// succeeded ends the streak.
func (b *backoff) succeeded() { b.failures, b.spokeAt = 0, time.Time{} }

// jitter returns a random duration between half of d and d, so that workers that
// failed together don't come back together.
func jitter(d time.Duration) time.Duration {
	if d < 2 {
		return d
	}
	return d/2 + rand.N(d/2) //nolint:gosec // a pause, not a secret
}

// pause waits for d or the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
