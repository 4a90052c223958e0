package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
	"github.com/seqlease/seqlease/internal/demo"
	"github.com/seqlease/seqlease/internal/pgcluster"
)

// checkDemo runs the demo and checks what it promises.
func checkDemo(t *testing.T, servers int, args ...string) {
	t.Helper()
	code, stdout, stderr := command(t, append([]string{"demo", "--json"}, args...)...)
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var r demo.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	if r.Organism != "zika" || r.Entries != 45 || r.Processed != r.Entries || r.Servers != servers {
		t.Errorf("organism %q, %d entries, %d processed, %d servers", r.Organism, r.Entries, r.Processed, r.Servers)
	}
	if r.WithErrors < 1 || r.Released != r.Processed-r.WithErrors {
		t.Errorf("%d with errors, %d released of %d", r.WithErrors, r.Released, r.Processed)
	}
	if r.AcceptedTwice != 0 || r.ExpiredLeases < 2 || r.RefusedLateResults < demo.Batch {
		t.Errorf("accepted twice %d, expired leases %d, refused late results %d", r.AcceptedTwice, r.ExpiredLeases, r.RefusedLateResults)
	}
	if len(r.Failed) > 0 {
		t.Errorf("failed checks: %v", r.Failed)
	}
}

func TestDemo_SQLite(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "kept")
	checkDemo(t, 1, "--keep", dir)
	for _, name := range []string{"config.yaml", "reference.fasta", "demo.db", "servers.log", "worker-4.log"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("kept directory: %v", err)
		}
	}
	secret, err := os.ReadFile(filepath.Join(dir, "servers.log"))
	if err != nil || strings.Contains(string(secret), "Bearer") {
		t.Errorf("the log shows tokens, or %v", err)
	}
	// Again on the same store: only what is of this run counts.
	checkDemo(t, 1, "--workers", "3", "--store", "sqlite:"+filepath.Join(dir, "demo.db"))
}

func TestDemo_LeavesTheWorkOfOthersAlone(t *testing.T) {
	t.Parallel()
	store := "sqlite:" + filepath.Join(t.TempDir(), "x.db")
	s := serveExample(t, "--store", store)
	group, err := s.submitter(t).CreateGroup(t.Context(), seqlease.NewGroup{GroupName: "g"})
	if err != nil {
		t.Fatal(err)
	}
	mappings, err := s.submitter(t).Submit(t.Context(), client.Submission{
		Organism: "zika", GroupID: group.GroupID,
		Metadata: testFile(t, "zika/metadata.tsv"), Sequences: testFile(t, "zika/sequences.fasta"),
	})
	if err != nil || len(mappings) != 45 {
		t.Fatalf("%d entries, %v", len(mappings), err)
	}
	s.stop(t)
	code, _, stderr := command(t, "demo", "--store", store)
	if code != exitFailed || !strings.Contains(stderr, `45 entries of organism "zika" that no demo submitted are waiting in this store`) {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// newDatabase returns the address of an empty database on a server of its own.
func newDatabase(t *testing.T) string {
	t.Helper()
	cluster, err := pgcluster.Start(t.Context(), pgcluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	database, err := cluster.NewDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return database
}

func TestDemo_PostgreSQLWithTwoServers(t *testing.T) {
	t.Parallel()
	database := newDatabase(t)
	checkDemo(t, 2, "--store", database)
}

func TestDemo_FinishesWhatAnInterruptedOneLeft(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	interrupt := writerFunc(func(p []byte) (int, error) {
		if strings.Contains(string(p), "SIGSTOP") {
			cancel()
		}
		return len(p), nil
	})
	store := "sqlite:" + filepath.Join(t.TempDir(), "x.db")
	if code := run(ctx, []string{"demo", "--store", store}, strings.NewReader(""), io.Discard, interrupt); code != exitFailed {
		t.Fatalf("exit code %d", code)
	}
	code, stdout, stderr := command(t, "demo", "--store", store)
	if code != exitDone || !strings.Contains(stderr, "entries are left of a demo that was interrupted") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}

func TestDemo_StopsAndReapsItsWorkersWhenInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	interrupt := writerFunc(func(p []byte) (int, error) {
		if strings.Contains(string(p), "SIGSTOP") { // a stopped worker is there now
			cancel()
		}
		return len(p), nil
	})
	var out output
	dir := t.TempDir()
	if code := run(ctx, []string{"demo", "--keep", dir}, strings.NewReader(""), &out, interrupt); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	// Workers name the directory in their arguments.
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		if arguments, _ := os.ReadFile(line); strings.Contains(string(arguments), dir) { // one that has ended can't be read
			t.Errorf("still running: %q", arguments)
		}
	}
	if out.String() != "" {
		t.Errorf("an interrupted demo printed an account: %s", out.String())
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestDemoReport_HasThePromisedFields(t *testing.T) {
	t.Parallel()
	var got []string
	for i := range reflect.TypeFor[demo.Report]().NumField() {
		got = append(got, reflect.TypeFor[demo.Report]().Field(i).Tag.Get("json"))
	}
	want := []string{
		"organism", "entries", "processed", "withErrors", "withWarnings", "released", "claims", "expiredLeases",
		"refusedLateResults", "acceptedTwice", "seconds",
	}
	got = slices.DeleteFunc(got, func(name string) bool { return !slices.Contains(want, name) })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}
