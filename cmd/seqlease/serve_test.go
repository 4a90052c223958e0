package main

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
)

// served is a server in a process of its own.
type served struct {
	url     string
	process *exec.Cmd
	log     *output
	// stopping is closed when the server says that it stops.
	stopping chan struct{}
	ended    chan error
}

// serveExample starts `seqlease serve` with config/example.yaml, on a free port unless told,
// and waits until it says where.
func serveExample(t *testing.T, args ...string) *served {
	t.Helper()
	return serveConfig(t, "../../config/example.yaml", args...)
}

// serveConfig is [serveExample] with another configuration.
func serveConfig(t *testing.T, config string, args ...string) *served {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &served{log: &output{}, stopping: make(chan struct{}), ended: make(chan error, 1)}
	s.process = exec.CommandContext(t.Context(), self, append([]string{
		"serve", "--config", config,
	}, args...)...)
	s.process.Env = os.Environ()
	s.process.Env = append(s.process.Env, "SEQLEASE_LISTEN=127.0.0.1:0") // which a flag beats
	for name, value := range exampleTokens {
		s.process.Env = append(s.process.Env, name+"="+value)
	}
	stderr, err := s.process.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	address := make(chan string, 1)
	go func() {
		defer close(address)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			_, _ = s.log.Write(append(lines.Bytes(), '\n'))
			if found := regexp.MustCompile(`msg=serving url=(\S+)`).FindStringSubmatch(lines.Text()); found != nil {
				address <- found[1]
			}
			if strings.Contains(lines.Text(), "msg=stopping") {
				close(s.stopping)
			}
		}
		s.ended <- s.process.Wait()
	}()
	t.Cleanup(func() { _ = s.process.Process.Kill() })
	url, found := <-address
	if !found {
		t.Fatalf("no server: %v\n%s", <-s.ended, s.log)
	}
	s.url = url
	return s
}

// submitter returns a client of the submitter.
func (s *served) submitter(t *testing.T) *client.Client {
	t.Helper()
	c, err := client.New(s.url, exampleTokens["SUBMITTER_TOKEN"])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// stop ends the server as an operator does, and checks that it ends well.
func (s *served) stop(t *testing.T) {
	t.Helper()
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-s.ended; err != nil {
		t.Errorf("the server ended with %v:\n%s", err, s.log)
	}
}

func TestServe_TheExampleConfigurationWithRealUploads(t *testing.T) {
	t.Parallel()
	s := serveExample(t, "--store", "sqlite:"+filepath.Join(t.TempDir(), "x.db"))
	submitter := s.submitter(t)
	if err := submitter.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	group, err := submitter.CreateGroup(t.Context(), seqlease.NewGroup{GroupName: "g"})
	if err != nil {
		t.Fatal(err)
	}
	for organism, upload := range map[seqlease.Organism]struct {
		metadata, sequences string
		entries             int
	}{
		"cchf":        {"cchf/metadata.tsv", "cchf/sequences.fasta", 73},
		"ebola-zaire": {"ebola-zaire/metadata.tsv", "ebola-zaire/sequences.fasta.zst", 20},
		"sars-cov-2":  {"sars-cov-2/small/metadata.tsv", "sars-cov-2/small/sequences.fasta", 10},
	} {
		mappings, err := submitter.Submit(t.Context(), client.Submission{
			Organism: organism, GroupID: group.GroupID,
			Metadata: testFile(t, upload.metadata), Sequences: testFile(t, upload.sequences),
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(mappings) != upload.entries {
			t.Errorf("%s: %d entries, want %d", organism, len(mappings), upload.entries)
		}
		code, _, stderr := command(t, "work", "--config", "../../config/example.yaml", "--organism", string(organism),
			"--pipeline-version", "1", "--pipeline", "align", "--server", s.url, "--token", exampleTokens["PIPELINE_TOKEN"],
			"--batch", "15", "--until-empty")
		if code != exitDone {
			t.Fatalf("%s: worker ended with %d: %s", organism, code, stderr)
		}
		listing, err := submitter.ListEntries(t.Context(), organism, client.ListFilter{})
		if err != nil {
			t.Fatal(err)
		}
		if got := listing.StatusCounts[seqlease.Processed]; got != int64(upload.entries) {
			t.Errorf("%s: %d of %d entries processed: %v", organism, got, upload.entries, listing.StatusCounts)
		}
		approved, err := submitter.Approve(t.Context(), organism, client.Approval{Scope: seqlease.ApproveAll})
		if err != nil {
			t.Fatal(err)
		}
		good := listing.ResultCounts[seqlease.NoIssues] + listing.ResultCounts[seqlease.HasWarnings]
		if int64(len(approved)) != good || good == 0 {
			t.Errorf("%s: %d approved, %d are without errors", organism, len(approved), good)
		}
		released, err := submitter.ReleasedData(t.Context(), organism, "", func([]byte) error { return nil })
		if err != nil || released.Records != good {
			t.Errorf("%s: %d released of %d, %v", organism, released.Records, good, err)
		}
		again, err := submitter.ReleasedData(t.Context(), organism, released.ETag, func([]byte) error { return nil })
		if err != nil || !again.NotModified {
			t.Errorf("%s: asked again with the tag: %+v, %v", organism, again, err)
		}
	}
	s.stop(t)
	<-s.stopping
	for name, token := range exampleTokens {
		if strings.Contains(s.log.String(), "Bearer "+token) {
			t.Errorf("the log shows the token %s", name)
		}
	}
}

func testFile(t *testing.T, path string) client.File {
	t.Helper()
	file, err := os.Open(filepath.Join("../../testdata", path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return client.File{Name: filepath.Base(path), Content: file}
}

func TestServe_FinishesWhatRunsWhenToldToStop(t *testing.T) {
	t.Parallel()
	s := serveExample(t, "--store", "sqlite:"+filepath.Join(t.TempDir(), "x.db"))
	submitter := s.submitter(t)
	group, err := submitter.CreateGroup(t.Context(), seqlease.NewGroup{GroupName: "g"})
	if err != nil {
		t.Fatal(err)
	}
	// The server asks for the body, so that the request is running; then it is
	// told to stop from inside of the upload, and the rest follows when it says
	// that it stops.
	polite, err := client.New(s.url, exampleTokens["SUBMITTER_TOKEN"], client.WithHTTP(&http.Client{Transport: expectContinue{}}))
	if err != nil {
		t.Fatal(err)
	}
	metadata := testFile(t, "sars-cov-2/small/metadata.tsv")
	metadata.Content = &interruptedReader{reader: metadata.Content, once: func() error {
		if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		select {
		case <-s.stopping:
			return nil
		case <-t.Context().Done():
			return t.Context().Err()
		}
	}}
	mappings, err := polite.Submit(t.Context(), client.Submission{
		Organism: "sars-cov-2", GroupID: group.GroupID,
		Metadata: metadata, Sequences: testFile(t, "sars-cov-2/small/sequences.fasta"),
	})
	if err != nil || len(mappings) != 10 {
		t.Errorf("%d entries, %v", len(mappings), err)
	}
	if err := <-s.ended; err != nil {
		t.Errorf("the server ended with %v:\n%s", err, s.log)
	}
}

// expectContinue sends no body before the server asks for it.
type expectContinue struct{}

func (expectContinue) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Expect", "100-continue")
	return (&http.Transport{ExpectContinueTimeout: time.Minute, DisableKeepAlives: true}).RoundTrip(r)
}

// interruptedReader does something after its first bytes.
type interruptedReader struct {
	reader io.Reader
	once   func() error
}

func (r *interruptedReader) Read(p []byte) (int, error) {
	if len(p) > 64 {
		p = p[:64]
	}
	n, err := r.reader.Read(p)
	if r.once != nil {
		once := r.once
		r.once = nil
		if failed := once(); failed != nil {
			return n, failed
		}
	}
	return n, err
}

// minimalConfig writes the smallest valid configuration.
func minimalConfig(t *testing.T) (path string) {
	t.Helper()
	return write(t, t.TempDir(), "c.yaml", minimal)
}

const minimal = "accessionPrefix: A_\nwebsiteUrl: w\nbackendUrl: b\ndataUseTerms: {enabled: false}\norganisms: {fern: {schema: " +
	"{organismName: F, metadata: []}, referenceGenome: {nucleotideSequences: [{name: main, sequence: ACGT}], genes: []}}}\n"

func TestServe_RefusesWhatItCannotServe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config, store := minimalConfig(t), "sqlite:"+filepath.Join(dir, "x.db")
	taken := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(taken.Close)
	code, _, stderr := command(t, "serve", "--config", config, "--store", store, "--listen", taken.Listener.Addr().String())
	if code != exitFailed || !strings.Contains(stderr, "in use") {
		t.Errorf("a taken port: exit code %d: %s", code, stderr)
	}
	code, _, stderr = command(t, "serve", "--config", config, "--store", store, "--spool-dir", filepath.Join(dir, "none"))
	if code != exitFailed || !strings.Contains(stderr, "the spool directory can't be written to") || !strings.Contains(stderr, "none") {
		t.Errorf("no spool directory: exit code %d: %s", code, stderr)
	}
	for _, listen := range []string{"nonsense", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:http", "127.0.0.1"} {
		code, _, stderr := command(t, "serve", "--config", config, "--store", store, "--listen", listen)
		if code != exitUsage || !strings.Contains(stderr, "--listen: write HOST:PORT") {
			t.Errorf("--listen %s: exit code %d: %s", listen, code, stderr)
		}
	}
	if code, _, stderr := command(t, "serve", "--config", config, "--store", store, "--pool-size", "0"); code != exitUsage || !strings.Contains(stderr, "--pool-size") {
		t.Errorf("--pool-size 0: exit code %d: %s", code, stderr)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("servers that didn't start left %v, %v", left, err)
	}
}

func TestServe_IsNotReadyWithoutItsSpoolDirectory(t *testing.T) {
	t.Parallel()
	spool := filepath.Join(t.TempDir(), "spool")
	if err := os.Mkdir(spool, 0o700); err != nil {
		t.Fatal(err)
	}
	s := serveExample(t, "--store", "sqlite:"+filepath.Join(t.TempDir(), "x.db"), "--spool-dir", spool)
	if err := s.submitter(t).Ready(t.Context()); err != nil {
		t.Error(err)
	}
	if err := os.Remove(spool); err != nil {
		t.Fatal(err)
	}
	if err := s.submitter(t).Ready(t.Context()); err == nil {
		t.Error("ready though it can't take uploads")
	}
	s.stop(t)
}

func TestServe_AHangUpStopsItInGoodOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serveExample(t, "--store", "sqlite:"+filepath.Join(dir, "x.db"))
	if err := s.process.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if err := <-s.ended; err != nil {
		t.Errorf("the server ended with %v:\n%s", err, s.log)
	}
	if _, err := os.Stat(filepath.Join(dir, "x.db-wal")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the store is not in one file: %v", err)
	}
}

func TestServe_NamesTheCommandThatMigratesPostgreSQL(t *testing.T) {
	t.Parallel()
	database := newDatabase(t)
	code, _, stderr := command(t, "serve", "--config", minimalConfig(t), "--store", database)
	if code != exitFailed || !strings.Contains(stderr, "seqlease migrate up") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if code, _, stderr := command(t, "migrate", "up", "--store", database); code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	code, stdout, stderr := command(t, "migrate", "status", "--store", database)
	if code != exitDone || strings.Contains(stdout, "pending") || !strings.Contains(stdout, "applied") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	s := serveExample(t, "--store", database)
	if err := s.submitter(t).Ready(t.Context()); err != nil {
		t.Error(err)
	}
	s.stop(t)
}

func TestServe_ReadOnly(t *testing.T) {
	t.Parallel()
	s := serveExample(t, "--store", "sqlite:"+filepath.Join(t.TempDir(), "x.db"), "--read-only")
	submitter := s.submitter(t)
	_, err := submitter.CreateGroup(t.Context(), seqlease.NewGroup{GroupName: "g"})
	var problem *client.ProblemError
	if !errors.As(err, &problem) || problem.Status != http.StatusServiceUnavailable {
		t.Errorf("a write: %v", err)
	}
	if _, err := submitter.UserGroups(t.Context()); err != nil {
		t.Errorf("a read: %v", err)
	}
	s.stop(t)
}
