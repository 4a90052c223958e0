package worker_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
	"github.com/seqlease/seqlease/internal/auth"
	"github.com/seqlease/seqlease/internal/httpapi"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/sqlite"
	"github.com/seqlease/seqlease/internal/submission"
)

// moss is the organism of the real server.
const moss seqlease.Organism = "mossvirus"

// startServer starts a real server over an embedded store, in which two entries
// are waiting, and returns its address. Its tokens are "submitter", "pipeline" and
// "operator".
func startServer(ctx context.Context) (url string, stop func(), err error) {
	return startServerWith(ctx, 2)
}

// startServerWith is startServer with so many entries.
func startServerWith(ctx context.Context, entries int) (url string, stop func(), err error) {
	dir, err := os.MkdirTemp("", "worker-test-")
	if err != nil {
		return "", nil, err
	}
	bell := &queue.Bell{}
	store, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(dir, "moss.db"), Bell: bell})
	if err != nil {
		return "", nil, err
	}
	organisms, err := organism.NewCatalog(&organism.Organism{
		Key: moss, DisplayName: "Moss virus", ConsensusSequences: true,
		Metadata: []organism.Field{{Name: "bog", Type: organism.String}},
		Segments: []organism.NamedSequence{{Name: organism.MainSegment, Sequence: "ACGTACGT"}},
	})
	if err != nil {
		return "", nil, err
	}
	if err := store.Register(ctx, organisms.All()); err != nil {
		return "", nil, err
	}
	verifier, err := auth.NewStatic([]auth.StaticToken{
		{SHA256: auth.Hash("submitter"), Person: seqlease.Person{Name: "submitter"}},
		{SHA256: auth.Hash("pipeline"), Person: seqlease.Person{Name: "pipeline", Roles: []seqlease.Role{seqlease.PreprocessingPipeline}}},
		{SHA256: auth.Hash("operator"), Person: seqlease.Person{Name: "operator", Roles: []seqlease.Role{seqlease.SuperUser}}},
	})
	if err != nil {
		return "", nil, err
	}
	work := queue.New(store, organisms, queue.WithBell(bell))
	door, err := httpapi.New(httpapi.Options{
		Queue: work, Submissions: submission.New(store, organisms, submission.Options{AccessionPrefix: "MOSS_"}),
		Organisms: organisms, Verifier: verifier, Ready: store.Ready, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return "", nil, err
	}
	loops, endLoops := context.WithCancel(context.WithoutCancel(ctx))
	var running errgroup.Group
	running.Go(func() error { return work.Run(loops) })
	keeper := queue.NewKeeper(store, queue.KeeperOptions{Logger: slog.New(slog.DiscardHandler)})
	running.Go(func() error { return keeper.Run(loops) })
	server := httptest.NewServer(door)
	stop = func() {
		endLoops()
		server.Close()
		_ = running.Wait()
		_ = store.Close()
		_ = os.RemoveAll(dir)
	}
	return server.URL, stop, submit(ctx, server.URL, entries)
}

// submit uploads so many entries, the genome of every second with a gap in it.
func submit(ctx context.Context, url string, entries int) error {
	submitter, err := client.New(url, "submitter")
	if err != nil {
		return err
	}
	group, err := submitter.CreateGroup(ctx, seqlease.NewGroup{GroupName: "Moss lab"})
	if err != nil {
		return err
	}
	var metadata, sequences strings.Builder
	metadata.WriteString("id\tbog\n")
	for i := range entries {
		fmt.Fprintf(&metadata, "pond%d\tSedge\n", i+1)
		fmt.Fprintf(&sequences, ">pond%d\n%s\n", i+1, []string{"ACGTACGT", "ACGTNNNN"}[i%2])
	}
	_, err = submitter.Submit(ctx, client.Submission{
		Organism: moss, GroupID: group.GroupID,
		Metadata:  client.File{Name: "m.tsv", Content: strings.NewReader(metadata.String())},
		Sequences: client.File{Name: "s.fasta", Content: strings.NewReader(sequences.String())},
	})
	return err
}
