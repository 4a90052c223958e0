// Command loggedworker is a worker of fault tests: the Go worker package with a
// pipeline whose results show which attempt made them, and with every call and
// its answer written down before the worker sees the answer.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
	"github.com/seqlease/seqlease/internal/fault/evidence"
	"github.com/seqlease/seqlease/worker"
)

// silence is how long a call waits while nothing moves: short, so that a stopped
// server makes for results whose fate the worker doesn't know.
const silence = 6 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "loggedworker:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var (
		server   = flag.String("server", "", "URL")
		organism = flag.String("organism", "", "key")
		id       = flag.String("id", "", "label")
		path     = flag.String("log", "", "file that is appended to")
		batch    = flag.Int("batch", 10, "entries per claim")
		workers  = flag.Int("workers", 1, "workers in this process")
		lease    = flag.Duration("lease", 10*time.Second, "lease")
		pace     = flag.Duration("pace", 0, "time for an entry")
	)
	flag.Parse()
	file, err := os.OpenFile(*path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // each line was written by itself
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	group, ctx := errgroup.WithContext(ctx)
	for i := range *workers {
		name := fmt.Sprintf("%s-%d", *id, i+1)
		server, err := client.New(*server, os.Getenv("WORKER_TOKEN"), client.WithSilence(silence), client.WithHTTP(&http.Client{
			Transport: &recorder{worker: name, to: file, next: &http.Transport{}},
		}))
		if err != nil {
			return err
		}
		w := &worker.Worker{
			Client: server, Organism: seqlease.Organism(*organism), PipelineVersion: 1, ID: name,
			Batch: *batch, Lease: *lease, Parallel: 1, Process: pipeline(*pace), Logger: logger,
			IdlePause: 200 * time.Millisecond, MaxBackoff: time.Second,
		}
		group.Go(func() error { return w.Run(ctx) })
	}
	return group.Wait()
}

// pipeline gives back what it is given, with the attempt and its proof. It dies
// on poison, as a program does that crashes on an entry.
func pipeline(pace time.Duration) func(context.Context, seqlease.Entry) seqlease.Result {
	return func(ctx context.Context, entry seqlease.Entry) seqlease.Result {
		timer := time.NewTimer(pace)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		if entry.Data.Metadata["place"] == evidence.Poison {
			os.Exit(evidence.ExitPoisoned)
		}
		var r seqlease.Result
		r.Data.Metadata = map[string]json.RawMessage{}
		for field, value := range map[string]string{
			"place": entry.Data.Metadata["place"], "note": entry.Data.Metadata["note"],
			"attempt": entry.AttemptID.String(), "proof": evidence.Proof(entry.AccessionVersion, entry.AttemptID),
		} {
			r.Data.Metadata[field], _ = json.Marshal(value) // texts always can be
		}
		for id, sequence := range entry.Data.UnalignedNucleotideSequences {
			r.Data.UnalignedNucleotideSequences = map[string]*string{"main": &sequence}
			r.Data.SequenceNameToFastaID = map[string]string{"main": id}
		}
		return r
	}
}
