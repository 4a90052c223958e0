// Command bench measures seqlease against its targets: it starts a PostgreSQL
// cluster of its own with durable settings, lets contenders do the same work in
// turn, and prints a table of ratios.
//
//	go -C bench run . --json figures.json
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease/bench/measure"
	"github.com/seqlease/seqlease/internal/pgcluster"
)

// The exit codes. A target that isn't met is a figure, no failure of the bench.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// options are the flags.
type options struct {
	quick, nodePeers, list bool
	rounds                 int
	only                   *regexp.Regexp
	file, plans            string
}

// heapPercent is how much the heap grows between collections, as in `seqlease serve`:
// libraries and floors run in this process.
const heapPercent = 300

func main() {
	debug.SetGCPercent(heapPercent)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	o, err := parse(os.Args[1:], os.Stderr)
	if err != nil {
		os.Exit(exitUsage)
	}
	err = run(ctx, o, os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(exitFailed)
	}
	os.Exit(exitDone)
}

func parse(arguments []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.BoolVar(&o.quick, "quick", false, "do little work in one round: shows that all works, not how fast it is")
	flags.BoolVar(&o.nodePeers, "node-peers", false, "measure pg-boss and graphile-worker too; takes Node, and npm fetches them")
	flags.BoolVar(&o.list, "list", false, "list the experiments and end")
	flags.IntVar(&o.rounds, "rounds", 3, "how often each contender runs")
	only := flags.String("only", "", "run the experiments whose `NAME` matches this regular expression")
	flags.StringVar(&o.plans, "plans", "", "write the plans of claims and acceptances in different states to this `DIRECTORY`")
	flags.StringVar(&o.file, "json", "", "write the rows to this `FILE` too")
	if err := flags.Parse(arguments); err != nil {
		return o, err
	}
	var err error
	if o.only, err = regexp.Compile(*only); err != nil || o.rounds < 1 || flags.NArg() > 0 {
		flags.Usage()
		return o, errors.New("usage")
	}
	if o.quick {
		o.rounds = 1
	}
	return o, nil
}

func run(ctx context.Context, o options, stdout, stderr io.Writer) (err error) {
	if o.list {
		var names strings.Builder
		for _, e := range experiments() {
			names.WriteString(e.Name + "\n")
		}
		_, err := io.WriteString(stdout, names.String())
		return err
	}
	b := &measure.Bench{Quick: o.quick, NodePeers: o.nodePeers, Plans: o.plans, Tell: measure.Teller(stderr)}
	if b.Dir, err = os.MkdirTemp("", "bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.Dir)) }()
	b.Server = filepath.Join(b.Dir, "seqlease")
	build := exec.CommandContext(ctx, "go", "-C", "..", "build", "-o", b.Server, "./cmd/seqlease") //nolint:gosec // a file of our own; its modules are not the bench's
	build.Stderr = stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build the server: %w", err)
	}
	if b.Cluster, err = pgcluster.Start(ctx, pgcluster.Options{Durable: true, Settings: measure.Settings()}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Cluster.Stop()) }() //nolint:contextcheck // it must be stopped also when ctx has ended
	version, err := postgresVersion(ctx, b)
	if err != nil {
		return err
	}
	rows, err := measureAll(ctx, o, b)
	if err != nil {
		return err
	}
	if twice := measure.Twice(rows); len(twice) > 0 {
		return fmt.Errorf("several rows have the same name: %s", strings.Join(twice, "; "))
	}
	commit := measure.Commit(ctx, b.Server, "..")
	for i := range rows {
		rows[i].Commit = commit
	}
	if _, err := fmt.Fprintln(stdout, measure.Machine(version, commit)); err != nil {
		return err
	}
	if err := measure.WriteTable(stdout, rows); err != nil {
		return err
	}
	summary := measure.Summary(rows)
	if o.quick {
		summary = "Quick: all of it works. So little work says nothing about targets.\n" + summary
	}
	if _, err := io.WriteString(stdout, summary); err != nil || o.file == "" {
		return err
	}
	content, err := json.Marshal(rows, jsontext.Multiline(true))
	if err != nil {
		return err
	}
	return os.WriteFile(o.file, append(content, '\n'), 0o600) //nolint:gosec // the user names the file
}

func measureAll(ctx context.Context, o options, b *measure.Bench) ([]measure.Row, error) {
	rows := []measure.Row{}
	for _, e := range experiments() {
		if !o.only.MatchString(e.Name) {
			continue
		}
		if e.Skip != nil {
			if why := e.Skip(b); why != "" {
				b.Tell("%s is left out: %s", e.Name, why)
				continue
			}
		}
		results, err := e.Run(ctx, b, o.rounds)
		if err != nil {
			return nil, err
		}
		rows = append(rows, e.Rows(results)...)
	}
	return rows, nil
}

func postgresVersion(ctx context.Context, b *measure.Bench) (version string, err error) {
	address, drop, err := b.Database(ctx)
	if err != nil {
		return "", err
	}
	defer drop()
	c, err := pgx.Connect(ctx, address)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, c.Close(ctx)) }()
	err = c.QueryRow(ctx, "SHOW server_version").Scan(&version)
	return version, err
}
