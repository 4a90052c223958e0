package seqlease

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestInsertionText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want Insertion
		ok   bool
	}{
		{"248:GAC", Insertion{248, "GAC"}, true},
		{"0:A", Insertion{0, "A"}, true},
		{"-5:A", Insertion{-5, "A"}, true},
		{"+5:A", Insertion{5, "A"}, true},
		{"7:", Insertion{7, ""}, true},
		{"9223372036854775807:*-X", Insertion{1<<63 - 1, "*-X"}, true},
		{"", Insertion{}, false},
		{":", Insertion{}, false},
		{":A", Insertion{}, false},
		{"248", Insertion{}, false},
		{"248GAC", Insertion{}, false},
		{"1:2:A", Insertion{}, false},
		{"1:A:", Insertion{}, false},
		{" 1:A", Insertion{}, false},
		{"1.0:A", Insertion{}, false},
		{"9223372036854775808:A", Insertion{}, false},
		{"S:248:GAC", Insertion{}, false},
	} {
		var got Insertion
		if err := got.UnmarshalText([]byte(c.text)); got != c.want || (err == nil) != c.ok {
			t.Errorf("%q: got %+v and error %v, want %+v", c.text, got, err, c.want)
		}
	}
}

func FuzzInsertion(f *testing.F) {
	for _, s := range []string{"248:GAC", "-1:", "+7:ACGT", "1:A:", "007:N", ":"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got Insertion
		if got.UnmarshalText([]byte(s)) != nil {
			if got != (Insertion{}) {
				t.Errorf("%q is refused, but left %+v", s, got)
			}
			return
		}
		if strings.Count(s, ":") != 1 || !strings.HasSuffix(s, ":"+got.Sequence) {
			t.Errorf("%q was read as %+v", s, got)
		}
		text, err := got.MarshalText()
		if err != nil {
			t.Fatalf("%+v: %v", got, err)
		}
		var again Insertion
		if err := again.UnmarshalText(text); err != nil || again != got {
			t.Errorf("%q: %s was read as %+v with error %v", s, text, again, err)
		}
	})
}

// What is on the wire is a promise to pipelines, so the member names stand here.
func TestEntryInJSON(t *testing.T) {
	t.Parallel()
	entry := Entry{
		AccessionVersion: AccessionVersion{"LOC_000001Y", 1},
		Data: SubmittedData{
			Metadata:                     map[string]string{"country": "Kenya"},
			UnalignedNucleotideSequences: map[string]string{"main": "ACGT"},
			Files:                        Files{"rawReads": {{FileID: "f1", Name: "reads.fastq"}}},
		},
		SubmissionID: "sample-1", Submitter: "anna", GroupID: 3, SubmittedAt: 1796000000,
		AttemptID:    AttemptID{0x0b, 0x7e, 0x4c, 0x3a, 0x96, 0xd1, 0x4f, 0x0e, 0x8a, 0x53, 0x2f, 0x6f, 0x0c, 0x1d, 0x9e, 0x77},
		LeaseUntil:   time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC),
		LeaseSeconds: 600, Attempt: 2,
	}
	got, err := json.Marshal(entry)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"accession":"LOC_000001Y","version":1,` +
		`"data":{"metadata":{"country":"Kenya"},"unalignedNucleotideSequences":{"main":"ACGT"},` +
		`"files":{"rawReads":[{"fileId":"f1","name":"reads.fastq"}]}},` +
		`"submissionId":"sample-1","submitter":"anna","groupId":3,"submittedAt":1796000000,` +
		`"processingAttemptId":"0b7e4c3a-96d1-4f0e-8a53-2f6f0c1d9e77","leaseUntil":"2026-11-29T12:00:00Z",` +
		`"leaseSeconds":600,"attempt":2}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("entry in JSON (-want +got):\n%s", diff)
	}
	var read Entry
	if err := json.Unmarshal(got, &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(entry, read); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

func TestResultInJSON(t *testing.T) {
	t.Parallel()
	line := `{"accession":"LOC_000001Y","version":1,"processingAttemptId":"0b7e4c3a-96d1-4f0e-8a53-2f6f0c1d9e77",` +
		`"data":{"metadata":{"age":7,"country":null},"unalignedNucleotideSequences":{"main":"ACGT"},` +
		`"alignedNucleotideSequences":{"main":null},"nucleotideInsertions":{"main":["3:GG"]},` +
		`"alignedAminoAcidSequences":{"E":"MK"},"aminoAcidInsertions":{"E":[]},` +
		`"sequenceNameToFastaId":{"main":"sample-1"},"files":null},` +
		`"errors":[{"unprocessedFields":[{"type":"Metadata","name":"age"}],"processedFields":[],"message":"too young"}],"warnings":[]}`
	var got Result
	if err := json.Unmarshal([]byte(line), &got); err != nil {
		t.Fatal(err)
	}
	sequence, protein := "ACGT", "MK"
	want := Result{
		AccessionVersion: AccessionVersion{"LOC_000001Y", 1},
		AttemptID:        AttemptID{0x0b, 0x7e, 0x4c, 0x3a, 0x96, 0xd1, 0x4f, 0x0e, 0x8a, 0x53, 0x2f, 0x6f, 0x0c, 0x1d, 0x9e, 0x77},
		Data: ProcessedData{
			Metadata:                     map[string]json.RawMessage{"age": json.RawMessage("7"), "country": json.RawMessage("null")},
			UnalignedNucleotideSequences: map[string]*string{"main": &sequence},
			AlignedNucleotideSequences:   map[string]*string{"main": nil},
			NucleotideInsertions:         map[string][]Insertion{"main": {{3, "GG"}}},
			AlignedAminoAcidSequences:    map[string]*string{"E": &protein},
			AminoAcidInsertions:          map[string][]Insertion{"E": {}},
			SequenceNameToFastaID:        map[string]string{"main": "sample-1"},
		},
		Errors: []Annotation{{
			UnprocessedFields: []Source{{MetadataSource, "age"}}, ProcessedFields: []Source{}, Message: "too young",
		}},
		Warnings: []Annotation{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result read (-want +got):\n%s", diff)
	}
	again, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(line, string(again)); diff != "" {
		t.Errorf("result in JSON (-want +got):\n%s", diff)
	}
}

func TestProcessingResultOfAResult(t *testing.T) {
	t.Parallel()
	note := []Annotation{{Message: "too short"}}
	for want, r := range map[ProcessingResult]Result{
		NoIssues: {}, HasWarnings: {Warnings: note}, HasErrors: {Errors: note, Warnings: note},
	} {
		if got := r.ProcessingResult(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
