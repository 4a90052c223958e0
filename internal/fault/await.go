package fault

import (
	"context"
	"fmt"
	"time"
)

// look is how often a condition is looked at.
const look = 50 * time.Millisecond

// await waits until the condition holds. The condition also says what it found,
// for the error that tells what was waited for in vain.
func await(ctx context.Context, what string, within time.Duration, holds func(context.Context) (bool, string)) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		ok, found := holds(ctx)
		if ok {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("waited %s for %s; at the end: %s", within, what, found)
		}
	}
}

// pause waits for the duration or for the end of ctx: a fault takes its time.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
