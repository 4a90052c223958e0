package wire

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease/bench/measure"
)

// CPUTime is the processor time of all that takes part: the servers, this process
// with its workers, and the connections of PostgreSQL.
type CPUTime struct {
	Servers, Workers, Database time.Duration
}

// Since is what was taken since an earlier time.
func (t CPUTime) Since(before CPUTime) CPUTime {
	return CPUTime{t.Servers - before.Servers, t.Workers - before.Workers, t.Database - before.Database}
}

// Figures are the times of n entries, in µs each.
func (t CPUTime) Figures(n int) measure.Sample {
	each := func(t time.Duration) float64 { return float64(t.Microseconds()) / float64(n) }
	return measure.Sample{
		ServerCPU: each(t.Servers), DatabaseCPU: each(t.Database), AllCPU: each(t.Servers + t.Workers + t.Database),
	}
}

// The figures of processor time, in µs for each entry.
const (
	ServerCPU   = "server µs"
	DatabaseCPU = "database µs"
	AllCPU      = "all µs" // the workers' included
)

// CPU is what was taken so far. Of the database only the connections that are open
// count, and nothing of an embedded one.
func (s *Site) CPU(ctx context.Context) (t CPUTime, err error) {
	for _, server := range s.Servers {
		took, err := server.CPU()
		if err != nil {
			return t, err
		}
		t.Servers += took
	}
	var pids []int
	if s.Database != "" {
		if pids, err = s.backends(ctx); err != nil {
			return t, err
		}
	}
	beside, err := CPU(pids...)
	t.Workers, t.Database = beside.Workers, beside.Database
	return t, err
}

// CPU is what this process and connections of PostgreSQL, by their process ids, have
// taken so far.
func CPU(backends ...int) (t CPUTime, err error) {
	if t.Workers, err = measure.OwnTime(); err != nil {
		return t, err
	}
	for _, pid := range backends {
		took, err := measure.ProcessTime(pid)
		if errors.Is(err, os.ErrNotExist) {
			continue // the connection has ended
		}
		if err != nil {
			return t, err
		}
		t.Database += took
	}
	return t, nil
}

// backends are the process ids of the servers' connections.
func (s *Site) backends(ctx context.Context) (pids []int, err error) {
	c, err := pgx.Connect(ctx, s.Database)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close(context.WithoutCancel(ctx))) }()
	rows, err := c.Query(ctx, "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int])
}
