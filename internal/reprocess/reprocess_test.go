package reprocess_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/reprocess"
	"github.com/seqlease/seqlease/internal/sqlite"
	"github.com/seqlease/seqlease/internal/submission"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const fern seqlease.Organism = "fernvirus"

// open returns a real store with n entries waiting.
func open(t *testing.T, n int) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "x.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.Register(t.Context(), []*organism.Organism{{Key: fern, DisplayName: "Fern virus", ConsensusSequences: true}}); err != nil {
		t.Fatal(err)
	}
	group, err := s.CreateGroup(t.Context(), seqlease.NewGroup{GroupName: "g"}, "anna")
	if err != nil {
		t.Fatal(err)
	}
	data, err := s.Pack(fern, []byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Submit(t.Context(), submission.Upload{
		Organism: fern, GroupID: group.GroupID, Submitter: "anna", AccessionPrefix: "LOC_", Terms: seqlease.DataUseTerms{Type: seqlease.TermsOpen},
		Entries: func(yield func(submission.PackedEntry, error) bool) {
			for range n {
				if !yield(submission.PackedEntry{SubmissionID: "s", Data: data}, nil) {
					return
				}
			}
		},
	}); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRegister_V2_V7_TellsWhatIsRefusedAndWhy(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	versions := reprocess.New(open(t, 0), reprocess.Options{Ahead: 10, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for _, tc := range []struct {
		version seqlease.PipelineVersion
		is      error
		says    string
	}{
		{0, seqlease.ErrPipelineOutdated, "version 1 is current"},
		{-3, seqlease.ErrPipelineOutdated, "version 1 is current"},
		{12, seqlease.ErrPipelineUnknown, "takes versions up to 11"},
		{math.MaxInt64, seqlease.ErrPipelineUnknown, "takes versions up to 11"},
	} {
		if err := versions.Register(t.Context(), fern, tc.version); !errors.Is(err, tc.is) || !strings.Contains(seqlease.Explanation(err), tc.says) {
			t.Errorf("version %d: got %v, want one that is %q and says %q", tc.version, err, tc.is, tc.says)
		}
	}
	if err := versions.Register(t.Context(), "moss", 2); !errors.Is(err, seqlease.ErrUnknownOrganism) {
		t.Errorf("got %v, want %v", err, seqlease.ErrUnknownOrganism)
	}
	for _, version := range []seqlease.PipelineVersion{11, 11, 1} {
		if err := versions.Register(t.Context(), fern, version); err != nil {
			t.Errorf("version %d: %v", version, err)
		}
	}
	if n := strings.Count(log.String(), "pipeline version registered"); n != 1 {
		t.Errorf("%d registrations are in the log, want one:\n%s", n, log.String())
	}
}

// counting counts the chunks, and holds one back while hold is open.
type counting struct {
	reprocess.Store
	mu       sync.Mutex
	chunks   int
	complete chan reprocess.Version // told what is complete
	reached  chan struct{}          // told that a chunk is held
	hold     chan struct{}          // nil: none is
}

func (c *counting) Backfill(ctx context.Context, o seqlease.Organism, v seqlease.PipelineVersion, limit int) (reprocess.Chunk, error) {
	c.mu.Lock()
	c.chunks++
	c.mu.Unlock()
	if c.hold != nil {
		c.reached <- struct{}{}
		<-c.hold
	}
	chunk, err := c.Store.Backfill(ctx, o, v, limit)
	if chunk.Progress == reprocess.Complete && err == nil && c.complete != nil {
		select {
		case c.complete <- reprocess.Version{Organism: o, PipelineVersion: v}:
		default:
		}
	}
	return chunk, err
}

func (c *counting) made() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.chunks
}

func TestFill_V3_AsksNoMoreOnceItIsComplete(t *testing.T) {
	t.Parallel()
	store := &counting{Store: open(t, 3)}
	versions := reprocess.New(store, reprocess.Options{})
	if err := versions.Register(t.Context(), fern, 2); err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, false, false} {
		if added, err := versions.Fill(t.Context(), fern, 2); err != nil || added != want {
			t.Errorf("call %d: got %t, %v, want %t", i, added, err, want)
		}
	}
	for range 3 { // the current version never had one
		if added, err := versions.Fill(t.Context(), fern, 1); err != nil || added {
			t.Errorf("current version: got %t, %v", added, err)
		}
	}
	if n := store.made(); n != 2 {
		t.Errorf("%d chunks were asked for, want one of each version", n)
	}
}

func TestFill_V3_NobodyWaitsForAChunk(t *testing.T) {
	t.Parallel()
	store := &counting{Store: open(t, 3), reached: make(chan struct{}), hold: make(chan struct{})}
	versions := reprocess.New(store, reprocess.Options{})
	if err := versions.Register(t.Context(), fern, 2); err != nil {
		t.Fatal(err)
	}
	filled := make(chan bool)
	go func() {
		added, err := versions.Fill(t.Context(), fern, 2)
		filled <- added && err == nil
	}()
	<-store.reached
	if added, err := versions.Fill(t.Context(), fern, 2); added || err != nil {
		t.Errorf("got %t, %v while another makes the chunk, want nothing at once", added, err)
	}
	close(store.hold)
	if !<-filled {
		t.Error("the first added nothing")
	}
}

// The filler ends what others have begun, without any claim.
func TestRun_V3_FillsWhatAnyServerBegan(t *testing.T) {
	t.Parallel()
	opened := open(t, 9_000)
	for version := range seqlease.PipelineVersion(2) {
		if _, err := opened.RegisterVersion(t.Context(), fern, version+2, 10); err != nil {
			t.Fatal(err)
		}
	}
	store := &counting{Store: opened, complete: make(chan reprocess.Version, 10)}
	versions := reprocess.New(store, reprocess.Options{})
	if added, err := versions.Fill(t.Context(), fern, 4); err != nil || added { // it takes it for complete
		t.Fatalf("got %t, %v for a version without a backfill", added, err)
	}
	<-store.complete
	if _, err := opened.RegisterVersion(t.Context(), fern, 4, 10); err != nil { // by another server
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- versions.Run(ctx) }()
	seen := map[seqlease.PipelineVersion]bool{}
	for len(seen) < 3 {
		seen[(<-store.complete).PipelineVersion] = true
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	unfinished, err := opened.Unfinished(t.Context())
	if err != nil || len(unfinished) != 0 {
		t.Errorf("unfinished: %v, %v", unfinished, err)
	}
}

// scripted is a store that has as many chunks to make, and fails.
type scripted struct {
	reprocess.Store
	mu     sync.Mutex
	chunks map[seqlease.PipelineVersion]int // left to make; negative: they fail
	looks  int
}

func (s *scripted) Unfinished(context.Context) ([]reprocess.Version, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	var list []reprocess.Version
	for v, n := range s.chunks {
		if n != 0 {
			list = append(list, reprocess.Version{Organism: fern, PipelineVersion: v})
		}
	}
	return list, nil
}

func (s *scripted) Backfill(_ context.Context, _ seqlease.Organism, v seqlease.PipelineVersion, _ int) (reprocess.Chunk, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.chunks[v] < 0 {
		return reprocess.Chunk{}, errors.New("no connection")
	}
	if s.chunks[v]--; s.chunks[v] == 0 {
		return reprocess.Chunk{Tickets: 1}, nil
	}
	return reprocess.Chunk{Tickets: 1, Progress: reprocess.More}, nil
}

func (*scripted) Candidates(context.Context) ([]reprocess.Candidate, error) { return nil, nil }

func (*scripted) Outdated(context.Context, int) ([]reprocess.Version, error) { return nil, nil }

func TestRun_V3_AFaultStopsNothingAndIsLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{chunks: map[seqlease.PipelineVersion]int{2: -1, 3: 40, 4: 7}}
		var log bytes.Buffer
		versions := reprocess.New(s, reprocess.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Second)
		defer cancel()
		if err := versions.Run(ctx); err != nil {
			t.Error(err)
		}
		if s.chunks[3] != 0 || s.chunks[4] != 0 {
			t.Errorf("chunks left: %v, want those of versions 3 and 4 made", s.chunks)
		}
		if n := strings.Count(log.String(), "no connection"); n != 3 {
			t.Errorf("the fault is %d times in the log of 150 s, want 3:\n%s", n, log.String())
		}
		if n := strings.Count(log.String(), "backfill complete"); n != 2 {
			t.Errorf("%d backfills are complete in the log, want 2", n)
		}
		if s.looks < 60 || s.looks > 40+120 {
			t.Errorf("it looked %d times in 150 s, want one for each chunk and then one every two seconds", s.looks)
		}
	})
}

// hanging is scripted, but chunks of version 2 wait for a transaction that never ends.
type hanging struct{ *scripted }

func (h hanging) Unfinished(ctx context.Context) ([]reprocess.Version, error) {
	list, err := h.scripted.Unfinished(ctx)
	slices.SortFunc(list, func(a, b reprocess.Version) int { return cmp.Compare(a.PipelineVersion, b.PipelineVersion) })
	return list, err // as the stores do
}

func (h hanging) Backfill(ctx context.Context, o seqlease.Organism, v seqlease.PipelineVersion, limit int) (reprocess.Chunk, error) {
	if v == 2 {
		<-ctx.Done()
	}
	if ctx.Err() != nil {
		return reprocess.Chunk{}, ctx.Err()
	}
	return h.scripted.Backfill(ctx, o, v, limit)
}

func TestRun_V3_AChunkThatHangsDoesNotEndTheOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{chunks: map[seqlease.PipelineVersion]int{2: 5, 3: 4, 4: 4}}
		versions := reprocess.New(hanging{s}, reprocess.Options{})
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
		defer cancel()
		if err := versions.Run(ctx); err != nil {
			t.Error(err)
		}
		if s.chunks[3] != 0 || s.chunks[4] != 0 {
			t.Errorf("chunks left: %v, want those of versions 3 and 4 made", s.chunks)
		}
	})
}
