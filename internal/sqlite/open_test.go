package sqlite

import (
	"bufio"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

// childStore makes the test binary a process that serves the named store, with
// an upload under way, until its standard input ends.
const childStore = "SEQLEASE_TEST_CHILD_STORE"

// childDeletes makes it store so many entries instead, and delete them while it serves.
const childDeletes = "SEQLEASE_TEST_CHILD_DELETES"

// childApproves makes it store so many processed entries, and release them while it serves.
const childApproves = "SEQLEASE_TEST_CHILD_APPROVES"

func TestMain(m *testing.M) {
	if path := os.Getenv(childStore); path != "" {
		if err := serveAsChild(path); err != nil {
			_, _ = io.WriteString(os.Stdout, err.Error()+"\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func serveAsChild(path string) error {
	ctx := context.Background()
	s, err := Open(ctx, Options{Path: path})
	if err != nil {
		return err
	}
	approves := os.Getenv(childApproves)
	entries, err := strconv.Atoi(cmp.Or(approves, os.Getenv(childDeletes), "0"))
	if err != nil {
		return err
	}
	u, err := prepareUpload(ctx, s, cmp.Or(entries, 3*partEntries))
	if err != nil {
		return err
	}
	if entries > 0 {
		_, err = s.Submit(ctx, u)
	} else {
		_, err = beginUpload(ctx, s, u)
	}
	if err == nil && approves != "" {
		err = processAsChild(ctx, path)
	}
	if err != nil {
		return err
	}
	if _, err := io.WriteString(os.Stdout, "serving\n"); err != nil {
		return err
	}
	switch {
	case approves != "":
		_, err = s.Approve(ctx, approvalOf())
	case entries > 0:
		_, err = s.Delete(ctx, deletionOf(nil, u.GroupID))
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, s.Close())
}

// processAsChild gives all entries a result.
func processAsChild(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", dsn(path, map[string][]string{"_pragma": {"busy_timeout(5000)"}}))
	if err != nil {
		return err
	}
	return errors.Join(giveResults(ctx, db, "FALSE", packedBody(400)), db.Close())
}

// beginUpload stores all parts of an upload and leaves it unpublished.
func beginUpload(ctx context.Context, s *Store, u submission.Upload) (*upload, error) {
	up := &upload{Upload: u}
	if err := s.write(ctx, up.begin); err != nil {
		return nil, err
	}
	return up, s.storeParts(ctx, up)
}

// startChild starts another process on the store and waits until it serves.
func startChild(t *testing.T, path string, env ...string) *exec.Cmd {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(append(os.Environ(), childStore+"="+path), env...)
	if _, err := child.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "serving\n" {
		t.Fatalf("the child says %q (%v)", line, err)
	}
	return child
}

// killedOnce opens the store of a child that is killed once a query, as an outsider sees
// the store, counts something.
func killedOnce(t *testing.T, query string, env ...string) *Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	child := startChild(t, path, env...)
	db, err := sql.Open("sqlite", readerDSN(path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // nothing was written
	for n := 0; n == 0; {
		if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestOpen_B046_SecondProcessIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	child := startChild(t, path)
	alias := filepath.Join(t.TempDir(), "alias.db")
	if err := os.Symlink(path, alias); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, alias} {
		_, err := Open(t.Context(), Options{Path: name})
		if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), name) {
			t.Errorf("open %s: got error %v, want %v with the path", name, err, ErrInUse)
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()

	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatalf("open after the other process was killed: %v", err)
	}
	defer s.Close() //nolint:errcheck // the test is over
	wantNoLeftovers(t, s)
}

// wantNoLeftovers checks that nothing of any upload is stored, and that the next
// upload doesn't get an accession that was given out before.
func wantNoLeftovers(t *testing.T, s *Store) {
	t.Helper()
	db := outsider(t, s)
	for _, table := range []string{"upload", "upload_run", "entry", "submitted", "data_use_terms", "ticket"} {
		var n int
		if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s has %d rows (%v), want 0", table, n, err)
		}
	}
	u, err := prepareUpload(t.Context(), s, 1)
	if err != nil {
		t.Fatal(err)
	}
	mapping, err := s.Submit(t.Context(), u)
	if err != nil || len(mapping) != 1 {
		t.Fatalf("submit: %v, %v", mapping, err)
	}
	var before int
	if err := db.QueryRowContext(t.Context(), "SELECT last - 1 FROM counter WHERE name = 'accession'").Scan(&before); err != nil || before < 3*partEntries {
		t.Errorf("%d accessions were counted before (%v), want at least those of the removed upload", before, err)
	}
}

func TestOpen_L1_LeftoversAreRemoved(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	u, err := prepareUpload(t.Context(), s, 3*partEntries+1)
	if err != nil {
		t.Fatal(err)
	}
	up, err := beginUpload(t.Context(), s, u)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := s.GroupsOfEntries(t.Context(), versionsOf(up.mapping))
	if err != nil || len(groups) != 0 {
		t.Errorf("%d entries of an upload under way are seen (%v)", len(groups), err)
	}
	lease, err := s.Claim(t.Context(), benchClaim(10))
	if err != nil || len(lease.Entries) != 0 {
		t.Errorf("%d entries of an upload under way are claimed (%v)", len(lease.Entries), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(t.Context(), Options{Path: path}); err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // the test is over
	wantNoLeftovers(t, s)
}

func TestOpen_FilesAreTheOwnersOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "odd ?#%41&name.db")
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // the test is over
	if err := s.Register(t.Context(), storetest.Organisms()); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
		info, err := os.Stat(path + suffix)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, want := info.Mode().Perm(), os.FileMode(0o600); got != want {
			t.Errorf("%s has mode %v, want %v", suffix, got, want)
		}
	}
}

func TestOpen_MissingDirectoryIsNamed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "nowhere", "store.db")
	if _, err := Open(t.Context(), Options{Path: path}); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("got error %v, want one that names %s", err, path)
	}
	if _, err := Open(t.Context(), Options{}); err == nil {
		t.Error("a store without a path was opened")
	}
}

func TestOpen_L11_OldEngineIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version  string
		hasClock bool
		good     bool
	}{
		{"3.41.2", false, false},
		{"3.41.2", true, false},
		{"3.42.0", true, true},
		{"3.54.1", true, true},
		{"3.54.1", false, false},
		{"4.0", true, true},
		{"2.8.17", true, false},
		{"unknown", true, false},
	} {
		if err := checkVersion(c.version, c.hasClock); (err == nil) != c.good {
			t.Errorf("SQLite %s, clock %v: got error %v, want good %v", c.version, c.hasClock, err, c.good)
		}
	}
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	applied := func() (list []bool) {
		t.Helper()
		steps, err := MigrationStatus(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range steps {
			list = append(list, step.Applied)
		}
		return list
	}
	if got := applied(); len(got) < 3 || slices.Contains(got, true) {
		t.Errorf("before: got %v, want none of at least 3", got)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("asking for the status made the file: %v", err)
	}
	if err := Migrate(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	if got := applied(); len(got) < 3 || slices.Contains(got, false) {
		t.Errorf("beside a server: got %v, want all of at least 3", got)
	}
	mustExec(t, outsider(t, s), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Options{Path: path}); err == nil || !strings.Contains(err.Error(), "9999") {
		t.Errorf("got error %v for the schema of a newer seqlease, want one that names its version", err)
	}
}

// The engine is made for one version of its C library in Go; go.mod must not
// move it.
func TestEngine_HasItsOwnLibc(t *testing.T) {
	t.Parallel()
	list := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "go", args...).Output()
		if err != nil {
			t.Fatalf("go %v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	engine := list("list", "-m", "-f", "{{.Path}}@{{.Version}}", "modernc.org/sqlite")
	libc := list("list", "-m", "-f", "{{.Path}}@{{.Version}}", "modernc.org/libc")
	if !strings.Contains(list("mod", "graph")+"\n", engine+" "+libc+"\n") {
		t.Errorf("%s is built with %s, which isn't the one that it asks for", engine, libc)
	}
}

func TestClose_LeavesOneFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "store.db")
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateGroup(t.Context(), seqlease.NewGroup{GroupName: "Moss lab"}, "anna"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Group(t.Context(), 1); err != nil { // a reader is connected
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{"-wal", "-shm"} {
		if _, err := os.Stat(path + gone); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("store.db%s after the end: %v", gone, err)
		}
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(dir, "copy.db")
	if err := os.WriteFile(copied, content, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err = Open(t.Context(), Options{Path: copied})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if g, _, err := s.Group(t.Context(), 1); err != nil || g.GroupName != "Moss lab" {
		t.Errorf("in a copy of the file: group %q, %v", g.GroupName, err)
	}
}

func TestOpen_TheLogIsBroughtIntoTheFileWhileRunning(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	long := strings.Repeat("x", 200_000)
	for range 50 { // 10 MB; SQLite looks after each 4 MB
		if _, err := s.CreateGroup(t.Context(), seqlease.NewGroup{GroupName: long}, "anna"); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() < 5_000_000 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
}
