//go:build linux

package fault_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seqlease/seqlease/internal/fault"
	"github.com/seqlease/seqlease/internal/fault/evidence"
	"github.com/seqlease/seqlease/internal/fault/proxy"
	"github.com/seqlease/seqlease/internal/pgcluster"
	"github.com/seqlease/seqlease/internal/queue"
)

// further is how long each fleet suffers random faults after those of its test.
var further = flag.Duration("fault.for", 0, "let faults happen at random for so long after those of each test")

// fleets is how many run at once on a small machine.
const fleets = 4

// programs are built once for all tests.
var programs = sync.OnceValues(func() (fault.Programs, error) {
	return fault.Build(context.Background(), programDir)
})

// shiftedPrograms are built from the standard library up.
var shiftedPrograms = sync.OnceValues(func() (fault.Programs, error) {
	p, err := programs()
	if err != nil {
		return p, err
	}
	return p, p.BuildShifted(context.Background(), programDir)
})

var programDir string

func TestMain(m *testing.M) {
	flag.Parse()
	// Most of a fleet's time is spent waiting for leases to end: more of them than
	// cores fit beside each other.
	if err := flag.Set("test.parallel", strconv.Itoa(max(fleets, runtime.GOMAXPROCS(0)))); err != nil {
		panic(err)
	}
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "fault-programs-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the system removes temporary files too
	programDir = dir
	code := m.Run()
	if left := children(); len(left) > 0 {
		fmt.Fprintln(os.Stderr, "processes are left over:", left)
		return 1
	}
	return code
}

// children finds processes whose parent is this one (proc(5)).
func children() []string {
	var left []string
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is constant
	for _, path := range stats {
		content, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(content[strings.LastIndexByte(string(content), ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) {
			left = append(left, string(content[:min(len(content), 60)]))
		}
	}
	return left
}

// run lets a fleet suffer, and fails the test if a promise was broken.
func run(t *testing.T, o fault.Options, plan fault.Plan) *fault.Report {
	t.Helper()
	if o.Store == fault.Postgres && os.Getenv("SEQLEASE_TEST_POSTGRES") != "" {
		t.Skip(pgcluster.ErrNotOurs)
	}
	var err error
	if o.Programs.Server == "" {
		if o.Programs, err = programs(); err != nil {
			t.Fatal(err)
		}
	}
	if o.Dir, err = os.MkdirTemp("", "fault-"); err != nil { //nolint:usetesting // the files of a failed run are kept
		t.Fatal(err)
	}
	o.Tell = func(line string) { t.Log(line) }
	if o.Seed == 0 {
		o.Seed = 1
	}
	o.PerProcess, o.Backlog = max(o.PerProcess, 1), max(o.Backlog, 150)
	plan.Random, plan.Every = *further, 3*time.Second
	report, err := fault.Run(t.Context(), o, plan)
	if err != nil {
		t.Fatalf("%v; the files are in %s", err, o.Dir)
	}
	t.Log(report)
	for i, v := range report.Violations {
		if i == 20 {
			t.Errorf("and %d more", len(report.Violations)-i)
			break
		}
		t.Error(v)
	}
	if t.Failed() {
		t.Logf("the files are in %s", o.Dir)
	} else if err := os.RemoveAll(o.Dir); err != nil {
		t.Error(err)
	}
	if report.Accepted == 0 || report.Snapshots == 0 {
		t.Errorf("%d results and %d snapshots prove nothing", report.Accepted, report.Snapshots)
	}
	return report
}

// processes are the faults of processes, as far as a fleet with that store has
// them (B001, B002, B041, B047, B049).
func TestFault_PostgresProcesses(t *testing.T) {
	t.Parallel()
	report := run(t, fault.Options{Store: fault.Postgres, Servers: 2, Workers: 7, PythonClocks: make([]time.Duration, 1), Pace: 40 * time.Millisecond}, fault.Plan{Steps: [][]fault.Kind{
		{fault.WorkerFrozen, fault.WorkerKilled, fault.WorkerKilled, fault.ServerKilled},
		{fault.UnawareFrozen, fault.DatabaseKilled, fault.ServerFrozen},
		{fault.DatabaseCrashed, fault.WorkerKilled},
		{fault.WorkerFrozen, fault.ServerRestarted, fault.SessionsCut, fault.IdleTransaction},
		{fault.LeaseFreed, fault.Quarantined, fault.Reprocessed, fault.QueuePaused},
		{fault.AllFrozen},
	}})
	if report.Refused == 0 {
		t.Error("no late result was refused: nobody was late")
	}
}

func TestFault_SQLiteProcesses(t *testing.T) {
	t.Parallel()
	report := run(t, fault.Options{Store: fault.SQLite, Servers: 1, Workers: 5, PythonClocks: make([]time.Duration, 1), Pace: 40 * time.Millisecond}, fault.Plan{Steps: [][]fault.Kind{
		{fault.UnawareFrozen, fault.WorkerKilled, fault.ServerKilled},
		{fault.WorkerFrozen, fault.ServerKilled, fault.WorkerKilled},
		{fault.ServerFrozen, fault.LeaseFreed, fault.Quarantined, fault.Reprocessed},
		{fault.AllFrozen},
		{fault.QueuePaused, fault.LeaseFreed, fault.Reprocessed, fault.WorkerKilled},
		{fault.AllFrozen},
	}})
	if report.Refused == 0 {
		t.Error("no late result was refused: nobody was late")
	}
}

// The network loses, cuts, delays and repeats what workers, submitters and
// servers say (B011, B043), while processes die too.
func TestFault_PostgresNetwork(t *testing.T) {
	t.Parallel()
	wantNetworkFaults(t, run(t, fault.Options{
		Store: fault.Postgres, Servers: 2, Workers: 5, PythonClocks: make([]time.Duration, 1), Pace: 20 * time.Millisecond, NetworkFaults: 0.15,
	}, fault.Plan{Steps: [][]fault.Kind{
		{fault.WorkerPaused, fault.ConnectionsReset},
		{fault.DatabaseFrozen, fault.WorkerKilled, fault.ConnectionsReset},
	}}))
}

func TestFault_SQLiteNetwork(t *testing.T) {
	t.Parallel()
	wantNetworkFaults(t, run(t, fault.Options{
		Store: fault.SQLite, Servers: 1, Workers: 5, PythonClocks: make([]time.Duration, 1), Pace: 20 * time.Millisecond, NetworkFaults: 0.15,
	}, fault.Plan{Steps: [][]fault.Kind{
		{fault.WorkerPaused, fault.ConnectionsReset},
		{fault.ServerRestarted, fault.WorkerKilled},
	}}))
}

func wantNetworkFaults(t *testing.T, report *fault.Report) {
	t.Helper()
	for _, kind := range proxy.Kinds {
		if report.Faults[string(kind)] == 0 {
			t.Errorf("no request met the fault %q: let the test run longer", kind)
		}
	}
}

// Clocks are hours wrong and differ (L11, B047): the database's, which decides,
// is put ahead in the middle, and all others decide nothing.
func TestFault_PostgresClocks(t *testing.T) {
	t.Parallel()
	if _, err := pgcluster.ClockLibrary(); err != nil {
		t.Fatal(err)
	}
	programs, err := shiftedPrograms()
	if err != nil {
		t.Fatal(err)
	}
	const hours = time.Hour
	workers, python := []time.Duration{-6 * hours, 6 * hours, 100 * hours, 0}, []time.Duration{7 * hours, -7 * hours}
	report := run(t, fault.Options{
		Store: fault.Postgres, Programs: programs, Servers: 2, Workers: 4, Pace: 40 * time.Millisecond,
		DatabaseClock: -6 * hours, ServerClocks: []time.Duration{6 * hours, -30 * hours},
		WorkerClocks: workers, PythonClocks: python,
	}, fault.Plan{Steps: [][]fault.Kind{
		{fault.WorkerFrozen, fault.WorkerKilled},
		{fault.DatabaseClockAhead},
		{fault.DatabaseClockAhead, fault.ServerKilled},
	}})
	booted := float64(time.Now().Unix()) - evidence.Uptime()
	for place, clock := range slices.Concat(workers, python) {
		i := slices.IndexFunc(report.Lines, func(l evidence.Line) bool {
			return l.Accepted() && strings.HasPrefix(l.Worker, fmt.Sprintf("worker-%d-", place))
		})
		if i < 0 {
			t.Errorf("no result of the worker in place %d was accepted", place)
			continue
		}
		l := report.Lines[i]
		if off := float64(l.Clock) - booted - l.Got; math.Abs(off-clock.Seconds()) > 60 {
			t.Errorf("the clock of %s was wrong by %.0f s, want %s", l.Worker, off, clock)
		}
	}
}

// The embedded store's disk is full for a while: what doesn't fit is refused as
// such, nothing accepted is lost, and work goes on when there is room (B037).
func TestFault_SQLiteDiskFull(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("a disk of its own that can be filled takes root, to mount it")
	}
	report := run(t, fault.Options{Store: fault.SQLite, Servers: 1, Workers: 4, Pace: 10 * time.Millisecond, Backlog: 1500, NoteBytes: 8 << 10}, fault.Plan{Steps: [][]fault.Kind{
		{fault.DiskFull},
		{fault.DiskFull, fault.WorkerKilled},
		{fault.DiskFull, fault.ServerKilled},
	}})
	full := slices.ContainsFunc(report.Lines, func(l evidence.Line) bool { return l.Status == http.StatusInsufficientStorage })
	if !full {
		t.Error("no worker was told that the disk is full")
	}
}

// Every worker that gets a poisoned entry dies and is started again (L9, B016):
// the entry ends in quarantine, and none of its neighbours does.
func TestFault_SQLitePoison(t *testing.T) { wantOnlyPoisonQuarantined(t, fault.SQLite) }

func TestFault_PostgresPoison(t *testing.T) { wantOnlyPoisonQuarantined(t, fault.Postgres) }

func wantOnlyPoisonQuarantined(t *testing.T, store string) {
	t.Parallel()
	const poisoned = 2
	report := run(t, fault.Options{
		Store: store, Servers: 1, Workers: 3, PythonClocks: make([]time.Duration, 1), Pace: 10 * time.Millisecond,
		Entries: 300, Poison: poisoned,
	}, fault.Plan{Steps: [][]fault.Kind{{fault.ConnectionsReset}}})
	if report.Poisoned < poisoned || report.Quarantined != report.Poisoned {
		t.Errorf("%d entries are quarantined, want the %d poisoned ones, at least %d", report.Quarantined, report.Poisoned, poisoned)
	}
	// Operators, if there are any, let an entry begin anew.
	again := report.Faults[string(fault.Requeued)] + report.Poisoned*report.Faults[string(fault.Quarantined)]
	if n, most := report.Faults[string(fault.WorkerPoisoned)], (report.Poisoned+again)*queue.DefaultRetry.Attempts; n > most {
		t.Errorf("workers died %d times, want at most %d", n, most)
	}
}
