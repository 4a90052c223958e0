package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
	"github.com/seqlease/seqlease/internal/ndjson"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/pipeline"
	"github.com/seqlease/seqlease/worker"
)

type workArgs struct {
	Config          string        `required:"" type:"path" help:"Configuration file, for the organism's schema and reference genome." placeholder:"FILE"`
	Organism        string        `required:"" help:"Key of the organism." placeholder:"O"`
	PipelineVersion int64         `required:"" help:"Version of the pipeline, from 1." placeholder:"N"`
	Pipeline        string        `required:"" enum:"align,echo" help:"What to do with an entry: align it to the reference, or send it back as it came (${enum})."`
	Server          string        `env:"SEQLEASE_SERVER" default:"http://127.0.0.1:8079" help:"Address of the server." placeholder:"URL"`
	Token           string        `env:"SEQLEASE_TOKEN" help:"Bearer token. Better in the environment, where other users don't see it." placeholder:"TOKEN"`
	Batch           int           `default:"100" help:"Entries per claim." placeholder:"N"`
	Parallel        int           `help:"Entries processed at a time; one for each core unless given." placeholder:"N"`
	Lease           time.Duration `default:"10m" help:"How long a lease runs, 10s to 24h; it is renewed at about a third of that, so that it says how soon others get the work of a worker that died." placeholder:"10m"`
	NoRenew         bool          `help:"Renew no leases, as pipelines do that only claim and send."`
	WorkerID        string        `help:"Label of this worker, for people; host name and process id unless given." placeholder:"ID"`
	UntilEmpty      bool          `help:"Stop when nothing is waiting, instead of waiting for more."`
	Wait            time.Duration `default:"20s" help:"How long the server may hold back its answer while nothing is waiting, 0s to 30s." placeholder:"20s"`
	Idle            time.Duration `default:"1s" help:"About how long to wait between claims that are answered at once with nothing." placeholder:"1s"`
	Pace            time.Duration `help:"Hold up each entry for this long, to watch the queue at work." placeholder:"100ms"`
	Events          bool          `help:"Print what happens as NDJSON, for a supervising program."`
}

func (a workArgs) check() error {
	switch {
	case a.PipelineVersion < 1:
		return usagef("--pipeline-version must be at least 1")
	case a.Batch < 1 || a.Parallel < 0:
		return usagef("--batch must be at least 1, and --parallel not negative")
	case a.Lease < 10*time.Second || a.Lease > 24*time.Hour || a.Lease%time.Second != 0:
		return usagef("--lease must be whole seconds from 10s to 24h")
	case a.Wait < 0 || a.Wait > 30*time.Second || a.Wait%time.Second != 0:
		return usagef("--wait must be whole seconds from 0s to 30s")
	case a.Idle <= 0 || a.Pace < 0:
		return usagef("--idle must be above 0, and --pace not negative")
	}
	return nil
}

// runWork claims and processes batches until it is told to stop; then it gives
// back what it hasn't finished.
func runWork(ctx context.Context, args workArgs, _ io.Reader, stdout, stderr io.Writer) error {
	if err := args.check(); err != nil {
		return err
	}
	organisms, err := loadOrganisms(args.Config)
	if err != nil {
		return err
	}
	o, err := organisms.Get(seqlease.Organism(args.Organism))
	if err != nil {
		return usagef("--organism: %v", err)
	}
	process, err := processor(args.Pipeline, o)
	if err != nil {
		return err
	}
	server, err := client.New(args.Server, args.Token)
	if err != nil {
		return usagef("--server: %v", err)
	}
	w := &worker.Worker{
		Client: server, Organism: o.Key, PipelineVersion: seqlease.PipelineVersion(args.PipelineVersion),
		Process: paced(args.Pace, process),
		Batch:   args.Batch, Lease: args.Lease, Parallel: args.Parallel, ID: args.WorkerID,
		NoRenewal: args.NoRenew, UntilEmpty: args.UntilEmpty, Wait: args.Wait, IdlePause: args.Idle,
		Logger: slog.New(slog.NewTextHandler(stderr, nil)),
	}
	if args.Wait == 0 {
		w.Wait = worker.NoWait
	}
	if args.Events {
		w.Observe = eventWriter(stdout)
	}
	return w.Run(ctx)
}

// process makes a result of an entry.
type process func(context.Context, seqlease.Entry) seqlease.Result

// processor returns the built-in pipeline of that name.
func processor(name string, o *organism.Organism) (process, error) {
	if name == "echo" {
		return pipeline.NewEcho(o).Process, nil
	}
	p, err := pipeline.NewAlign(o)
	if err != nil {
		return nil, err
	}
	return p.Process, nil
}

// paced holds up each entry.
func paced(pace time.Duration, work process) process {
	if pace == 0 {
		return work
	}
	return func(ctx context.Context, e seqlease.Entry) seqlease.Result {
		timer := time.NewTimer(pace)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		return work(ctx, e)
	}
}

// eventWriter writes each event as a line.
func eventWriter(to io.Writer) func(worker.Event) {
	var mu sync.Mutex
	lines := ndjson.NewWriter(to)
	return func(e worker.Event) {
		line, err := json.Marshal(e)
		if err != nil {
			panic(fmt.Sprintf("encode an event: %v", err)) // plain values always can be
		}
		mu.Lock()
		defer mu.Unlock()
		_ = lines.WriteLine(line) // a supervisor that doesn't read doesn't stop the work
	}
}
