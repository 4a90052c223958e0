package queue

import (
	"context"
	"log/slog"
	"time"
)

// complainEvery is how often the same trouble is logged at most.
const complainEvery = time.Minute

// complaints logs errors of a loop that goes on, at most once a minute. It is for
// one goroutine.
type complaints struct {
	last  time.Time
	since int // errors that weren't logged
}

func (c *complaints) log(ctx context.Context, logger *slog.Logger, work string, err error) {
	now := time.Now() //nolint:forbidigo // paces the log; says nothing about leases
	if !c.last.IsZero() && now.Sub(c.last) < complainEvery {
		c.since++
		return
	}
	logger.LogAttrs(ctx, slog.LevelError, "background work failed and is tried again", slog.String("work", work), slog.Any("error", err), slog.Int("unlogged", c.since))
	c.last, c.since = now, 0
}
