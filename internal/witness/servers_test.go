package witness_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seqlease/seqlease/client"
)

// The tests of this file call servers that run as processes of their own.

// directory is for the program, and is removed when all tests have ended.
var directory string

// program builds the server once.
var program = sync.OnceValues(func() (string, error) {
	path := filepath.Join(directory, "seqlease")
	command := exec.Command("go", "build", "-o", path, "../../cmd/seqlease")
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the server: %w: %s", err, out)
	}
	return path, nil
})

// configuration has the organism of [ferns] and a token for everybody.
const configuration = `accessionPrefix: A_
websiteUrl: w
backendUrl: b
dataUseTerms: {enabled: false}
retry: {attempts: %d, handOuts: %d}
tokens:
  - { user: ann, roles: [preprocessing_pipeline], env: TOKEN_OF_ann }
  - { user: bob, roles: [preprocessing_pipeline], env: TOKEN_OF_bob }
  - { user: eve, roles: [preprocessing_pipeline], env: TOKEN_OF_eve }
  - { user: anna, env: TOKEN_OF_anna }
  - { user: olga, roles: [super_user], env: TOKEN_OF_olga }
organisms:
  fern:
    schema:
      organismName: Fern virus
      submissionDataTypes: {consensusSequences: false}
      metadata: [{ name: tag, type: string }]
    referenceGenome: {nucleotideSequences: [], genes: []}
`

func tokenOf(user string) string { return "the secret token of " + user }

// serve starts a server on the store and returns everybody's client of it.
func serve(t *testing.T, storeAddress string) httpFront {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "fern.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, configuration, patience.Attempts, patience.HandOuts), 0o600); err != nil {
		t.Fatal(err)
	}
	process := exec.Command(path, "serve", "--config", config, "--store", storeAddress, "--listen", "127.0.0.1:0")
	everybody := append(users(), "eve", submitter, operatorName)
	for _, user := range everybody {
		process.Env = append(process.Env, "TOKEN_OF_"+user+"="+tokenOf(user))
	}
	process.Env = append(process.Env, "PATH="+os.Getenv("PATH"), "TMPDIR="+t.TempDir())
	front := httpFront{}
	url := start(t, process)
	for _, user := range everybody {
		if front[user], err = client.New(url, tokenOf(user)); err != nil {
			t.Fatal(err)
		}
	}
	return front
}

// start runs a server until the test ends, and returns its address once it serves.
// It must end well when told to.
func start(t *testing.T, process *exec.Cmd) (url string) {
	t.Helper()
	stderr, err := process.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	serving := regexp.MustCompile(`msg=serving url=(\S+)`)
	address, ended := make(chan string, 1), make(chan error, 1)
	var last []string // what is odd in the log
	go func() {
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			if !strings.Contains(lines.Text(), "level=INFO") && len(last) < 20 {
				last = append(last, lines.Text())
			}
			if found := serving.FindStringSubmatch(lines.Text()); found != nil {
				address <- found[1]
			}
		}
		ended <- process.Wait()
		close(address)
	}()
	url, ok := <-address
	if !ok {
		t.Fatalf("no server: %v: %s", <-ended, strings.Join(last, "\n"))
	}
	t.Cleanup(func() {
		_ = process.Process.Signal(syscall.SIGTERM)
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
		if t.Failed() {
			t.Log(strings.Join(last, "\n"))
		}
	})
	return url
}

// leastLease is what a claim over HTTP may ask for at least.
const leastLease = 10 * time.Second

// Two servers on one database; the desk is a third store.
func TestHistory_L3_TwoServersOnPostgres(t *testing.T) { //nolint:tparallel // histories of a kind come one after the other
	repeatedly(t, func(t *testing.T) scenario {
		address, err := cluster.NewDatabase(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		desk := newPostgresDesk(t, address)
		first := serve(t, address)
		s := wild(desk, httpConsole{first[operatorName]}, first, serve(t, address))
		s.canChange, s.lease, s.sweep = true, leastLease, storeConsole{desk.store}.judgeSpent
		return s
	}, append(usual(), "edit")...)
}

// One server on a file. Entries are edited and deleted over HTTP.
func TestHistory_L3_ServerOnSQLite(t *testing.T) { //nolint:tparallel // histories of a kind come one after the other
	repeatedly(t, func(t *testing.T) scenario {
		path := filepath.Join(t.TempDir(), "fern.db")
		front := serve(t, "sqlite:"+path)
		desk, err := newHTTPDesk(t.Context(), front[submitter], openSQLiteFile(t, path))
		if err != nil {
			t.Fatal(err)
		}
		s := wild(desk, httpConsole{front[operatorName]}, front)
		s.canChange, s.lease, s.entries = true, leastLease, 150
		return s
	}, append(usual(), "edit")...)
}
