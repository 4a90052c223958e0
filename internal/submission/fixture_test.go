package submission_test

import (
	"bytes"
	stdjson "encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"
	"go.uber.org/goleak"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/intake"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/spool"
	"github.com/seqlease/seqlease/internal/sqlite"
	"github.com/seqlease/seqlease/internal/submission"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const zika seqlease.Organism = "zika"

var (
	anna     = seqlease.Person{Name: "anna"}
	bert     = seqlease.Person{Name: "bert"}
	root     = seqlease.Person{Name: "root", Roles: []seqlease.Role{seqlease.SuperUser}}
	pipeline = seqlease.Person{Name: "pipeline", Roles: []seqlease.Role{seqlease.PreprocessingPipeline}}
)

// house is the domain on a real store.
type house struct {
	*submission.Submissions
	queue *queue.Queue
	spool *spool.Dir
	store *sqlite.Store
	group int64 // anna's
}

// testdata returns a file of the real data sets.
func testdata(name string) string { return filepath.Join("..", "..", "testdata", name) }

// zikaOrganism has the real reference genome.
func zikaOrganism(t *testing.T) *organism.Organism {
	t.Helper()
	fasta, err := os.ReadFile(testdata("zika/reference.fasta"))
	if err != nil {
		t.Fatal(err)
	}
	_, bases, _ := strings.Cut(string(fasta), "\n")
	return &organism.Organism{
		Key: zika, DisplayName: "Zika virus", ConsensusSequences: true,
		Metadata: []organism.Field{
			{Name: "country", Type: organism.String, Required: true},
			{Name: "authors", Type: organism.Authors},
		},
		Segments: []organism.NamedSequence{{Name: organism.MainSegment, Sequence: strings.ToUpper(strings.ReplaceAll(bases, "\n", ""))}},
		Genes:    []organism.NamedSequence{{Name: "CA", Sequence: "MKNPKKK"}},
	}
}

// open returns a fresh house. wrap may put something between it and the store.
func open(t *testing.T, terms submission.TermsOptions, wrap func(submission.Store) submission.Store) *house {
	t.Helper()
	ctx := t.Context()
	store, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(t.TempDir(), "seqlease.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("close store: %v", err)
		}
	})
	other := &organism.Organism{Key: "other", DisplayName: "Another virus", ConsensusSequences: true}
	catalog, err := organism.NewCatalog(zikaOrganism(t), other)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Register(ctx, catalog.All()); err != nil {
		t.Fatal(err)
	}
	var seen submission.Store = store
	if wrap != nil {
		seen = wrap(store)
	}
	dir := spool.NewDir(t.TempDir(), 0)
	h := &house{
		Submissions: submission.New(seen, catalog, submission.Options{AccessionPrefix: "LOC_", DataUseTerms: terms, Spool: dir}),
		queue:       queue.New(store, catalog), spool: dir, store: store,
	}
	group, err := h.CreateGroup(ctx, anna, seqlease.NewGroup{GroupName: "Anna's group", ContactEmail: "anna@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	h.group = group.GroupID
	return h
}

func onDisk(path string) *intake.File {
	return &intake.File{Name: filepath.Base(path), Open: func() (io.ReadCloser, error) { return os.Open(path) }}
}

func inMemory(name, content string) *intake.File {
	return &intake.File{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }}
}

// submitZika submits the real genomes and returns their accessions in order.
func (h *house) submitZika(t *testing.T) []seqlease.SubmissionIDMapping {
	t.Helper()
	return h.submit(t, anna, submission.SubmitRequest{
		Organism: zika, GroupID: h.group, TermsType: "OPEN",
		Metadata: onDisk(testdata("zika/metadata.tsv")), Sequences: onDisk(testdata("zika/sequences.fasta")),
	})
}

// submitSmall submits entries with the given ids and a made-up sequence each.
func (h *house) submitSmall(t *testing.T, p seqlease.Person, group int64, ids ...string) []seqlease.SubmissionIDMapping {
	t.Helper()
	return h.submitLetters(t, p, group, "ACGTACGT", ids...)
}

// submitLetters submits entries with the given ids, which have all the same sequence.
func (h *house) submitLetters(t *testing.T, p seqlease.Person, group int64, letters string, ids ...string) []seqlease.SubmissionIDMapping {
	t.Helper()
	return h.submit(t, p, h.request(group, letters, ids...))
}

// request is an upload of such entries.
func (h *house) request(group int64, letters string, ids ...string) submission.SubmitRequest {
	var metadata, sequences strings.Builder
	metadata.WriteString("id\tcountry\n")
	for _, id := range ids {
		metadata.WriteString(id + "\tPeru\n")
		sequences.WriteString(">" + id + "\n" + letters + "\n")
	}
	return submission.SubmitRequest{
		Organism: zika, GroupID: group, TermsType: "OPEN",
		Metadata: inMemory("m.tsv", metadata.String()), Sequences: inMemory("s.fasta", sequences.String()),
	}
}

func (h *house) submit(t *testing.T, p seqlease.Person, r submission.SubmitRequest) []seqlease.SubmissionIDMapping {
	t.Helper()
	stored, err := h.Submit(t.Context(), p, r)
	if err != nil {
		t.Fatalf("submit: %v", err)
	}
	return stored
}

// process claims everything and sends a result for each entry, which judge may
// change before it is sent.
func (h *house) process(t *testing.T, judge func(r *seqlease.Result, submissionID string)) {
	t.Helper()
	ctx := t.Context()
	lease, err := h.queue.Claim(ctx, queue.ClaimRequest{Organism: zika, PipelineVersion: 1, Entries: 1000, ClaimedBy: pipeline.Name})
	if err != nil {
		t.Fatalf("claim: %v", err)
	}
	acceptance, err := h.queue.NewAcceptance(ctx, queue.AcceptanceRequest{Organism: zika, PipelineVersion: 1, SubmittedBy: pipeline.Name})
	if err != nil {
		t.Fatal(err)
	}
	number := 0
	for entry, err := range h.queue.Entries(ctx, lease, func(av seqlease.AccessionVersion, err error) { t.Errorf("%s is damaged: %v", av, err) }) {
		if err != nil {
			t.Fatal(err)
		}
		number++
		result := resultFor(t, entry, lease.AttemptID)
		if judge != nil {
			judge(result, entry.SubmissionID)
		}
		if err := acceptance.Add(number, result); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := acceptance.Commit(ctx); err != nil {
		t.Fatalf("accept: %v", err)
	}
}

// resultFor passes the sequence and two metadata fields on.
func resultFor(t *testing.T, e queue.Entry, attempt seqlease.AttemptID) *seqlease.Result {
	t.Helper()
	var data seqlease.SubmittedData
	if err := json.Unmarshal(e.Data, &data); err != nil {
		t.Fatalf("data of %s: %v", e.AccessionVersion, err)
	}
	result := &seqlease.Result{AccessionVersion: e.AccessionVersion, AttemptID: attempt, Data: seqlease.ProcessedData{
		Metadata:                     map[string]stdjson.RawMessage{},
		UnalignedNucleotideSequences: map[string]*string{},
		SequenceNameToFastaID:        map[string]string{},
		NucleotideInsertions:         map[string][]seqlease.Insertion{organism.MainSegment: {{Position: 61, Sequence: "t"}}},
	}}
	for _, name := range []string{"country", "authors"} {
		value, err := json.Marshal(data.Metadata[name])
		if err != nil {
			t.Fatal(err)
		}
		result.Data.Metadata[name] = value
	}
	for id, sequence := range data.UnalignedNucleotideSequences {
		result.Data.UnalignedNucleotideSequences[organism.MainSegment] = &sequence
		result.Data.SequenceNameToFastaID[organism.MainSegment] = id
	}
	return result
}

func annotation(message string) []seqlease.Annotation {
	return []seqlease.Annotation{{Message: message, ProcessedFields: []seqlease.Source{{Type: seqlease.MetadataSource, Name: "country"}}}}
}

// list returns the entries as "ACC.V STATUS RESULT" and the counts.
func (h *house) list(t *testing.T, p seqlease.Person, r submission.ListRequest) ([]string, submission.Counts) {
	t.Helper()
	var lines []string
	counts, err := h.List(t.Context(), p, r, func(e submission.ListedEntry) error {
		lines = append(lines, e.String()+" "+string(e.Status)+" "+string(e.Result))
		return nil
	})
	if err != nil {
		t.Fatalf("list: %v", err)
	}
	return lines, counts
}

// download returns what is released as text.
func (h *house) download(t *testing.T) (*submission.Release, string) {
	t.Helper()
	r, err := h.Released(t.Context(), zika, "")
	if err != nil {
		t.Fatalf("released: %v", err)
	}
	defer r.Close()
	return r, read(t, r, false)
}

func read(t *testing.T, r *submission.Release, compressed bool) string {
	t.Helper()
	body, err := r.Open(t.Context(), compressed)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = body.Close() }()
	var all bytes.Buffer
	if _, err := io.Copy(&all, body); err != nil {
		t.Fatalf("read released data: %v", err)
	}
	return all.String()
}
