package queue

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// timed notes when verdicts come in.
type timed struct {
	*chores
	came chan time.Time
}

func (c timed) Quarantine(ctx context.Context, verdicts []Verdict) (int, error) {
	if len(verdicts) > 0 {
		c.came <- time.Now()
	}
	return c.chores.Quarantine(ctx, verdicts)
}

// TestKeeper_L9_QuarantinesWithin5Seconds uses up the attempts of an entry at many
// moments of the keeper's round.
func TestKeeper_L9_QuarantinesWithin5Seconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := timed{&chores{}, make(chan time.Time)}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- NewKeeper(c, KeeperOptions{}).Run(ctx) }()
		var longest time.Duration
		for i := range int64(500) {
			<-time.After(time.Duration(i) * 7 * time.Millisecond)
			spent := time.Now()
			c.mu.Lock()
			c.spents = append(c.spents, SpentTicket{Organism: "fern", EntryID: i + 1, Attempts: 5})
			c.mu.Unlock()
			longest = max(longest, (<-c.came).Sub(spent))
		}
		if longest > 5*time.Second || longest < time.Second {
			t.Errorf("an entry waited %s for its quarantine, want at most 5 s, and more than nothing", longest)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
