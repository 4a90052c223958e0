package peer

import (
	"bufio"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/seqlease/seqlease/bench/measure"
)

//go:embed node/package.json node/package-lock.json node/*.mjs
var nodeFiles embed.FS

//go:embed sql/pgboss_open.sql
var pgbossOpenSQL string

//go:embed sql/pgboss_completed.sql
var pgbossCompletedSQL string

//go:embed sql/graphile_open.sql
var graphileOpenSQL string

//go:embed sql/graphile_stored.sql
var graphileStoredSQL string

//go:embed sql/store_results.sql
var storeResultsSQL string

// The programs.
const (
	pgbossProgram   = "pgboss.mjs"
	graphileProgram = "graphile.mjs"
)

// localQueue is how many jobs graphile-worker fetches at once: what its
// documentation reports its throughput with.
const localQueue = 500

// nodeMode is a peer in Node and how it is used: by one process, as a second one
// takes from the database what it adds.
type nodeMode struct {
	program       string
	workers, pool int
	sharing       bool // tasks of graphile-worker share a statement for their results
}

func (m nodeMode) contender(name string) measure.Contender {
	return measure.Contender{Name: name, Run: func(ctx context.Context, b *measure.Bench) (measure.Sample, error) {
		dir, err := installNode(ctx, b)
		if err != nil {
			return nil, err
		}
		p := &nodePeer{mode: m, dir: dir, binary: nodeBinary(dir)}
		w := &workload{jobs: b.Size(fullJobs, quickJobs), openSQL: pgbossOpenSQL, storedSQL: pgbossCompletedSQL, resultBytes: textBytes}
		if m.program == graphileProgram {
			w.openSQL, w.storedSQL, w.resultBytes = graphileOpenSQL, graphileStoredSQL, documentBytes
			if !m.sharing {
				w.jobs = b.Size(slowJobs, quickJobs)
			}
		}
		return w.run(ctx, b, p)
	}}
}

// skipNode says why peers in Node can't be measured.
func skipNode(b *measure.Bench) string {
	if !b.NodePeers {
		return "it takes --node-peers"
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return "npm isn't installed"
	}
	return ""
}

// installNode writes the programs into a directory of the bench and lets npm fetch
// what they need, once in a run of the bench.
func installNode(ctx context.Context, b *measure.Bench) (string, error) {
	dir := filepath.Join(b.Dir, "node")
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	entries, err := nodeFiles.ReadDir("node")
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		content, err := nodeFiles.ReadFile("node/" + e.Name())
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, e.Name()), content, 0o600); err != nil {
			return "", err
		}
	}
	c := exec.CommandContext(ctx, "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		return "", errors.Join(fmt.Errorf("npm ci: %w: %s", err, out), os.RemoveAll(dir))
	}
	return dir, nil
}

// nodeBinary is the Node that npm has fetched for this machine, which is new
// enough for all peers, or that of the machine.
func nodeBinary(dir string) string {
	architecture := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	fetched := filepath.Join(dir, "node_modules", "node-"+runtime.GOOS+"-"+architecture, "bin", "node")
	if _, err := os.Stat(fetched); err == nil {
		return fetched
	}
	return "node"
}

// nodeOrder is what a program is told.
type nodeOrder struct {
	Address      string `json:"address"`
	Jobs         int    `json:"jobs"`
	AtOnce       int    `json:"atOnce"`
	Workers      int    `json:"workers"`
	Pool         int    `json:"pool"`
	LocalQueue   int    `json:"localQueue"`
	Sharing      bool   `json:"sharing"`
	Text         string `json:"text"`
	Result       string `json:"result"`
	StoreSQL     string `json:"storeSQL"`
	StoreManySQL string `json:"storeManySQL"`
}

// nodePeer is one run of a peer in Node.
type nodePeer struct {
	mode        nodeMode
	dir, binary string

	working *exec.Cmd // the program that drains; nil before it
	in      io.WriteCloser
	lines   *bufio.Scanner
	said    strings.Builder // on stderr
}

func (p *nodePeer) command(ctx context.Context, what string, w *workload) (*exec.Cmd, error) {
	order, err := json.Marshal(nodeOrder{
		Address: w.address, Jobs: w.jobs, AtOnce: insertAtOnce, Workers: p.mode.workers, Pool: p.mode.pool,
		LocalQueue: localQueue, Sharing: p.mode.sharing, Text: document(1), Result: document(2),
		StoreSQL: storeResultSQL, StoreManySQL: storeResultsSQL,
	})
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, p.binary, p.mode.program, what, string(order)) //nolint:gosec // our own programs
	c.Dir = p.dir
	c.Env = append(os.Environ(), "NODE_ENV=production")
	return c, nil
}

// prepare inserts the jobs and starts the program that drains, up to its first fetch.
func (p *nodePeer) prepare(ctx context.Context, w *workload) error {
	c, err := p.command(ctx, "insert", w)
	if err != nil {
		return err
	}
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	if c, err = p.command(ctx, "work", w); err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if p.in, err = c.StdinPipe(); err != nil {
		return err
	}
	c.Stderr = &p.said
	p.lines = bufio.NewScanner(out)
	if err := c.Start(); err != nil {
		return err
	}
	p.working = c
	if !p.lines.Scan() || p.lines.Text() != "ready" {
		return fmt.Errorf("the program said %q instead of ready", p.lines.Text())
	}
	return nil
}

// work lets the program go and follows it until it has worked on all jobs.
func (p *nodePeer) work(_ context.Context, w *workload) (began time.Time, err error) {
	if _, err := io.WriteString(p.in, "go\n"); err != nil {
		return began, err
	}
	for p.lines.Scan() {
		if began.IsZero() {
			began = time.Now()
		}
		n, err := strconv.Atoi(p.lines.Text())
		if err != nil {
			return began, fmt.Errorf("the program said %q instead of a number", p.lines.Text())
		}
		if n >= w.jobs {
			return began, nil
		}
	}
	return began, errors.Join(errors.New("the program ended"), p.lines.Err())
}

// end closes the program's stdin, on which it stops, and waits for it.
func (p *nodePeer) end(context.Context) error {
	if p.working == nil {
		return nil
	}
	err := p.in.Close()
	for p.lines.Scan() { // a program whose words nobody reads might not end
	}
	if err := p.working.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, p.said.String())
	}
	return err
}
