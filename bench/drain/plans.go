package drain

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seqlease/seqlease/bench/measure"
	"github.com/seqlease/seqlease/internal/pgcluster"
	"github.com/seqlease/seqlease/internal/postgres"
)

// plans writes the plans of the statements that the store really runs to files, if
// the bench is asked for them: on a server of its own, whose log can be read.
type plans struct {
	bench *measure.Bench // on which to run
	dir   string         // empty: no plans
	kind  string
	stop  func() error
}

func newPlans(ctx context.Context, b *measure.Bench, withSnapshot bool) (*plans, error) {
	p := &plans{bench: b, dir: b.Plans, stop: func() error { return nil }}
	if p.dir == "" {
		return p, nil
	}
	if withSnapshot {
		p.kind = ", old snapshot"
	}
	if err := os.MkdirAll(p.dir, 0o750); err != nil {
		return nil, err
	}
	settings := append(measure.Settings(), "logging_collector=on", "log_directory=log", "log_line_prefix=")
	c, err := pgcluster.Start(ctx, pgcluster.Options{Durable: true, Settings: settings})
	if err != nil {
		return nil, err
	}
	copied := *b
	copied.Cluster = c
	p.bench, p.stop = &copied, c.Stop
	return p, nil
}

func (p *plans) end() error { return p.stop() }

// explainedClaims are made by a store that remembers nothing, so that the first
// looks at the whole queue and the last ones are as usual.
const explainedClaims = 12

// explain lets another store, whose connections log the plans of their statements,
// claim and answer, and keeps the plans of the first and the last claim and of the
// last acceptance. It returns the numbers of the entries.
func (p *plans) explain(ctx context.Context, state string, q *storeDesign) (numbers []int64, err error) {
	if p.dir == "" {
		return nil, nil
	}
	address, err := explaining(q.pool.Config().ConnString())
	if err != nil {
		return nil, err
	}
	other := *q
	if other.Store, err = postgres.Open(ctx, postgres.Options{Address: address, MaxConnections: 1}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, other.Close()) }()
	var from int64
	if err := q.pool.QueryRow(ctx, statement("log_size")).Scan(&from); err != nil {
		return nil, err
	}
	for range explainedClaims {
		some, err := other.step(ctx)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, some...)
	}
	log, err := readLog(ctx, q.pool, from)
	if err != nil {
		return nil, err
	}
	whole, usual, accepted := explained(log, "-- seqlease claim ("), explained(log, "-- seqlease claim_fresh ("), explained(log, "-- seqlease accept_first (")
	if len(whole) == 0 || len(usual) == 0 || len(accepted) == 0 {
		return nil, errors.New("the server's log lacks plans")
	}
	for name, text := range map[string]string{
		"claim_fresh": usual[len(usual)-1], "claim": whole[0], "accept_first": accepted[len(accepted)-1],
	} {
		if err := os.WriteFile(filepath.Join(p.dir, name+", "+state+p.kind+".txt"), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	return numbers, nil
}

// explaining has every connection log the plans of its statements.
func explaining(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	settings := u.Query()
	settings.Set("session_preload_libraries", "auto_explain")
	for _, name := range []string{"log_analyze", "log_buffers", "log_wal", "log_nested_statements"} {
		settings.Set("auto_explain."+name, "on")
	}
	settings.Set("auto_explain.log_min_duration", "0")
	u.RawQuery = settings.Encode()
	return u.String(), nil
}

func readLog(ctx context.Context, pool *pgxpool.Pool, from int64) (log string, err error) {
	err = pool.QueryRow(ctx, statement("read_log"), from).Scan(&log)
	return log, err
}

// explained returns the messages about the statement whose text begins so. A message
// goes on in lines that begin with a tab.
func explained(log, begins string) (list []string) {
	var message strings.Builder
	keep := func() {
		if strings.Contains(message.String(), "Query Text: "+begins) {
			list = append(list, message.String())
		}
		message.Reset()
	}
	for line := range strings.Lines(log) {
		if !strings.HasPrefix(line, "\t") {
			keep()
		}
		message.WriteString(line)
	}
	keep()
	return list
}
