package worker

import (
	"slices"
	"testing"
	"time"
)

// TestBackoff_B031_ReturnsAreSpread has many workers whose server is away from the
// same instant on for a minute, in which each tries as its pauses say, and counts
// their tries second by second when it is back: no second has more than twice
// what comes on the average, nor is any empty.
func TestBackoff_B031_ReturnsAreSpread(t *testing.T) {
	t.Parallel()
	const workers, away = 1000, time.Minute
	returns := make([]int, DefaultMaxBackoff/time.Second) // within one longest pause
	for range workers {
		b := backoff{max: DefaultMaxBackoff}
		at := time.Duration(0)
		for at < away {
			d, _ := b.failed()
			at += d
		}
		returns[min(int((at-away)/time.Second), len(returns)-1)]++
	}
	// A pause of 15 to 30 s has begun somewhere within the outage: most come back in
	// the first 15 s, and fewer and fewer after that.
	busiest, steady := slices.Max(returns), workers/(int(DefaultMaxBackoff/time.Second)*3/4)
	if busiest > 2*steady {
		t.Errorf("%d of %d workers come back within one second, more than twice the steady %d: %v", busiest, workers, steady, returns)
	}
	if slices.Contains(returns[:15], 0) {
		t.Errorf("nobody comes back in some second: %v", returns)
	}
}

// TestBackoff_B031_FirstPausesAreSpread has workers that fail for the first time at
// the same instant: no tenth of the longest first pause has more than a quarter of
// their tries.
func TestBackoff_B031_FirstPausesAreSpread(t *testing.T) {
	t.Parallel()
	const workers = 1000
	var tries [10]int
	for range workers {
		d, _ := (&backoff{max: DefaultMaxBackoff}).failed()
		tries[min(int(d*10/firstBackoff), 9)]++
	}
	if busiest := slices.Max(tries[:]); busiest > workers/4 {
		t.Errorf("%d of %d first tries come within %s: %v", busiest, workers, firstBackoff/10, tries)
	}
}
