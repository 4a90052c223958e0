package demo

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/worker"
)

func TestMaterial_IsTheSetOfTestdata(t *testing.T) {
	t.Parallel()
	m, err := loadMaterial()
	if err != nil {
		t.Fatal(err)
	}
	if len(m.genomes) != 45 || m.reference != 10769 {
		t.Errorf("%d genomes, reference of %d bases", len(m.genomes), m.reference)
	}
	for _, name := range []string{"metadata.tsv", "sequences.fasta", "reference.fasta"} {
		want, err := os.ReadFile(filepath.Join("../../testdata/zika", name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := zika.ReadFile("zika/" + name)
		if err != nil {
			t.Fatal(err)
		}
		want = bytes.Replace(want, []byte("\taccession\t"), []byte("\tinsdcAccession\t"), 1)
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from that of testdata", name)
		}
	}
}

func TestWriteConfig_KeepsTheTokensOutOfTheFile(t *testing.T) {
	t.Parallel()
	path, secret, err := writeConfig(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{secret.submitter, secret.pipeline, secret.operator} {
		if len(token) < 20 || bytes.Contains(text, []byte(token)) {
			t.Errorf("token %q is short or in the file", token)
		}
	}
}

// play books a run as it should be: worker 1 is killed with entries 0 and 1,
// worker 2 stopped with entries 2 and 3, worker 3 does all the work.
func play(t *testing.T) (*stage, incident) {
	t.Helper()
	d := &stage{ledger: newLedger(), entries: map[seqlease.AccessionVersion]string{}}
	what := incident{killed: seqlease.NewAttemptID(), frozen: seqlease.NewAttemptID()}
	for i := range 5 {
		d.entries[version(i)] = fmt.Sprintf("s%d", i)
	}
	d.ledger.note(1, worker.Event{Kind: worker.Claimed, AttemptID: what.killed, Entries: entries(1, 0, 1)})
	d.ledger.note(2, worker.Event{Kind: worker.Claimed, AttemptID: what.frozen, Entries: entries(1, 2, 3)})
	for _, batch := range [][]worker.EventEntry{entries(1, 4), entries(2, 0, 1), entries(2, 2, 3)} {
		attempt := seqlease.NewAttemptID()
		d.ledger.note(3, worker.Event{Kind: worker.Claimed, AttemptID: attempt, Entries: batch})
		d.ledger.note(3, worker.Event{Kind: worker.EntryDone, AttemptID: attempt, Entries: batch[:1], Errors: []string{"too bad"}})
		d.ledger.note(3, worker.Event{Kind: worker.Submitted, AttemptID: attempt, Entries: batch})
	}
	refused := []seqlease.Refusal{{Reason: seqlease.RefusedLeaseLost}, {Reason: seqlease.RefusedLeaseLost}}
	d.ledger.note(2, worker.Event{Kind: worker.Refused, AttemptID: what.frozen, Refused: refused})
	return d, what
}

func version(i int) seqlease.AccessionVersion {
	return seqlease.AccessionVersion{Accession: seqlease.NewAccession("T_", int64(i+1)), Version: 1}
}

func entries(attempt int, numbers ...int) []worker.EventEntry {
	var list []worker.EventEntry
	for _, i := range numbers {
		list = append(list, worker.EventEntry{AccessionVersion: version(i), Attempt: attempt})
	}
	return list
}

func TestReport_CountsARun(t *testing.T) {
	t.Parallel()
	d, what := play(t)
	got := &Report{Failed: []string{}}
	got.count(d.ledger, []string{"killed", "stopped", "worked"})
	d.checkLeases(got, what)
	want := &Report{
		Claims: 5, ExpiredLeases: 2, RefusedLateResults: 2,
		Workers: []WorkerReport{
			{Worker: 1, Claims: 1, LostLeases: 1, Fate: "killed"},
			{Worker: 2, Claims: 1, LostLeases: 1, RefusedLateResults: 2, Fate: "stopped"},
			{Worker: 3, Claims: 3, Accepted: 5, Fate: "worked"},
		},
		Messages: []message{{Severity: "error", Text: "too bad", Entries: 3}},
		Failed:   []string{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

func TestLedger_CountsMessagesByTheirSentence(t *testing.T) {
	t.Parallel()
	l := newLedger()
	for _, text := range []string{
		`The field "date" has the value "2013-12-XX", which is no date.`, `The field "date" has the value "2 \"o'clock\"", which is no date.`,
		`The field "size2" has the value "x", which is no number.`, `1 of 30 genomes is odd.`, `2 of 3.5 genomes is odd.`,
	} {
		l.annotate(worker.Event{Errors: []string{text}})
	}
	r := &Report{}
	r.count(l, nil)
	want := []message{
		{Severity: "error", Text: `The field "date" has the value "…", which is no date.`, Entries: 2},
		{Severity: "error", Text: `… of … genomes is odd.`, Entries: 2},
		{Severity: "error", Text: `The field "size2" has the value "x", which is no number.`, Entries: 1},
	}
	if diff := cmp.Diff(want, r.Messages); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestChecks_FindWhatWentWrong spoils a good run in one way at a time.
func TestChecks_FindWhatWentWrong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(*stage, incident)
		want  string
	}{
		"accepted twice": {func(d *stage, what incident) {
			d.ledger.note(2, worker.Event{Kind: worker.Submitted, AttemptID: what.frozen, Entries: entries(1, 2)})
		}, "accepted 2 times, not once"},
		"never accepted": {func(d *stage, _ incident) { d.entries[version(9)] = "s9" }, "accepted 0 times, not once"},
		"a stranger":     {func(d *stage, _ incident) { delete(d.entries, version(4)) }, "nobody submitted it"},
		"a late result stored": {func(d *stage, what incident) {
			d.ledger.claims[what.frozen].outcome = worker.Submitted
		}, `ended as "submitted"`},
		"refused for another reason": {func(d *stage, what incident) {
			d.ledger.claims[what.frozen].refused[1].Reason = seqlease.RefusedInvalid
		}, "only 1 of its 2 late results were refused for that"},
		"a batch dropped": {func(d *stage, _ incident) {
			d.ledger.claims[d.ledger.order[2]].outcome = worker.Dropped
		}, `ended as "dropped"`},
		"attempts not counted": {func(d *stage, _ incident) {
			d.ledger.claims[d.ledger.order[3]].entries[0].Attempt = 1
		}, "claimed again as attempt 1, not 2"},
		"never claimed again": {func(d *stage, _ incident) {
			delete(d.ledger.claims, d.ledger.order[3])
			d.ledger.order = append(d.ledger.order[:3], d.ledger.order[4])
		}, "held by the killed worker and never claimed again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, what := play(t)
			c.spoil(d, what)
			r := &Report{}
			d.checkLeases(r, what)
			if got := strings.Join(r.Failed, "\n"); !strings.Contains(got, c.want) {
				t.Errorf("failed checks %q have no %q", got, c.want)
			}
			if r.Err() == nil {
				t.Error("the report is no error")
			}
		})
	}
}

func TestCheckReleased_FindsWhatWentWrong(t *testing.T) {
	t.Parallel()
	line := func(submission, unaligned, aligned string) string {
		return fmt.Sprintf(`{"metadata":{"accession":%q,"version":1,"submissionId":%q,"groupId":7},`+
			`"unalignedNucleotideSequences":{"main":%s},"alignedNucleotideSequences":{"main":%s}}`, version(0).Accession, submission, unaligned, aligned)
	}
	for name, c := range map[string]struct{ line, want string }{
		"good":             {line("s0", `"ACG"`, `"ACG-"`), ""},
		"other submission": {line("s1", `"ACG"`, `"ACG-"`), "not \"s0\""},
		"other sequence":   {line("s0", `"ACC"`, `"ACC-"`), "isn't the submitted one"},
		"wrong length":     {line("s0", `"ACG"`, `"ACG"`), "has 3 positions, the reference 4"},
		"no sequence":      {line("s0", `null`, `"ACG-"`), "released without a sequence"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &stage{
				entries: map[seqlease.AccessionVersion]string{version(0): "s0"}, group: seqlease.Group{GroupID: 7},
				material: material{genomes: map[string]string{"s0": "ACG"}, reference: 4},
			}
			r, released := &Report{}, map[seqlease.AccessionVersion]int{}
			if err := d.checkReleased(r, []byte(c.line), map[seqlease.AccessionVersion]bool{version(0): true}, released); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(r.Failed, "\n"); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
				t.Errorf("failed checks %q, want %q", got, c.want)
			}
			if released[version(0)] != 1 {
				t.Errorf("counted %v", released)
			}
		})
	}
}

func TestReport_PrintAndJSON(t *testing.T) {
	t.Parallel()
	d, what := play(t)
	long := worker.Event{Warnings: []string{"A sentence that goes on and on, until it is wider than any terminal of the old kind used to be, and further"}}
	d.ledger.annotate(long)
	r := &Report{Organism: "zika", Store: "sqlite", Servers: 1, Entries: 5, Processed: 5, WithErrors: 3, Released: 2, Seconds: 1.25, Failed: []string{}}
	r.count(d.ledger, []string{"killed in mid-batch", "stopped past its lease", "worked to the end"})
	d.checkLeases(r, what)
	var text bytes.Buffer
	if err := r.Print(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"killed in mid-batch", "5 processed (3 with errors", "2 released", "too bad", "Every check passed."} {
		if !strings.Contains(strings.Join(strings.Fields(text.String()), " "), want) {
			t.Errorf("no %q in:\n%s", want, &text)
		}
	}
	for line := range strings.Lines(text.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	r.fail("it rained")
	text.Reset()
	if err := r.Print(&text); err != nil || !strings.Contains(text.String(), "it rained") || strings.Contains(text.String(), "Every check") {
		t.Errorf("%v:\n%s", err, &text)
	}
	document, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(document, &fields); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"organism": "zika", "entries": 5.0, "processed": 5.0, "withErrors": 3.0, "withWarnings": 0.0, "released": 2.0, "claims": 5.0,
		"expiredLeases": 2.0, "refusedLateResults": 2.0, "acceptedTwice": 0.0, "seconds": 1.25,
	} {
		if diff := cmp.Diff(want, fields[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestRun_NeedsEnoughWorkers(t *testing.T) {
	t.Parallel()
	if _, err := Run(t.Context(), Options{Workers: 2}); err == nil {
		t.Error("no error")
	}
}
