package peer

import (
	"context"
	_ "embed"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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

//go:embed sql/server_process.sql
var serverProcessSQL string

// clockTick is the unit of times in /proc/PID/stat (proc(5)).
const clockTick = 10 * time.Millisecond

// The fields of /proc/PID/stat behind the name, from 0.
const (
	fieldParent      = 1
	fieldUser        = 11 // then those of the system, and both of ended children
	fieldSystem      = 12
	fieldEndedSystem = 14
)

// processorTime is what the server with its connections, ended ones too, and this
// process with its programs have taken so far.
func processorTime(ctx context.Context, c *pgx.Conn) (took time.Duration, err error) {
	var file string
	if err := c.QueryRow(ctx, serverProcessSQL).Scan(&file); err != nil {
		return 0, err
	}
	server, _, _ := strings.Cut(file, "\n")
	own := strconv.Itoa(os.Getpid())
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	for _, name := range files {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(stat), ") ") // the name may hold anything
		fields := strings.Fields(rest)
		if len(fields) <= fieldEndedSystem {
			continue
		}
		last := fieldSystem
		switch pid, parent := filepath.Base(filepath.Dir(name)), fields[fieldParent]; {
		case pid == server, pid == own:
			last = fieldEndedSystem
		case parent != server && parent != own:
			continue
		}
		for _, field := range fields[fieldUser : last+1] {
			ticks, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return 0, err
			}
			took += time.Duration(ticks) * clockTick
		}
	}
	return took, nil
}

// byProcessor says how many times what ours takes of the processors theirs takes,
// which the machine's other work disturbs less than rates.
func byProcessor(r *measure.Results, ours, theirs string) string {
	if r.Of(ours, processor).Low <= 0 || r.Of(theirs, processor).Low <= 0 {
		return ""
	}
	return "; by processor time of server and clients " + strconv.FormatFloat(r.Ratio(theirs, ours, processor).Median, 'f', 2, 64) + " ×"
}
