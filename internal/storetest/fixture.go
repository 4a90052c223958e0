package storetest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

// The organisms of the fixtures: one with a single segment, one with two.
const (
	WestNile seqlease.Organism = "west-nile"
	CCHF     seqlease.Organism = "cchf"
)

const (
	submitter = "anna"
	worker    = "preprocessing_pipeline"
	prefix    = "LOC_"
	leaseTime = 10 * time.Minute
)

// Organisms returns fresh copies of the fixtures' organisms in order of key,
// with random but always the same reference genomes.
func Organisms() []*organism.Organism {
	metadata := []organism.Field{{Name: "country", Type: organism.String}, {Name: "age", Type: organism.Int}}
	return []*organism.Organism{
		{
			Key: CCHF, DisplayName: "Crimean-Congo haemorrhagic fever virus", ConsensusSequences: true, Metadata: metadata,
			Segments: []organism.NamedSequence{{Name: "L", Sequence: genome(600, 1)}, {Name: "S", Sequence: genome(300, 2)}},
		},
		{
			Key: WestNile, DisplayName: "West Nile virus", ConsensusSequences: true, Metadata: metadata,
			Segments: []organism.NamedSequence{{Name: organism.MainSegment, Sequence: genome(900, 3)}},
			Genes:    []organism.NamedSequence{{Name: "E", Sequence: "MKTAYIAKQR"}},
		},
	}
}

// genome returns random bases, the same for the same seed.
func genome(length int, seed uint64) string {
	random := rand.New(rand.NewPCG(seed, seed))
	bases := make([]byte, length)
	for i := range bases {
		bases[i] = "ACGT"[random.IntN(4)]
	}
	return string(bases)
}

// fixture is a fresh store with the organisms registered and one group.
type fixture struct {
	Store
	h     Harness
	group seqlease.Group
}

func newFixture(t *testing.T, h Harness) *fixture {
	t.Helper()
	return newFixtureOn(t, h, h.New(t))
}

func newFixtureOn(t *testing.T, h Harness, s Store) *fixture {
	t.Helper()
	f := &fixture{Store: s, h: h}
	f.register(t, Organisms()...)
	f.group = f.newGroup(t, "Institute of Virology", submitter)
	return f
}

// second is the same fixture seen by another server.
func (f *fixture) second(t *testing.T) *fixture {
	t.Helper()
	other := &fixture{Store: f.h.Second(t, f.Store), h: f.h, group: f.group}
	other.register(t, Organisms()...)
	return other
}

// age lets d pass.
func (f *fixture) age(t *testing.T, d time.Duration) {
	t.Helper()
	f.h.Age(t, f.Store, d)
}

func (f *fixture) newGroup(t *testing.T, name, creator string) seqlease.Group {
	t.Helper()
	g, err := f.CreateGroup(t.Context(), seqlease.NewGroup{GroupName: name, ContactEmail: "lab@example.org"}, creator)
	if err != nil {
		t.Fatalf("create group %q: %v", name, err)
	}
	return g
}

// submitted returns the document of the i-th entry that the fixtures submit.
func submitted(i int) []byte {
	return document(seqlease.SubmittedData{
		Metadata:                     map[string]string{"country": "Kenya", "number": strconv.Itoa(i)},
		UnalignedNucleotideSequences: map[string]string{organism.MainSegment: genome(60, uint64(i)+100)},
	})
}

// document marshals a value that can always be marshalled.
func document(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// sampleID is the submission id of the i-th entry that the fixtures submit.
func sampleID(i int) string { return fmt.Sprintf("sample-%d", i) }

// sample is the i-th entry that the fixtures submit.
func (f *fixture) sample(o seqlease.Organism, i int) submission.PackedEntry {
	return submission.PackedEntry{SubmissionID: sampleID(i), Data: f.pack(o, submitted(i))}
}

// pack packs a document of an organism that is registered.
func (f *fixture) pack(o seqlease.Organism, document []byte) seqlease.Packed {
	packed, err := f.Pack(o, document)
	if err != nil {
		panic(err)
	}
	return packed
}

// entries yields the first n samples.
func (f *fixture) entries(o seqlease.Organism, n int) iter.Seq2[submission.PackedEntry, error] {
	return func(yield func(submission.PackedEntry, error) bool) {
		for i := range n {
			if !yield(f.sample(o, i), nil) {
				return
			}
		}
	}
}

// upload is a submission of n entries of West Nile virus by the fixture's group.
func (f *fixture) upload(n int) submission.Upload {
	return submission.Upload{
		Organism: WestNile, GroupID: f.group.GroupID, Submitter: submitter, AccessionPrefix: prefix,
		Terms: seqlease.DataUseTerms{Type: seqlease.TermsOpen}, Entries: f.entries(WestNile, n),
	}
}

// submitUpload stores the upload and returns its entries in upload order.
func (f *fixture) submitUpload(t *testing.T, u submission.Upload) []seqlease.AccessionVersion {
	t.Helper()
	mappings, err := f.Submit(t.Context(), u)
	if err != nil {
		t.Fatalf("submit: %v", err)
	}
	versions := make([]seqlease.AccessionVersion, len(mappings))
	for i, m := range mappings {
		versions[i] = m.AccessionVersion
	}
	return versions
}

// submit stores n entries of West Nile virus.
func (f *fixture) submit(t *testing.T, n int) []seqlease.AccessionVersion {
	t.Helper()
	return f.submitUpload(t, f.upload(n))
}

// submitTo stores n entries of the organism.
func (f *fixture) submitTo(t *testing.T, o seqlease.Organism, n int) []seqlease.AccessionVersion {
	t.Helper()
	u := f.upload(0)
	u.Organism, u.Entries = o, f.entries(o, n)
	return f.submitUpload(t, u)
}

// ask is a claim of at most n entries of West Nile virus under a new attempt id.
func ask(n int) queue.Claim {
	return queue.Claim{
		Organism: WestNile, PipelineVersion: 1, Entries: n, AttemptID: seqlease.NewAttemptID(),
		Lease: leaseTime, ClaimedBy: worker, WorkerID: "worker 1",
	}
}

// claimAs makes the claim.
func (f *fixture) claimAs(t *testing.T, c queue.Claim) queue.Lease {
	t.Helper()
	lease, err := f.Claim(t.Context(), c)
	if err != nil {
		t.Fatalf("claim %d entries of %s: %v", c.Entries, c.Organism, err)
	}
	return lease
}

// claim claims at most n entries of West Nile virus.
func (f *fixture) claim(t *testing.T, n int) queue.Lease {
	t.Helper()
	return f.claimAs(t, ask(n))
}

// claimFrom claims at most n entries of the organism.
func (f *fixture) claimFrom(t *testing.T, o seqlease.Organism, n int) queue.Lease {
	t.Helper()
	c := ask(n)
	c.Organism = o
	return f.claimAs(t, c)
}

// claimed lists the entries of the lease in claim order.
func claimed(l queue.Lease) []seqlease.AccessionVersion {
	versions := make([]seqlease.AccessionVersion, len(l.Entries))
	for i, e := range l.Entries {
		versions[i] = e.AccessionVersion
	}
	return versions
}

// data is the document of a claimed entry; empty if the claim doesn't carry it.
func (f *fixture) data(t *testing.T, e queue.ClaimedEntry) string {
	t.Helper()
	if e.Packed.Bytes == nil {
		return ""
	}
	document, err := f.Unpack(t.Context(), e.Packed)
	if err != nil {
		t.Fatalf("unpack the data of %s: %v", e.AccessionVersion, err)
	}
	return string(document)
}

// attempts lists the attempts of the lease's entries in claim order.
func attempts(l queue.Lease) []int {
	list := make([]int, len(l.Entries))
	for i, e := range l.Entries {
		list[i] = e.Attempt
	}
	return list
}

// processed is a result document that says the text and is judged as asked.
func processed(text string, judged seqlease.ProcessingResult) []byte {
	sequence := "ACGT"
	result := seqlease.StoredResult{
		Data: seqlease.ProcessedData{
			Metadata:                     map[string]json.RawMessage{"country": document(text)},
			UnalignedNucleotideSequences: map[string]*string{organism.MainSegment: &sequence},
			NucleotideInsertions:         map[string][]seqlease.Insertion{organism.MainSegment: {{Position: 3, Sequence: "GG"}}},
		},
		Errors: []seqlease.Annotation{}, Warnings: []seqlease.Annotation{},
	}
	note := []seqlease.Annotation{{Message: "too short"}}
	if judged == seqlease.HasErrors {
		result.Errors = note
	}
	if judged == seqlease.HasWarnings {
		result.Warnings = note
	}
	return document(result)
}

// line is a result that says the text.
func (f *fixture) line(t *testing.T, number int, av seqlease.AccessionVersion, id seqlease.AttemptID, text string, judged seqlease.ProcessingResult) queue.Line {
	t.Helper()
	doc := processed(text, judged)
	packed, err := f.Pack(WestNile, doc)
	if err != nil {
		t.Fatalf("pack: %v", err)
	}
	digest := sha256.Sum256(doc)
	return queue.Line{
		AccessionVersion: av, Number: number, AttemptID: id, Result: judged, Digest: [16]byte(digest[:16]), Packed: packed,
	}
}

// lines are results without issues for all that the lease holds, numbered from 1.
func (f *fixture) lines(t *testing.T, l queue.Lease) []queue.Line {
	t.Helper()
	lines := make([]queue.Line, len(l.Entries))
	for i, e := range l.Entries {
		lines[i] = f.line(t, i+1, e.AccessionVersion, l.AttemptID, "result of "+e.String(), seqlease.NoIssues)
	}
	return lines
}

// results is a submission of the lines by the fixtures' worker.
func results(lines ...queue.Line) queue.Submission {
	return queue.Submission{Organism: WestNile, PipelineVersion: 1, ClaimedBy: worker, Lines: lines}
}

// submitResults makes the submission.
func (f *fixture) submitResults(t *testing.T, s queue.Submission) error {
	t.Helper()
	_, err := f.AcceptResults(t.Context(), s)
	return err
}

// accept submits the lines.
func (f *fixture) accept(t *testing.T, lines ...queue.Line) error {
	t.Helper()
	return f.submitResults(t, results(lines...))
}

// mustAccept submits the lines, which must be accepted.
func (f *fixture) mustAccept(t *testing.T, lines ...queue.Line) {
	t.Helper()
	if err := f.accept(t, lines...); err != nil {
		t.Fatalf("accept %d results: %v", len(lines), err)
	}
}

// process submits one entry for each judgement and has it processed so.
func (f *fixture) process(t *testing.T, judged ...seqlease.ProcessingResult) []seqlease.AccessionVersion {
	t.Helper()
	versions := f.submit(t, len(judged))
	lease := f.claim(t, len(judged))
	if !slices.Equal(claimed(lease), versions) {
		t.Fatalf("claimed %v, want %v", claimed(lease), versions)
	}
	lines := make([]queue.Line, len(judged))
	for i, j := range judged {
		lines[i] = f.line(t, i+1, versions[i], lease.AttemptID, "result of "+versions[i].String(), j)
	}
	f.mustAccept(t, lines...)
	return versions
}
