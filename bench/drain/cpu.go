package drain

import (
	"context"
	"time"

	"github.com/seqlease/seqlease/bench/measure"
)

// processorTime tells more than the clock where others share the machine.
type processorTime struct {
	server time.Duration // with all its connections; 0 where the system doesn't tell it
	client time.Duration // of this process
}

func (t processorTime) since(before processorTime) processorTime {
	return processorTime{t.server - before.server, t.client - before.client}
}

// processorTime is what was taken so far.
func (d database) processorTime(ctx context.Context) (t processorTime, err error) {
	if t.server, err = measure.ServerTime(ctx, d.pool); err != nil {
		return t, err
	}
	t.client, err = measure.OwnTime()
	return t, err
}
