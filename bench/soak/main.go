//go:build linux

// Command soak lets a fleet of real processes work while faults happen at
// random, and checks that every promise of the queue held. It prints one line
// of counts, and exits with 1 if any promise was broken.
//
//	go -C bench run ./soak --store postgres --for 10m
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/seqlease/seqlease/internal/fault"
	"github.com/seqlease/seqlease/internal/pgcluster"
)

// The exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := soak(ctx)
	stop()
	os.Exit(code)
}

func soak(ctx context.Context) int {
	var (
		store   = flag.String("store", fault.Postgres, "postgres or sqlite")
		length  = flag.Duration("for", 10*time.Minute, "how long faults happen")
		every   = flag.Duration("every", 4*time.Second, "longest pause between two faults")
		seed    = flag.Uint64("seed", 0, "of everything that is random; one is drawn and told unless given")
		network = flag.Float64("network", 0.02, "chance of a request to be failed by the network")
		asJSON  = flag.Bool("json", false, "print a JSON object instead of a line")
		quiet   = flag.Bool("quiet", false, "don't tell the story on stderr")
	)
	flag.Parse()
	if flag.NArg() > 0 || *length <= 0 || *every <= 0 || *store != fault.Postgres && *store != fault.SQLite {
		flag.Usage()
		return exitUsage
	}
	if *seed == 0 {
		*seed = rand.Uint64() //nolint:gosec // which faults happen is no secret
	}
	dir, err := os.MkdirTemp("", "soak-")
	if err != nil {
		return fail(err)
	}
	_, _ = fmt.Fprintf(os.Stderr, "soak: seed %d, files in %s\n", *seed, dir)
	options, err := fleet(ctx, *store, dir)
	if err != nil {
		return fail(err)
	}
	options.Seed, options.NetworkFaults = *seed, *network
	if !*quiet {
		options.Tell = func(line string) { _, _ = fmt.Fprintln(os.Stderr, line) }
	}
	report, err := fault.Run(ctx, options, fault.Plan{Random: *length, Every: *every})
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "soak: the files are kept in", dir)
		return fail(err)
	}
	if err := print(report, *asJSON); err != nil {
		return fail(err)
	}
	if len(report.Violations) > 0 {
		for _, v := range report.Violations {
			_, _ = fmt.Fprintln(os.Stderr, "violation:", v)
		}
		_, _ = fmt.Fprintln(os.Stderr, "soak: the files are kept in", dir)
		return exitFailed
	}
	if err := os.RemoveAll(dir); err != nil {
		return fail(err)
	}
	return exitDone
}

// fleet is what is let work: on PostgreSQL with every clock hours wrong, if the
// library for that is there.
func fleet(ctx context.Context, store, dir string) (fault.Options, error) {
	programs := filepath.Join(dir, "programs")
	fleetDir := filepath.Join(dir, "fleet")
	for _, path := range []string{programs, fleetDir} {
		if err := os.Mkdir(path, 0o700); err != nil {
			return fault.Options{}, err
		}
	}
	built, err := fault.Build(ctx, programs)
	if err != nil {
		return fault.Options{}, err
	}
	o := fault.Options{
		Store: store, Dir: fleetDir, Programs: built, Servers: 1, Workers: 6, PerProcess: 1,
		PythonClocks: make([]time.Duration, 2), Pace: 150 * time.Millisecond, Backlog: 200, NoteBytes: 2 << 10, LargeBytes: 10 << 20, Poison: 3,
	}
	if store == fault.Postgres {
		o.Servers, o.PoolSizes = 2, []int{2, 8}
	}
	if _, err := pgcluster.ClockLibrary(); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "soak: all clocks are right:", err)
		return o, nil
	}
	if err := o.Programs.BuildShifted(ctx, programs); err != nil {
		return o, err
	}
	o.PythonClocks = []time.Duration{7 * time.Hour, -7 * time.Hour}
	o.WorkerClocks = []time.Duration{-6 * time.Hour, 6 * time.Hour, 100 * time.Hour}
	o.ServerClocks = []time.Duration{5 * time.Hour, -30 * time.Hour}
	if store == fault.Postgres {
		o.DatabaseClock = -6 * time.Hour
	} else {
		o.ServerClocks = nil // the embedded store's clock is its server's
	}
	return o, nil
}

func print(report *fault.Report, asJSON bool) error {
	if !asJSON {
		_, err := fmt.Println(report)
		return err
	}
	text, err := json.Marshal(report)
	if err == nil {
		_, err = fmt.Println(string(text))
	}
	return err
}

func fail(err error) int {
	_, _ = fmt.Fprintln(os.Stderr, "soak:", err)
	return exitFailed
}
