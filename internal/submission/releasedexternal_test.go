package submission

import (
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease/internal/organism"
)

// herbaria has fields that updaters set.
func herbaria() *organism.Organism {
	o := fernvirus()
	o.Metadata = append(o.Metadata,
		organism.Field{Name: "archiveId", Type: organism.String}, organism.Field{Name: "archivedOn", Type: organism.Date},
		organism.Field{Name: "printedOn", Type: organism.Date})
	for _, updater := range []string{"zoo", "herbarium"} {
		for _, f := range []organism.Field{{Name: "archiveId", Type: organism.String}, {Name: "archivedOn", Type: organism.Date}, {Name: "onlyExternal", Type: organism.String}} {
			o.ExternalMetadata = append(o.ExternalMetadata, organism.ExternalField{Updater: updater, Field: f})
		}
	}
	return o
}

// saying adds what updaters say, as pairs of name and document.
func (e ReleasedEntry) saying(pairs ...string) ReleasedEntry {
	for i := 0; i < len(pairs); i += 2 {
		e.External = append(e.External, ExternalDocument{Updater: pairs[i], Body: []byte(pairs[i+1])})
	}
	return e
}

// metadataOf decodes the metadata of a line, each value as JSON.
func metadataOf(t *testing.T, line string) map[string]jsontext.Value {
	t.Helper()
	var decoded struct {
		Metadata map[string]jsontext.Value `json:"metadata"`
	}
	if err := json.Unmarshal([]byte(line), &decoded); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return decoded.Metadata
}

func TestReleasedLine_ExternalMetadataIsLaidOver(t *testing.T) {
	t.Parallel()
	const result = `{"data":{"metadata":{"country":"Peru","archiveId":"of the pipeline","archivedOn":"2026-01-01"}}}`
	tests := []struct {
		name  string
		entry ReleasedEntry
		want  map[string]string // as JSON; empty: not there
	}{
		{"nothing is said", released("A", 1, result), map[string]string{"archiveId": `"of the pipeline"`, "archivedOn": `"2026-01-01"`, "country": `"Peru"`}},
		{
			"a value, an explicit null, and a field that the schema doesn't have",
			released("A", 1, result).saying("herbarium", `{"archiveId":"H1","archivedOn":null,"onlyExternal":"x"}`),
			map[string]string{"archiveId": `"H1"`, "archivedOn": "null", "country": `"Peru"`, "onlyExternal": ""},
		},
		{
			"of several the last of the schema counts, whatever their names",
			released("A", 1, result).saying("herbarium", `{"archiveId":"H1"}`, "zoo", `{"archiveId":"Z1","archivedOn":"2026-03-03"}`),
			map[string]string{"archiveId": `"H1"`, "archivedOn": `"2026-03-03"`},
		},
		{
			"one that isn't configured any more comes first",
			released("A", 1, result).saying("zzz", `{"archiveId":"old","country":"Chile"}`, "zoo", `{"archiveId":"Z1"}`),
			map[string]string{"archiveId": `"Z1"`, "country": `"Chile"`},
		},
		{
			"the system's own fields stay",
			released("A", 1, result).saying("herbarium", `{"submitter":"somebody else"}`),
			map[string]string{"submitter": `"testuser"`},
		},
		{
			"an entry without a result",
			ReleasedEntry{AccessionVersion: released("A", 1, "").AccessionVersion, PipelineVersion: 7}.saying("zoo", `{"archiveId":"Z1"}`),
			map[string]string{"archiveId": `"Z1"`, "country": "null", "pipelineVersion": "7"},
		},
		{
			"a result with errors, of which nothing was checked",
			released("A", 1, `{"data":{"metadata":{"country":5}},"errors":[{"message":"failed"}]}`).saying("zoo", `{"archiveId":"Z1"}`),
			map[string]string{"archiveId": `"Z1"`, "country": "null"},
		},
		{
			"a revocation",
			revocation("A", 1, `{"versionComment":"wrong"}`).saying("zoo", `{"archiveId":"Z1"}`),
			map[string]string{"archiveId": "null", "versionComment": `"wrong"`},
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := metadataOf(t, writeOf(t, herbaria(), TermsOptions{}, tc.entry)[0])
			for key, want := range tc.want {
				if string(got[key]) != want {
					t.Errorf("%s is %s, want %s", key, got[key], want)
				}
			}
		})
	}
}

// TestReleasedLine_FailedResultsShowNothing: readers rely on the rules for sequences.
func TestReleasedLine_FailedResultsShowNothing(t *testing.T) {
	t.Parallel()
	got := write(t, TermsOptions{},
		released("A", 1, `{"data":{"metadata":{"country":5},"alignedNucleotideSequences":{"main":"A"},"nucleotideInsertions":{"main":["1:Q"]}},"errors":[{"message":"failed"}]}`),
		released("A", 2, `{"data":{"metadata":{}}}`))
	var lines [2]struct {
		Metadata jsontext.Value            `json:"metadata"`
		Rest     map[string]jsontext.Value `json:",embed"`
	}
	for i := range lines {
		if err := json.Unmarshal([]byte(got[i]), &lines[i]); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(lines[1].Rest, lines[0].Rest); diff != "" {
		t.Errorf("the sequences of one that failed and of one without any differ (-want +got):\n%s", diff)
	}
}

func TestReleasedLine_EarliestReleaseDate(t *testing.T) {
	t.Parallel()
	entry := func(version int64, releasedOn, metadata string) ReleasedEntry {
		e := released("A", version, `{"data":{"metadata":`+metadata+`}}`)
		at, err := time.Parse(time.DateOnly, releasedOn)
		if err != nil {
			t.Fatal(err)
		}
		e.ReleasedAt = at.Add(23 * time.Hour)
		return e
	}
	other := entry(1, "2026-06-02", `{}`)
	other.Accession = "B"
	revoked := revocation("A", 5, `{"archivedOn":"1999-01-01"}`)
	revoked.ReleasedAt = other.ReleasedAt
	o := herbaria()
	o.EarliestReleaseDate, o.EarliestReleaseFields = true, []string{"archivedOn", "printedOn"}
	o.Metadata = append(o.Metadata, organism.Field{Name: "earliestReleaseDate", Type: organism.Date})
	tests := []struct {
		name    string
		entries []ReleasedEntry
		want    []string
	}{
		{"the release itself", []ReleasedEntry{entry(1, "2026-06-02", `{"earliestReleaseDate":"1900-01-01"}`)}, []string{"2026-06-02"}},
		{"the least of the fields", []ReleasedEntry{entry(1, "2026-06-02", `{"archivedOn":"2026-05-31","printedOn":"2025-12-31"}`)}, []string{"2025-12-31"}},
		{"later dates don't count", []ReleasedEntry{entry(1, "2026-06-02", `{"archivedOn":"2026-06-03"}`)}, []string{"2026-06-02"}},
		{
			"external metadata counts",
			[]ReleasedEntry{entry(1, "2026-06-02", `{"archivedOn":"2020-01-01"}`).saying("herbarium", `{"archivedOn":"2021-01-01"}`)},
			[]string{"2021-01-01"},
		},
		{
			"an explicit null takes the date away",
			[]ReleasedEntry{entry(1, "2026-06-02", `{"archivedOn":"2020-01-01"}`).saying("herbarium", `{"archivedOn":null}`)},
			[]string{"2026-06-02"},
		},
		{
			"what is no date doesn't count",
			[]ReleasedEntry{entry(1, "2026-06-02", `{"archivedOn":"0","printedOn":7}`)},
			[]string{"2026-06-02"},
		},
		{
			"the version before counts, also through several, and not for another accession",
			[]ReleasedEntry{
				entry(1, "2026-06-02", `{"archivedOn":"2026-01-01"}`), entry(2, "2026-07-01", `{}`), entry(4, "2026-08-01", `{"printedOn":"2025-01-01"}`),
				revoked, other,
			},
			[]string{"2026-01-01", "2026-01-01", "2025-01-01", "1999-01-01", "2026-06-02"},
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, line := range writeOf(t, o, TermsOptions{}, tc.entries...) {
				var date string
				if err := json.Unmarshal(metadataOf(t, line)["earliestReleaseDate"], &date); err != nil {
					t.Fatal(err)
				}
				got = append(got, date)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	disabled := herbaria()
	disabled.EarliestReleaseFields = []string{"archivedOn"}
	if _, shown := metadataOf(t, writeOf(t, disabled, TermsOptions{}, other)[0])["earliestReleaseDate"]; shown {
		t.Error("the date is shown though that isn't enabled")
	}
}

func TestReleasedLine_FileCategoriesAreNull(t *testing.T) {
	t.Parallel()
	o := fernvirus()
	o.FileCategories = []string{"trees", "country", "version"} // a field of the schema gives way, the system's doesn't
	got := metadataOf(t, writeOf(t, o, TermsOptions{}, released("A", 3, `{"data":{"metadata":{"country":"Peru"},"files":{"trees":[{"fileId":"x","name":"y"}]}}}`))[0])
	for key, want := range map[string]string{"trees": "null", "country": "null", "version": "3"} {
		if string(got[key]) != want {
			t.Errorf("%s is %s, want %s", key, got[key], want)
		}
	}
}
