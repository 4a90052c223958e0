package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
)

// What the demo asks of its workers. The lease is the shortest there is; the
// batches are small and every entry is held up a little, because aligning a
// Zika genome takes milliseconds and nothing could be seen or interrupted.
const (
	Lease = 10 * time.Second
	Batch = 5
	Pace  = 200 * time.Millisecond
)

// MinWorkers is how many workers it takes: one is killed, one is stopped, and
// somebody has to do the work.
const MinWorkers = 3

// limit bounds the whole run, which takes about 15 s.
const limit = 2 * time.Minute

// Server is a running server.
type Server interface {
	URL() string
	Stop(ctx context.Context) error // also if ctx has ended
}

// Options say how the demo runs.
type Options struct {
	Dir     string // where configuration, data and logs go; it exists
	Store   string // kind of store, for the report
	Servers int    // how many share the store
	Workers int    // at least MinWorkers
	// StartServer starts a server on a free loopback port with the configuration.
	StartServer func(ctx context.Context, config string) (Server, error)
	// WorkerCommand returns the command that runs a worker, with the server and
	// the token in its environment, which reports its events on stdout.
	WorkerCommand func(ctx context.Context, w WorkerOrder) *exec.Cmd
	// Tell is given the story as it happens.
	Tell func(line string)
	// Accepted is told how many results were accepted, and of how many entries.
	Accepted func(now, all int)
}

// WorkerOrder says what a worker process is to do.
type WorkerOrder struct {
	Config          string // path
	Server          string // URL
	Token           string // secret: not for the command line
	Organism        seqlease.Organism
	PipelineVersion seqlease.PipelineVersion
	Batch           int
	Lease, Pace     time.Duration
	// NoRenewal is for a pipeline that only claims and sends.
	NoRenewal bool
}

// Run does it all and returns what happened. A check that failed is in the
// report; an error means that the demo could not be brought to its end.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Workers < MinWorkers {
		return nil, fmt.Errorf("%d workers are too few: one is killed and one is stopped, so that it takes at least %d", o.Workers, MinWorkers)
	}
	if !canFreeze {
		return nil, errors.New("the demo stops and continues a process, which this system can't do")
	}
	m, err := loadMaterial()
	if err != nil {
		return nil, err
	}
	discard(&o)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the demo did not end within %s", limit))
	defer cancel()
	began := time.Now()
	d := &stage{Options: o, material: m, began: began, ledger: newLedger()}
	report, err := d.run(ctx)
	if err != nil {
		return nil, err
	}
	report.Seconds = float64(time.Since(began).Round(time.Millisecond)) / float64(time.Second)
	return report, nil
}

// stage is a run of the demo.
type stage struct {
	Options
	material material
	began    time.Time
	config   string
	tokens   tokens
	servers  []Server
	ledger   *ledger
	group    seqlease.Group
	entries  map[seqlease.AccessionVersion]string // submission ids
}

func (d *stage) tell(format string, args ...any) {
	d.Tell(fmt.Sprintf("%5.1f s  ", time.Since(d.began).Seconds()) + fmt.Sprintf(format, args...))
}

func (d *stage) run(ctx context.Context) (report *Report, err error) {
	if d.config, d.tokens, err = writeConfig(d.Dir); err != nil {
		return nil, fmt.Errorf("write the configuration: %w", err)
	}
	defer func() {
		for _, s := range d.servers {
			err = errors.Join(err, s.Stop(ctx))
		}
	}()
	for range d.Servers {
		s, err := d.StartServer(ctx, d.config)
		if err != nil {
			return nil, fmt.Errorf("start a server: %w", err)
		}
		d.servers = append(d.servers, s)
		d.tell("server on %s", s.URL())
	}
	if err := d.submit(ctx); err != nil {
		return nil, err
	}
	fates, incident, err := d.work(ctx)
	if err != nil {
		return nil, err
	}
	report = &Report{
		Organism: string(organism), Store: d.Store, Servers: d.Servers, Entries: len(d.entries), Failed: []string{}, Messages: []message{},
	}
	report.count(d.ledger, fates)
	d.checkLeases(report, incident)
	if err := d.release(ctx, report); err != nil {
		return nil, err
	}
	return report, nil
}

// as returns a client of the first server with the given token.
func (d *stage) as(token string) (*client.Client, error) {
	return client.New(d.servers[0].URL(), token)
}

// submit makes a group and uploads the genomes. What waits in the store before
// would get into the way of the demo's workers: see finishEarlier.
func (d *stage) submit(ctx context.Context) error {
	operator, err := d.as(d.tokens.operator)
	if err != nil {
		return err
	}
	if err := d.finishEarlier(ctx, operator); err != nil {
		return err
	}
	submitter, err := d.as(d.tokens.submitter)
	if err != nil {
		return err
	}
	if d.group, err = submitter.CreateGroup(ctx, seqlease.NewGroup{GroupName: "Demo", Institution: institution}); err != nil {
		return err
	}
	mappings, err := submitter.Submit(ctx, client.Submission{
		Organism: organism, GroupID: d.group.GroupID,
		Metadata:  client.File{Name: "metadata.tsv", Content: bytes.NewReader(d.material.metadata)},
		Sequences: client.File{Name: "sequences.fasta", Content: bytes.NewReader(d.material.sequences)},
	})
	if err != nil {
		return err
	}
	d.entries = map[seqlease.AccessionVersion]string{}
	for _, x := range mappings {
		d.entries[x.AccessionVersion] = x.SubmissionID
	}
	if len(mappings) != len(d.material.genomes) || len(d.entries) != len(mappings) {
		return fmt.Errorf("%d genomes were submitted, %d accessions came back, %d of them different",
			len(d.material.genomes), len(mappings), len(d.entries))
	}
	d.tell("%d Zika genomes submitted as group %d", len(d.entries), d.group.GroupID)
	d.Accepted(0, len(d.entries))
	return nil
}

// discard is used where nobody listens.
func discard(o *Options) {
	if o.Tell == nil {
		o.Tell = func(string) {}
	}
	if o.Accepted == nil {
		o.Accepted = func(int, int) {}
	}
}
