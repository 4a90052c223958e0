package intake

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/spool"
)

const testdata = "../../testdata"

// onDisk is a file as the door hands it over: bytes that can be read from any place.
func onDisk(path string) *File {
	return &File{Name: filepath.Base(path), Open: func() (io.ReadCloser, error) { return os.Open(path) }}
}

// inMemory is a file that can only be read from its beginning.
func inMemory(name string, content []byte) *File {
	return &File{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }}
}

func written(name, content string) *File { return inMemory(name, []byte(content)) }

// reference reads a FASTA of the test data into an organism.
func reference(tb testing.TB, key seqlease.Organism, files ...string) *organism.Organism {
	tb.Helper()
	o := &organism.Organism{Key: key, DisplayName: string(key), ConsensusSequences: true}
	for i, file := range files {
		b, err := os.ReadFile(filepath.Join(testdata, file))
		if err != nil {
			tb.Fatal(err)
		}
		_, letters, _ := strings.Cut(string(b), "\n")
		name := organism.MainSegment
		if len(files) > 1 {
			name = fmt.Sprint("segment", i)
		}
		o.Segments = append(o.Segments, organism.NamedSequence{Name: name, Sequence: strings.ReplaceAll(letters, "\n", "")})
	}
	return o
}

func zika(tb testing.TB) *organism.Organism {
	tb.Helper()
	return reference(tb, "zika", "zika/reference.fasta")
}

func cchf(tb testing.TB) *organism.Organism {
	tb.Helper()
	return reference(tb, "cchf", "cchf/reference_L.fasta", "cchf/reference_M.fasta", "cchf/reference_S.fasta")
}

// check checks an upload and closes it with the test. The spool directory is
// empty again afterwards.
func check(tb testing.TB, r Request) (*Checked, error) {
	tb.Helper()
	if r.Spool == nil {
		r.Spool = spool.NewDir(tb.TempDir(), 0)
	}
	checked, err := Check(tb.Context(), r)
	tb.Cleanup(func() {
		if checked != nil {
			if err := checked.Close(); err != nil {
				tb.Error(err)
			}
		}
		left, err := os.ReadDir(r.Spool.Path())
		if err != nil || len(left) > 0 {
			tb.Errorf("spool directory still has %v (%v)", left, err)
		}
		if used := r.Spool.Used(); used != 0 {
			tb.Errorf("%d bytes of spool space were not given back", used)
		}
	})
	return checked, err
}

// entry is an entry as a pipeline sees it.
type entry struct {
	SubmissionID string
	Data         seqlease.SubmittedData
}

func entries(tb testing.TB, c *Checked) []entry {
	tb.Helper()
	var all []entry
	for e, err := range c.Entries() {
		if err != nil {
			tb.Fatal(err)
		}
		got := entry{SubmissionID: e.SubmissionID}
		if err := json.Unmarshal(e.Data, &got.Data); err != nil {
			tb.Fatalf("%s: %v", e.Data, err)
		}
		all = append(all, got)
	}
	if len(all) != c.Len() {
		tb.Errorf("%d entries, Len says %d", len(all), c.Len())
	}
	return all
}

// messyCase is a line of testdata/messy/expected.tsv.
type messyCase struct {
	name, decision, stage, kind, names string
	sameAsClean                        bool
}

func messyCases(tb testing.TB) []messyCase {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join(testdata, "messy/expected.tsv"))
	if err != nil {
		tb.Fatal(err)
	}
	var cases []messyCase
	for _, line := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")[1:] {
		f := strings.Split(line, "\t")
		cases = append(cases, messyCase{name: f[0], decision: f[1], stage: f[2], kind: f[3], names: f[4], sameAsClean: f[5] == "yes"})
	}
	return cases
}

func messyRequest(tb testing.TB, name string) Request {
	tb.Helper()
	r := Request{Organism: zika(tb)}
	if strings.Contains(name, "multi-segment") {
		r.Organism = cchf(tb)
	}
	files, err := filepath.Glob(filepath.Join(testdata, "messy", name, "*"))
	if err != nil || len(files) != 2 {
		tb.Fatalf("files of %s: %v (%v)", name, files, err)
	}
	r.Metadata, r.Sequences = onDisk(files[0]), onDisk(files[1])
	return r
}

// ourDecisions are those where expected.tsv leaves the choice.
var ourDecisions = map[string]string{
	"32-space-after-gt":    "accept",
	"39-id-unicode-forms":  "reject",
	"50-zst-long-window":   "reject",
	"55-gz-without-suffix": "accept",
	"56-wrong-suffix":      "accept",
	"59-genbank-paste":     "reject",
	"07-question-marks":    "accept", // the pipeline judges letters
	"09-rna-u":             "accept",
	"58-protein-fasta":     "accept",
	"60-stop-asterisk":     "accept",
}

// named reads testdata/messy/named.tsv: all problems of every refused case, with
// words of their messages.
func named(tb testing.TB) map[string][]seqlease.Problem {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join(testdata, "messy/named.tsv"))
	if err != nil {
		tb.Fatal(err)
	}
	problems := map[string][]seqlease.Problem{}
	for _, row := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")[1:] {
		f := strings.Split(row, "\t")
		line, err := strconv.Atoi(f[2])
		if err != nil {
			tb.Fatalf("%q: %v", row, err)
		}
		value := ""
		if f[5] != "" {
			if value, err = strconv.Unquote(f[5]); err != nil {
				tb.Fatalf("%q: %v", row, err)
			}
		}
		problems[f[0]] = append(problems[f[0]], seqlease.Problem{File: f[1], Line: line, Record: f[3], Field: f[4], Value: value, Message: f[6]})
	}
	return problems
}

// wantProblems checks the problems that err carries against the table's.
func wantProblems(tb testing.TB, err error, want []seqlease.Problem) {
	tb.Helper()
	var invalid *seqlease.InvalidError
	var explained *seqlease.ExplainedError
	var got []seqlease.Problem
	switch {
	case errors.As(err, &invalid):
		got = slices.Clone(invalid.Problems)
	case errors.As(err, &explained) && explained.Problem != nil:
		got = []seqlease.Problem{*explained.Problem}
	}
	for i := range got {
		if i < len(want) && strings.Contains(got[i].Message, want[i].Message) {
			got[i].Message = want[i].Message
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		tb.Errorf("problems (-want +got):\n%s", diff)
	}
}

// TestMessyUploads walks every damaged upload: the decision, what the message
// names, and that what is repaired equals the clean upload.
func TestMessyUploads(t *testing.T) {
	t.Parallel()
	cases := messyCases(t)
	if len(cases) != 74 {
		t.Fatalf("%d cases, want 74", len(cases))
	}
	clean, err := check(t, messyRequest(t, "00-clean"))
	if err != nil {
		t.Fatal(err)
	}
	want := entries(t, clean)
	problems := named(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			decision := c.decision
			if decision == "either" {
				decision = ourDecisions[c.name]
			}
			checked, err := check(t, messyRequest(t, c.name))
			switch decision {
			case "accept":
				if err != nil {
					t.Fatalf("refused: %v", err)
				}
				got := entries(t, checked)
				if c.sameAsClean {
					if diff := cmp.Diff(normalised(want), normalised(got)); diff != "" {
						t.Errorf("differs from the clean upload (-clean +got):\n%s", diff)
					}
				}
			case "reject":
				wantRefusal(t, err, c.names)
				wantProblems(t, err, problems[c.name])
			default:
				t.Fatalf("no decision: %q", decision)
			}
		})
	}
}

// normalised does what pipelines do to letters: capitals, T for U.
func normalised(all []entry) []entry {
	all = slices.Clone(all)
	for i := range all {
		all[i].Data.UnalignedNucleotideSequences = maps.Clone(all[i].Data.UnalignedNucleotideSequences)
		for id, s := range all[i].Data.UnalignedNucleotideSequences {
			all[i].Data.UnalignedNucleotideSequences[id] = strings.ReplaceAll(strings.ToUpper(s), "U", "T")
		}
	}
	return all
}

// wantRefusal checks that err is one that the submitter is told, with all of the words.
func wantRefusal(tb testing.TB, err error, words ...string) {
	tb.Helper()
	var invalid *seqlease.InvalidError
	if !errors.As(err, &invalid) && !errors.Is(err, seqlease.ErrTooLarge) {
		tb.Fatalf("got %v (%T), want a refusal", err, err)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			tb.Errorf("message %q does not say %q", err, word)
		}
	}
}

func invalidError(tb testing.TB, err error) *seqlease.InvalidError {
	tb.Helper()
	var invalid *seqlease.InvalidError
	if !errors.As(err, &invalid) {
		tb.Fatalf("got %v (%T), want an InvalidError", err, err)
	}
	return invalid
}

func isRefusal(err error) bool {
	var invalid *seqlease.InvalidError
	return errors.As(err, &invalid) || errors.Is(err, seqlease.ErrTooLarge)
}

// failing is a file whose reading fails after the content.
func failing(name, content string, err error) *File {
	return &File{Name: name, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader(content), iotest.ErrReader(err))), nil
	}}
}
