package queue_test

import (
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"go.uber.org/goleak"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/intake"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/sqlite"
	"github.com/seqlease/seqlease/internal/submission"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const fern seqlease.Organism = "fernvirus"

// house is a queue on a real store.
type house struct {
	*queue.Queue
	store       *sqlite.Store
	path        string // of the store
	log         *lockedBuffer
	submissions *submission.Submissions
	group       int64
}

// open returns a queue with n entries waiting. wrap may put something between it
// and the store.
func open(t *testing.T, n int, wrap func(queue.Store) queue.Store) *house {
	t.Helper()
	return openWith(t, n, wrap, &queue.Bell{})
}

// openWith is open with a bell for the store to ring, which the queue answers if
// options say so.
func openWith(t *testing.T, n int, wrap func(queue.Store) queue.Store, bell *queue.Bell, options ...queue.Option) *house {
	t.Helper()
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "seqlease.db")
	store, err := sqlite.Open(ctx, sqlite.Options{Path: path, Bell: bell})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("close store: %v", err)
		}
	})
	catalog, err := organism.NewCatalog(
		&organism.Organism{
			Key: fern, DisplayName: "Fern virus", ConsensusSequences: true,
			Metadata: []organism.Field{{Name: "valley", Type: organism.String, Required: true}, {Name: "height", Type: organism.Int}},
			Segments: []organism.NamedSequence{{Name: organism.MainSegment, Sequence: "ACGTACGT"}},
			Genes:    []organism.NamedSequence{{Name: "env", Sequence: "MK"}},
		},
		&organism.Organism{Key: "other", DisplayName: "Another virus", ConsensusSequences: true},
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Register(ctx, catalog.All()); err != nil {
		t.Fatal(err)
	}
	var seen queue.Store = store
	if wrap != nil {
		seen = wrap(store)
	}
	log := &lockedBuffer{}
	options = append(options, queue.WithLogger(slog.New(slog.NewTextHandler(log, nil))))
	h := &house{
		Queue: queue.New(seen, catalog, options...), store: store, path: path, log: log,
		submissions: submission.New(store, catalog, submission.Options{AccessionPrefix: "LOC_"}),
	}
	group, err := h.submissions.CreateGroup(ctx, seqlease.Person{Name: "anna"}, seqlease.NewGroup{GroupName: "Anna's"})
	if err != nil {
		t.Fatal(err)
	}
	h.group = group.GroupID
	if n > 0 {
		h.submit(t, n)
	}
	return h
}

// submit makes n entries wait: "s0", "s1" and so on.
func (h *house) submit(t *testing.T, n int) {
	t.Helper()
	var metadata, sequences strings.Builder
	metadata.WriteString("id\tvalley\n")
	for i := range n {
		fmt.Fprintf(&metadata, "s%d\tGreen valley %d\n", i, i)
		fmt.Fprintf(&sequences, ">s%d\nacgtacgt\n", i)
	}
	file := func(name, content string) *intake.File {
		return &intake.File{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }}
	}
	if _, err := h.submissions.Submit(t.Context(), seqlease.Person{Name: "anna"}, submission.SubmitRequest{
		Organism: fern, GroupID: h.group, Metadata: file("m.tsv", metadata.String()), Sequences: file("s.fasta", sequences.String()),
	}); err != nil {
		t.Fatal(err)
	}
}

// age lets leases run for ten minutes, as if the time had passed.
func (h *house) age(t *testing.T) {
	t.Helper()
	db, err := sql.Open("sqlite", h.path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := db.ExecContext(t.Context(), "UPDATE lease SET lease_until = lease_until - ?", (10 * time.Minute).Microseconds()); err != nil {
		t.Fatal(err)
	}
}

// claim takes up to n entries.
func (h *house) claim(t *testing.T, n int) queue.Lease {
	t.Helper()
	lease, err := h.Claim(t.Context(), queue.ClaimRequest{Organism: fern, PipelineVersion: 1, Entries: n, ClaimedBy: "pipeline", WorkerID: "w1"})
	if err != nil {
		t.Fatalf("claim: %v", err)
	}
	return lease
}

// send submits result lines, numbered from 1, and returns the answer.
func (h *house) send(t *testing.T, results ...*seqlease.Result) error {
	t.Helper()
	acceptance, err := h.NewAcceptance(t.Context(), queue.AcceptanceRequest{Organism: fern, PipelineVersion: 1, SubmittedBy: "pipeline"})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		if err := acceptance.Add(i+1, r); err != nil {
			t.Fatal(err)
		}
	}
	_, err = acceptance.Commit(t.Context())
	return err
}

// good is a result for an entry of a lease; data may hold more members of a line.
func good(t *testing.T, lease queue.Lease, i int) *seqlease.Result {
	t.Helper()
	return result(t, lease, i, `{"data":{"metadata":{"valley":"Green","height":3},"unalignedNucleotideSequences":{"main":"acgtacgt"},
		"alignedNucleotideSequences":{"main":"acgt-cgt"},"nucleotideInsertions":{"main":["3:gg"]},"alignedAminoAcidSequences":{"env":null},
		"aminoAcidInsertions":{},"sequenceNameToFastaId":{"main":"s"}}}`)
}

// result reads a line and completes it for an entry of a lease.
func result(t *testing.T, lease queue.Lease, i int, line string) *seqlease.Result {
	t.Helper()
	var r seqlease.Result
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatal(err)
	}
	r.AccessionVersion, r.AttemptID = lease.Entries[i].AccessionVersion, lease.AttemptID
	return &r
}

// states counts the entries by status and result.
func (h *house) states(t *testing.T) map[string]int {
	t.Helper()
	got := map[string]int{}
	root := seqlease.Person{Name: "root", Roles: []seqlease.Role{seqlease.SuperUser}}
	_, err := h.submissions.List(t.Context(), root, submission.ListRequest{Organism: fern}, func(e submission.ListedEntry) error {
		got[string(e.Status)+" "+string(e.Result)]++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// noneDamaged fails the test if a stored document is.
func noneDamaged(t *testing.T) func(seqlease.AccessionVersion, error) {
	return func(av seqlease.AccessionVersion, err error) {
		t.Helper()
		t.Errorf("%s is damaged: %v", av, err)
	}
}
