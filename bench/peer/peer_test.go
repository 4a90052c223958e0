package peer

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease/bench/measure"
	"github.com/seqlease/seqlease/internal/pgcluster"
)

// quickBench does little work on a server of its own.
func quickBench(t *testing.T) *measure.Bench {
	t.Helper()
	c, err := pgcluster.Start(t.Context(), pgcluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return &measure.Bench{Cluster: c, Dir: t.TempDir(), Quick: true, Tell: t.Logf}
}

// TestRiver: both ways to use it end with all jobs done, or the run has an error.
func TestRiver(t *testing.T) {
	t.Parallel()
	b := quickBench(t)
	for _, transactional := range []bool{false, true} {
		c := riverMode{clients: 2, workers: 4, pool: 4, transactional: transactional}.contender()
		sample, err := c.Run(t.Context(), b)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		if sample[measure.Rate] <= 0 {
			t.Errorf("%s: %s", c.Name, sample)
		}
	}
}

// TestAwait: a drain has ended when nothing is open, and then as many results are
// stored as there were jobs.
func TestAwait(t *testing.T) {
	t.Parallel()
	address, drop, err := quickBench(t).Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer drop()
	c, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	// One job less is open with each look.
	if _, err := c.Exec(t.Context(), "CREATE SEQUENCE open INCREMENT -1 MINVALUE 0 MAXVALUE 3 START 3"); err != nil {
		t.Fatal(err)
	}
	for jobs, good := range map[int]bool{2: false, 3: true, 4: false} {
		if _, err := c.Exec(t.Context(), "ALTER SEQUENCE open RESTART"); err != nil {
			t.Fatal(err)
		}
		w := &workload{jobs: jobs, openSQL: "SELECT nextval('open')", storedSQL: "SELECT $1::int", resultBytes: 3}
		if _, err := w.await(t.Context(), c, time.Now()); (err == nil) != good {
			t.Errorf("%d jobs, 3 stored: error %v", jobs, err)
		}
		var last int
		if err := c.QueryRow(t.Context(), "SELECT last_value FROM open").Scan(&last); err != nil || last != 0 {
			t.Errorf("it ended with %d jobs open: %v", last, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	w := &workload{jobs: 1, openSQL: "SELECT 1"}
	if _, err := w.await(ended, c, time.Now()); err == nil {
		t.Error("a drain that doesn't end has no error")
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestPinned: npm installs the versions that are written down, and no others.
func TestPinned(t *testing.T) {
	t.Parallel()
	var wanted struct {
		Dependencies         map[string]string `json:"dependencies"`
		OptionalDependencies map[string]string `json:"optionalDependencies"`
	}
	var locked struct {
		Packages map[string]struct {
			Version   string `json:"version"`
			Integrity string `json:"integrity"`
		} `json:"packages"`
	}
	decode(t, "node/package.json", &wanted)
	decode(t, "node/package-lock.json", &locked)
	for _, list := range []map[string]string{wanted.Dependencies, wanted.OptionalDependencies} {
		for name, version := range list {
			if p := locked.Packages["node_modules/"+name]; p.Version != version {
				t.Errorf("%s: locked is %q, want %q", name, p.Version, version)
			}
		}
	}
	for name, p := range locked.Packages {
		if name != "" && p.Integrity == "" {
			t.Errorf("%s: no checksum", name)
		}
	}
}

func decode(t *testing.T, name string, to any) {
	t.Helper()
	content, err := nodeFiles.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, to); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// TestPrograms: Node can read the programs.
func TestPrograms(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("Node isn't installed")
	}
	programs, err := fs.Glob(nodeFiles, "node/*.mjs")
	if err != nil {
		t.Fatal(err)
	}
	for _, wanted := range []string{pgbossProgram, graphileProgram} {
		if !slices.Contains(programs, "node/"+wanted) {
			t.Errorf("no %s among %q", wanted, programs)
		}
	}
	for _, p := range programs {
		if out, err := exec.CommandContext(t.Context(), node, "--check", p).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", p, err, out)
		}
	}
}

// TestStatements: each begins with a line that names it.
func TestStatements(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("sql/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(content), "\n")
		want := "-- seqlease bench_" + strings.TrimSuffix(filepath.Base(name), ".sql") + " ("
		if !strings.HasPrefix(first, want) {
			t.Errorf("%s: begins with %q, want %q", name, first, want)
		}
	}
}

// TestDocument: jobs and results are as large as is said.
func TestDocument(t *testing.T) {
	t.Parallel()
	content, err := json.Marshal(riverEntry{Text: document(1)})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(content), documentBytes; got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
}

// TestProcessor: the store's drain has the figure that peers are compared with.
func TestProcessor(t *testing.T) {
	t.Parallel()
	sample, err := storeDrain().Run(t.Context(), quickBench(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(drainFigures, processor, measure.Rate) {
		if _, there := sample[name]; !there {
			t.Errorf("no figure %q: %s", name, sample)
		}
	}
}
