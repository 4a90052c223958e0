package worker_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

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
// are waiting, and returns its address. Its tokens are "submitter" and "pipeline".
func startServer(ctx context.Context) (url string, stop func(), err error) {
	dir, err := os.MkdirTemp("", "worker-test-")
	if err != nil {
		return "", nil, err
	}
	store, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(dir, "moss.db")})
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
	})
	if err != nil {
		return "", nil, err
	}
	door, err := httpapi.New(httpapi.Options{
		Queue: queue.New(store, organisms), Submissions: submission.New(store, organisms, submission.Options{AccessionPrefix: "MOSS_"}),
		Organisms: organisms, Verifier: verifier, Ready: store.Ready, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return "", nil, err
	}
	server := httptest.NewServer(door)
	stop = func() {
		server.Close()
		_ = store.Close()
		_ = os.RemoveAll(dir)
	}
	return server.URL, stop, submitTwo(ctx, server.URL)
}

func submitTwo(ctx context.Context, url string) error {
	submitter, err := client.New(url, "submitter")
	if err != nil {
		return err
	}
	group, err := submitter.CreateGroup(ctx, seqlease.NewGroup{GroupName: "Moss lab"})
	if err != nil {
		return err
	}
	_, err = submitter.Submit(ctx, client.Submission{
		Organism: moss, GroupID: group.GroupID,
		Metadata:  client.File{Name: "m.tsv", Content: strings.NewReader("id\tbog\npond1\tSedge\npond2\tReed\n")},
		Sequences: client.File{Name: "s.fasta", Content: strings.NewReader(">pond1\nACGTACGT\n>pond2\nACGTNNNN\n")},
	})
	return err
}
