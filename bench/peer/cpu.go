package peer

import (
	"context"
	"os"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease/bench/measure"
)

// processor is the figure of what server and clients take of the processors, in µs
// for each job. Where the system doesn't tell it, it is 0.
const processor = "processor µs"

// drainFigures are those of package drain whose sum it is.
var drainFigures = []string{"server µs", "client µs"}

// withProcessor adds the figure to a contender of package drain.
func withProcessor(c measure.Contender) measure.Contender {
	run := c.Run
	c.Run = func(ctx context.Context, b *measure.Bench) (measure.Sample, error) {
		sample, err := run(ctx, b)
		if err != nil {
			return nil, err
		}
		sum := 0.0
		for _, name := range drainFigures {
			sum += sample[name]
		}
		sample[processor] = sum
		return sample, nil
	}
	return c
}

// processorTime is what the server with its connections, ended ones too, and this
// process with its programs have taken so far.
func processorTime(ctx context.Context, c *pgx.Conn) (time.Duration, error) {
	server, err := measure.ServerTime(ctx, c)
	if err != nil {
		return 0, err
	}
	own, err := measure.FamilyTime(os.Getpid())
	return server + own, err
}

// byProcessor says how many times what ours takes of the processors theirs takes,
// which the machine's other work disturbs less than rates.
func byProcessor(r *measure.Results, ours, theirs string) string {
	if r.Of(ours, processor).Low <= 0 || r.Of(theirs, processor).Low <= 0 {
		return ""
	}
	return "; by processor time of server and clients " + strconv.FormatFloat(r.Ratio(theirs, ours, processor).Figure, 'f', 2, 64) + " ×"
}
