package submission

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
)

func fernvirus() *organism.Organism {
	return &organism.Organism{
		Key: "fernvirus", DisplayName: "Fern virus", ConsensusSequences: true,
		Metadata: []organism.Field{
			{Name: "country", Type: organism.String, Required: true},
			{Name: "depth", Type: organism.Int},
			{Name: "versionComment", Type: organism.String},
			{Name: "submitter", Type: organism.String}, // the system's own value wins
			{Name: "dataUseTerms", Type: organism.String},
		},
		Segments: []organism.NamedSequence{{Name: "main", Sequence: "ACGTACGT"}},
		Genes:    []organism.NamedSequence{{Name: "env", Sequence: "MK*"}, {Name: "pol", Sequence: "ML"}},
	}
}

const noon = 1_780_315_200 // 2026-06-01T12:00:00Z

func released(accession string, version int64, result string) ReleasedEntry {
	return ReleasedEntry{
		AccessionVersion: seqlease.AccessionVersion{Accession: seqlease.Accession(accession), Version: seqlease.Version(version)},
		SubmissionID:     "sample/1", Submitter: "testuser", GroupID: 3, GroupName: `The "Ferns"`,
		SubmittedAt: time.Unix(noon, 0), ReleasedAt: time.Unix(noon+86_400, 0), PipelineVersion: 2,
		Terms: seqlease.DataUseTerms{Type: seqlease.TermsOpen}, TermsChangedAt: time.Unix(noon, 0),
		Result: []byte(result),
	}
}

func revocation(accession string, version int64, metadata string) ReleasedEntry {
	e := released(accession, version, "")
	e.IsRevocation, e.Result = true, nil
	e.Submitted = []byte(`{"metadata":` + metadata + `,"unalignedNucleotideSequences":{},"files":null}`)
	return e
}

// write returns the lines of the entries.
func write(t *testing.T, terms TermsOptions, entries ...ReleasedEntry) []string {
	t.Helper()
	return writeOf(t, fernvirus(), terms, entries...)
}

// writeOf returns the lines of the entries of an organism.
func writeOf(t *testing.T, o *organism.Organism, terms TermsOptions, entries ...ReleasedEntry) []string {
	t.Helper()
	var out bytes.Buffer
	w := newLineWriter(o, terms, &out)
	w.head = ReleasedHead{Count: int64(len(entries)), Now: time.Unix(noon, 0)}
	for _, e := range entries {
		if err := w.add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func TestReleasedLine_MembersAndMetadata(t *testing.T) {
	t.Parallel()
	got := write(t, TermsOptions{}, released("LOC_1", 1, `{"data":{
		"metadata":{"country":"Peru","depth":12,"hidden":"x","submitter":"somebody else"},
		"unalignedNucleotideSequences":{"main":"ACGT"},"alignedNucleotideSequences":{"main":"ACGT----","gone":"A"},
		"nucleotideInsertions":{"main":["3:GA","8:T"]},"alignedAminoAcidSequences":{"env":"M-*"},"aminoAcidInsertions":{},
		"sequenceNameToFastaId":{"main":"x"},"files":{}},"errors":[],"warnings":[]}`))
	want := []string{`{"metadata":{"country":"Peru","depth":12,"versionComment":null,"dataUseTerms":null,` +
		`"accession":"LOC_1","version":1,"accessionVersion":"LOC_1.1","submissionId":"sample/1","submitter":"testuser",` +
		`"isRevocation":false,"groupId":3,"groupName":"The \"Ferns\"",` +
		`"submittedDate":"2026-06-01","submittedAtTimestamp":1780315200,"releasedDate":"2026-06-02","releasedAtTimestamp":1780401600,` +
		`"pipelineVersion":2,"versionStatus":"LATEST_VERSION"},` +
		`"unalignedNucleotideSequences":{"main":"ACGT"},"alignedNucleotideSequences":{"main":"ACGT----"},` +
		`"nucleotideInsertions":{"main":["3:GA","8:T"]},"alignedAminoAcidSequences":{"env":"M-*","pol":null},` +
		`"aminoAcidInsertions":{"env":[],"pol":[]}}`}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("lines (-got +want):\n%s", diff)
	}
}

func TestReleasedLine_Revocation(t *testing.T) {
	t.Parallel()
	got := write(t, TermsOptions{}, revocation("LOC_1", 2, `{"versionComment":"wrong sample","unknown":"x"}`))
	var line struct {
		Metadata map[string]any `json:"metadata"`
		Rest     map[string]any `json:",embed"`
	}
	if err := json.Unmarshal([]byte(got[0]), &line); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"country": nil, "depth": nil, "versionComment": "wrong sample", "isRevocation": true, "unknown": nil}
	for key, value := range want {
		if diff := cmp.Diff(line.Metadata[key], value); diff != "" {
			t.Errorf("metadata %q (-got +want):\n%s", key, diff)
		}
	}
	if _, shown := line.Metadata["unknown"]; shown {
		t.Error("a field that the schema doesn't know is shown")
	}
	rest := map[string]any{
		"unalignedNucleotideSequences": map[string]any{"main": nil}, "alignedNucleotideSequences": map[string]any{"main": nil},
		"nucleotideInsertions": map[string]any{"main": []any{}}, "alignedAminoAcidSequences": map[string]any{"env": nil, "pol": nil},
		"aminoAcidInsertions": map[string]any{"env": []any{}, "pol": []any{}},
	}
	if diff := cmp.Diff(line.Rest, rest); diff != "" {
		t.Errorf("other members (-got +want):\n%s", diff)
	}
}

func TestReleasedLine_VersionStatus(t *testing.T) {
	t.Parallel()
	const data = `{"data":{"metadata":{}}}`
	got := write(
		t, TermsOptions{},
		released("A", 1, data), released("A", 2, data), revocation("A", 3, `{}`), released("A", 4, data), released("A", 5, data),
		released("B", 2, data), revocation("B", 7, `{}`),
		released("C", 1, data), released("C", 2, data),
	)
	var statuses []string
	for _, text := range got {
		var line struct {
			Metadata struct {
				Name   string `json:"accessionVersion"`
				Status string `json:"versionStatus"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		statuses = append(statuses, line.Metadata.Name+" "+line.Metadata.Status)
	}
	want := []string{
		"A.1 REVOKED", "A.2 REVOKED", "A.3 REVISED", "A.4 REVISED", "A.5 LATEST_VERSION",
		"B.2 REVOKED", "B.7 LATEST_VERSION", "C.1 REVISED", "C.2 LATEST_VERSION",
	}
	if diff := cmp.Diff(statuses, want); diff != "" {
		t.Errorf("version statuses (-got +want):\n%s", diff)
	}
}

func TestReleasedLine_DataUseTerms(t *testing.T) {
	t.Parallel()
	options := TermsOptions{Enabled: true, OpenURL: "https://o", RestrictedURL: "https://r"}
	until := func(day string) seqlease.DataUseTerms {
		d, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		return seqlease.DataUseTerms{Type: seqlease.TermsRestricted, RestrictedUntil: d}
	}
	tests := []struct {
		name    string
		options TermsOptions
		terms   seqlease.DataUseTerms
		want    string // the members of the terms as JSON
	}{
		{
			"open", options,
			seqlease.DataUseTerms{Type: seqlease.TermsOpen},
			`"dataUseTerms":"OPEN","dataUseTermsRestrictedUntil":null,"dataBecameOpenAt":"2026-06-01","dataUseTermsUrl":"https://o",`,
		},
		{
			"restricted until tomorrow", options, until("2026-06-02"),
			`"dataUseTerms":"RESTRICTED","dataUseTermsRestrictedUntil":"2026-06-02","dataBecameOpenAt":null,"dataUseTermsUrl":"https://r",`,
		},
		{
			"restricted until today is open", options, until("2026-06-01"),
			`"dataUseTerms":"OPEN","dataUseTermsRestrictedUntil":null,"dataBecameOpenAt":"2026-06-01","dataUseTermsUrl":"https://o",`,
		},
		{
			"lapsed, without addresses",
			TermsOptions{Enabled: true},
			until("2025-12-31"),
			`"dataUseTerms":"OPEN","dataUseTermsRestrictedUntil":null,"dataBecameOpenAt":"2025-12-31","versionStatus"`,
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			entry := released("A", 1, `{"data":{"metadata":{"dataUseTerms":"of the pipeline"}}}`)
			entry.Terms = tc.terms
			if got := write(t, tc.options, entry)[0]; !strings.Contains(got, tc.want) {
				t.Errorf("got %s, want in it %s", got, tc.want)
			}
		})
	}
}

// TestReleasedLine_OneRecordStaysOneLine looks for every character at which
// some reader splits lines.
func TestReleasedLine_OneRecordStaysOneLine(t *testing.T) {
	t.Parallel()
	const odd = "a\u2028b\u2029c\u0085d\ve\ff\x1cg\x1dh\x1ei\rj\nk\u00a0l"
	value, err := json.Marshal(odd)
	if err != nil {
		t.Fatal(err)
	}
	entry := released("A", 1, `{"data":{"metadata":{"country":`+string(value)+`},"unalignedNucleotideSequences":{"main":`+string(value)+`}}}`)
	entry.GroupName = odd
	got := write(t, TermsOptions{}, entry)[0]
	if i := strings.IndexAny(got, "\u2028\u2029\u0085\v\f\x1c\x1d\x1e\r\n"); i >= 0 {
		t.Errorf("a line break at byte %d: %q", i, got[i:])
	}
	var line struct {
		Metadata struct {
			Country   string `json:"country"`
			GroupName string `json:"groupName"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal([]byte(got), &line); err != nil {
		t.Fatal(err)
	}
	if line.Metadata.Country != odd || line.Metadata.GroupName != odd {
		t.Errorf("got %q and %q, want %q", line.Metadata.Country, line.Metadata.GroupName, odd)
	}
	if !strings.Contains(got, "\u00a0") {
		t.Error("a no-break space is escaped, want it raw")
	}
}

func TestReleasedLine_FaultsAreErrors(t *testing.T) {
	t.Parallel()
	for name, entry := range map[string]ReleasedEntry{
		"damaged external metadata": {
			AccessionVersion: seqlease.AccessionVersion{Accession: "A", Version: 1},
			External:         []ExternalDocument{{Updater: "herbarium", Body: []byte("{")}},
		},
		"damaged result":     released("A", 1, `{"data":`),
		"damaged revocation": {AccessionVersion: seqlease.AccessionVersion{Accession: "A", Version: 1}, IsRevocation: true, Submitted: []byte("{")},
	} {
		w := newLineWriter(fernvirus(), TermsOptions{}, &bytes.Buffer{})
		if err := w.add(entry); err == nil || !strings.Contains(err.Error(), "A.1") {
			t.Errorf("%s: got %v, want an error that names A.1", name, err)
		}
	}
	w := newLineWriter(fernvirus(), TermsOptions{}, &bytes.Buffer{})
	w.head.Count = 2
	if err := w.add(released("A", 1, `{}`)); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(w.end()), "released data has 1 lines, but 2 were counted"; got != want {
		t.Errorf("end: got %q, want %q", got, want)
	}
}

// BenchmarkReleasedLine writes entries of the size of a SARS-CoV-2 genome.
func BenchmarkReleasedLine(b *testing.B) {
	genome := strings.Repeat("ACGTN", 6000)
	entry := released("A", 1, `{"data":{"metadata":{"country":"Peru"},"unalignedNucleotideSequences":{"main":"`+genome+
		`"},"alignedNucleotideSequences":{"main":"`+genome+`"},"alignedAminoAcidSequences":{"pol":"`+genome[:10_000]+`"}}}`)
	var out bytes.Buffer
	w := newLineWriter(fernvirus(), TermsOptions{Enabled: true}, &out)
	b.ReportAllocs()
	b.SetBytes(int64(len(entry.Result)))
	for b.Loop() {
		out.Reset()
		if err := w.add(entry); err != nil {
			b.Fatal(err)
		}
		if err := w.flush(); err != nil {
			b.Fatal(err)
		}
	}
}
