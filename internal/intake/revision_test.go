package intake

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
)

// tableOf checks an upload of metadata alone.
func tableOf(t *testing.T, revision bool, content string) (*Checked, error) {
	t.Helper()
	o := zika(t)
	o.ConsensusSequences = false
	return check(t, Request{Organism: o, Revision: revision, Metadata: written("m.tsv", content)})
}

func TestRevision_AccessionsAreNoMetadata(t *testing.T) {
	t.Parallel()
	const content = "accession\tid\tcountry\nLOC_2\ta\tPeru\nLOC_1\tb\tChile\n"
	revision, err := tableOf(t, true, content)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]seqlease.Accession{"LOC_2", "LOC_1"}, revision.Accessions()); diff != "" {
		t.Errorf("accessions (-want +got):\n%s", diff)
	}
	submission, err := tableOf(t, false, content)
	if err != nil {
		t.Fatal(err)
	}
	if got := submission.Accessions(); len(got) != 0 {
		t.Errorf("a submission names the accessions %v", got)
	}
	for name, c := range map[string]struct {
		checked *Checked
		want    map[string]string
	}{
		"revision":   {revision, map[string]string{"country": "Peru"}},
		"submission": {submission, map[string]string{"country": "Peru", "accession": "LOC_2"}},
	} {
		if diff := cmp.Diff(c.want, entries(t, c.checked)[0].Data.Metadata); diff != "" {
			t.Errorf("metadata of a %s (-want +got):\n%s", name, diff)
		}
	}
	if revision.Memory() <= submission.Memory() {
		t.Errorf("%d bytes with accessions, %d without", revision.Memory(), submission.Memory())
	}
}

func TestRevision_FaultsOfAccessions(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		content string
		want    seqlease.Problem
		says    string
	}{
		"no column":    {"id\tc\na\tx\n", seqlease.Problem{Line: 1}, `no column "accession"`},
		"empty":        {"id\taccession\tc\na\t\tx\n", seqlease.Problem{Line: 2, Record: "a", Field: "accession"}, "is empty"},
		"blank":        {"id\taccession\tc\na\tL 1\tx\n", seqlease.Problem{Line: 2, Record: "a", Field: "accession", Value: "L 1"}, "U+0020"},
		"NUL":          {"id\taccession\tc\na\tL\x00\tx\n", seqlease.Problem{Line: 2, Record: "a", Field: "accession", Value: "L\x00"}, "U+0000"},
		"with version": {"id\taccession\tc\na\tL.1\tx\n", seqlease.Problem{Line: 2, Record: "a", Field: "accession", Value: "L.1"}, `write "L"`},
		"too long":     {"id\taccession\tc\na\t" + strings.Repeat("x", 256) + "\tx\n", seqlease.Problem{Line: 2, Record: "a", Field: "accession", Value: strings.Repeat("x", 60) + "…"}, "256 characters"},
		"duplicate":    {"id\taccession\tc\na\tL\tx\nb\tL\tx\n", seqlease.Problem{Line: 3, Record: "b", Field: "accession", Value: "L"}, "stands in line 2 already"},
		"alone":        {"id\taccession\na\tL\n", seqlease.Problem{Line: 1}, "at least one column of metadata"},
	} {
		_, err := tableOf(t, true, tt.content)
		problems := invalidError(t, err).Problems
		if len(problems) != 1 || !strings.Contains(problems[0].Message, tt.says) {
			t.Errorf("%s: %v, want one problem that says %q", name, problems, tt.says)
			continue
		}
		tt.want.File, tt.want.Message = metadataFile, problems[0].Message
		if diff := cmp.Diff(tt.want, problems[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestAttachments_AreAFaultOfTheRequest: they are told beside other faults, too, which
// decide then.
func TestAttachments_AreAFaultOfTheRequest(t *testing.T) {
	t.Parallel()
	for _, revision := range []bool{false, true} {
		_, err := tableOf(t, revision, "id\taccession\tc\tfiles.raw\tfiles.log\na\tL\tx\t\t\n")
		e := invalidError(t, err)
		if e.Kind != seqlease.InvalidRequest || len(e.Problems) != 2 || e.Problems[0].Field != "files.raw" || e.Problems[1].Field != "files.log" {
			t.Errorf("got kind %d and %v, want a fault of the request with both columns", e.Kind, e.Problems)
		}
		_, err = tableOf(t, revision, "id\taccession\tc\tfiles.raw\na b\tL\tx\t\n")
		e = invalidError(t, err)
		if e.Kind != seqlease.InvalidContent || len(e.Problems) != 2 || e.Problems[1].Field != "files.raw" {
			t.Errorf("got kind %d and %v, want one of the content with the id and the column", e.Kind, e.Problems)
		}
	}
	var header strings.Builder
	for i := range 25 {
		fmt.Fprintf(&header, "\tfiles.c%d", i)
	}
	_, err := tableOf(t, false, "id\tc"+header.String()+"\na\tx"+strings.Repeat("\t", 25)+"\n")
	if e := invalidError(t, err); len(e.Problems) != seqlease.MaxListedProblems || e.More != 5 {
		t.Errorf("%d problems and %d more, want 20 and 5", len(e.Problems), e.More)
	}
}
