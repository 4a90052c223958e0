package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
)

// reedvirus has a metadata field of each type, two segments, two genes, and a category of
// attachments.
func reedvirus() *organism.Organism {
	return &organism.Organism{
		Key: "reedvirus", DisplayName: "Reed stripe virus", ConsensusSequences: true,
		Metadata: []organism.Field{
			{Name: "host", Type: organism.String, Required: true},
			{Name: "authors", Type: organism.Authors},
			{Name: "depth", Type: organism.Int},
			{Name: "coverage", Type: organism.Float},
			{Name: "share", Type: organism.Number},
			{Name: "curated", Type: organism.Boolean},
			{Name: "collected", Type: organism.Date},
		},
		Segments: []organism.NamedSequence{{Name: "north", Sequence: "ACGTACGTAC"}, {Name: "south", Sequence: "GGGTT"}},
		Genes:    []organism.NamedSequence{{Name: "pol", Sequence: "MKL*"}, {Name: "env", Sequence: "MK"}},

		FileCategories: []string{"annotations"}, SubmittedFileCategories: []string{"photos"},
	}
}

// object is a JSON object in the making.
type object = map[string]any

// in returns a member that is an object.
func in(o object, name string) object { return o[name].(object) } //nolint:forcetypeassert // it is one

// raw is JSON text as it stands.
func raw(text string) json.RawMessage { return json.RawMessage(text) }

// goodReed is a result that keeps every rule.
func goodReed(e seqlease.Entry) object {
	return object{
		"accession": e.Accession, "version": e.Version, "processingAttemptId": e.AttemptID,
		"data": object{
			"metadata": object{
				"host": "reed", "authors": "Rohr, R.", "depth": -12, "coverage": raw("5.0"), "share": 5, "curated": true, "collected": "2026-03-04",
			},
			"unalignedNucleotideSequences": object{"north": "acgtACGTmrwsykvhdbn", "south": nil},
			"alignedNucleotideSequences":   object{"north": "ac-tACGTn-", "south": nil},
			"nucleotideInsertions":         object{"north": []string{"248:gac", "-1:", "+7:A"}, "south": []string{}},
			"alignedAminoAcidSequences":    object{"pol": "-x*b", "env": "zz"},
			"aminoAcidInsertions":          object{"env": []string{"2:-*"}},
			"sequenceNameToFastaId":        object{"north": "nobody-submitted-this", "south": ""},
			"files":                        nil,
		},
		"errors": []any{}, "warnings": []any{},
	}
}

func line(o object) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(o); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}

// submitReed uploads entries of reedvirus, each with one sequence.
func (d *door) submitReed(t *testing.T, group int64, n int) {
	t.Helper()
	var rows, records strings.Builder
	for i := range n {
		fmt.Fprintf(&rows, "pond%d\tLake Sedge\tpond%d_a\n", i, i)
		fmt.Fprintf(&records, ">pond%d_a\nACGTACGTAC\n", i)
	}
	d.submitFiles(t, "reedvirus", group, anna, "id\tlake\tfastaIds\n"+rows.String(), records.String())
}

// submitFiles uploads two files and returns what was stored.
func (d *door) submitFiles(t *testing.T, organism string, group int64, token, metadata, sequences string) []seqlease.SubmissionIDMapping {
	t.Helper()
	body, contentType := upload(t, "metadataFile", "@metadata.tsv\n"+metadata, "sequenceFile", "@sequences.fasta\n"+sequences)
	var stored []seqlease.SubmissionIDMapping
	d.call(t, "POST", fmt.Sprintf("/%s/submit?groupId=%d", organism, group), token, body, "Content-Type", contentType).want(t, 200).into(t, &stored)
	return stored
}

// claimOf claims up to n entries of an organism.
func (d *door) claimOf(t *testing.T, organism string, n int) []seqlease.Entry {
	t.Helper()
	path := fmt.Sprintf("/%s/extract-unprocessed-data?numberOfSequenceEntries=%d&pipelineVersion=1", organism, n)
	return entriesOf(t, d.call(t, "POST", path, pipe, nil).want(t, 200).body)
}

// sendReed sends results of reedvirus.
func (d *door) sendReed(t *testing.T, body string) answer {
	t.Helper()
	return d.call(t, "POST", "/reedvirus/submit-processed-data?pipelineVersion=1", pipe, strings.NewReader(body), "Content-Type", "application/x-ndjson")
}

// spoil changes the data of a good result.
type spoil func(result, data object)

// setMetadata sets metadata fields.
func setMetadata(values object) spoil {
	return func(_, data object) { maps.Copy(in(data, "metadata"), values) }
}

// setIn sets members of a member of the data.
func setIn(member string, values object) spoil {
	return func(_, data object) { maps.Copy(in(data, member), values) }
}

// brokenRules has a row for each rule of protocol §6.2.1, in its order, and what the
// answer must say beside the accession version.
func brokenRules() []struct {
	name  string
	spoil spoil
	words []string
} {
	const aligned, unaligned = "alignedNucleotideSequences", "unalignedNucleotideSequences"
	return []struct {
		name  string
		spoil spoil
		words []string
	}{
		{"M1 unknown fields, sorted", setMetadata(object{"zebra": 1, "Host": nil}), []string{"Host, zebra"}},
		{"M2 required field missing", func(_, data object) { delete(in(data, "metadata"), "host") }, []string{"host", "missing"}},
		{"M3 required field null", setMetadata(object{"host": nil}), []string{"host", "null"}},
		{"M4 string", setMetadata(object{"host": 5}), []string{"string", "host", "5"}},
		{"M4 string is no object", setMetadata(object{"host": object{}}), []string{"string", "host", "{}"}},
		{"M4 authors", setMetadata(object{"authors": true}), []string{"authors", "true"}},
		{"M4 int as text keeps its quotes", setMetadata(object{"depth": "5"}), []string{"integer", "depth", `"5"`}},
		{"M4 int with a fraction", setMetadata(object{"depth": raw("1.0")}), []string{"integer", "depth", "1.0"}},
		{"M4 int beyond 32 bits", setMetadata(object{"depth": raw("2147483648")}), []string{"integer", "depth", "2147483648"}},
		{"M4 float as integer", setMetadata(object{"coverage": 5}), []string{"float", "coverage", "5"}},
		{"M4 number", setMetadata(object{"share": "1"}), []string{"number", "share", `"1"`}},
		{"M4 boolean", setMetadata(object{"curated": "true"}), []string{"boolean", "curated", `"true"`}},
		{"M4 date, day 32", setMetadata(object{"collected": "2021-02-32"}), []string{"date", "yyyy-MM-dd", "collected", `"2021-02-32"`}},
		{"M4 date, month 13", setMetadata(object{"collected": "2021-13-01"}), []string{"yyyy-MM-dd", `"2021-13-01"`}},
		{"M4 date, not padded", setMetadata(object{"collected": "2021-2-03"}), []string{"yyyy-MM-dd", `"2021-2-03"`}},
		{"M4 date, year 0", setMetadata(object{"collected": "0000-01-01"}), []string{"yyyy-MM-dd", `"0000-01-01"`}},
		{"N1 length", setIn(aligned, object{"south": "ACG"}), []string{aligned, "south", "3", "5"}},
		{"N1 length in UTF-16 units", setIn(aligned, object{"south": "ACGT😀"}), []string{aligned, "south", "length 6", "5", "😀"}},
		{"N2 aligned segments", setIn(aligned, object{"west": "A", "east": nil}), []string{aligned, "east, west"}},
		{"N3 unaligned segments", func(_, data object) {
			maps.Copy(in(data, unaligned), object{"west": "A", "east": nil})
			maps.Copy(in(data, "sequenceNameToFastaId"), object{"west": "a", "east": "b"})
		}, []string{unaligned, "east, west"}},
		{"N4 segments of FASTA ids", setIn("sequenceNameToFastaId", object{"west": "a", "east": "b"}), []string{"sequenceNameToFastaId", "east, west"}},
		{"N5 unaligned lacks a key", func(_, data object) { delete(in(data, unaligned), "south") }, []string{unaligned + " lacks south"}},
		{"N5 FASTA ids lack keys", func(_, data object) { data["sequenceNameToFastaId"] = object{} }, []string{"sequenceNameToFastaId lacks north, south"}},
		{"N5 FASTA ids are absent", func(_, data object) { delete(data, "sequenceNameToFastaId") }, []string{"sequenceNameToFastaId lacks north, south"}},
		{"N6 segments of insertions", setIn("nucleotideInsertions", object{"west": []string{}, "east": []string{"1:A"}}), []string{"nucleotideInsertions", "east, west"}},
		{"N7 aligned alphabet, with repetition and in order", setIn(aligned, object{"south": "jAjuj"}), []string{"south", aligned, `"JJUJ"`}},
		{"N8 unaligned alphabet has no gap", setIn(unaligned, object{"north": "AC-GT-é"}), []string{"north", unaligned, `"--é"`}},
		{"N8 the first ten and ...", setIn(unaligned, object{"north": "AQQQQQQQQQQQQ"}), []string{"north", `"QQQQQQQQQQ"...`}},
		{"N9 insertion alphabet", setIn("nucleotideInsertions", object{"north": []string{"3:acu-"}}), []string{"3:ACU-", "north", `"U-"`}},
		{"A1 length", setIn("alignedAminoAcidSequences", object{"pol": "MK"}), []string{"pol", "alignedAminoAcidSequences", "2", "4"}},
		{"A2 genes", setIn("alignedAminoAcidSequences", object{"x": "M", "cap": nil}), []string{"alignedAminoAcidSequences", "cap, x"}},
		{"A3 genes of insertions", setIn("aminoAcidInsertions", object{"x": []string{}, "cap": []string{}}), []string{"aminoAcidInsertions", "cap, x"}},
		{"A4 alphabet", setIn("alignedAminoAcidSequences", object{"pol": "MJO*"}), []string{"pol", `"JO"`}},
		{"A5 insertion alphabet", setIn("aminoAcidInsertions", object{"env": []string{"9:mu"}}), []string{"9:MU", "env", `"U"`}},
		{"files", func(_, data object) {
			data["files"] = object{"rawReads": []any{object{"fileId": "x", "name": "y", "url": nil}}}
		}, []string{"files", "rawReads", "not configured"}},
		{"files of the organism's category", func(_, data object) {
			data["files"] = object{"annotations": []any{object{"fileId": "x", "name": "y"}}}
		}, []string{"files", `"annotations" has attachments`, "leave files out"}},
		{"none of an unknown category, with errors", func(result, data object) {
			result["errors"] = []any{object{"unprocessedFields": []any{}, "processedFields": []any{}, "message": "no"}}
			data["files"] = object{"annotations": []any{}, "photos": []any{}}
		}, []string{"files", `"photos" is not configured`}},
		{"several at once", func(_, data object) {
			delete(in(data, "metadata"), "host")
			in(data, aligned)["west"] = "A"
			in(data, "aminoAcidInsertions")["env"] = []string{"1:U"}
		}, []string{"host", "west", "1:U"}},
	}
}

func TestContract_Results_6_2_1_EveryRule(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{organisms: []*organism.Organism{reedvirus()}}, func(t *testing.T, d *door) {
		d.submitReed(t, d.newGroup(t, anna), 2)
		entries := d.claimOf(t, "reedvirus", 2)
		before := d.statusCounts(t, "reedvirus")
		good := line(goodReed(entries[0]))
		for _, tt := range brokenRules() {
			result := goodReed(entries[1])
			tt.spoil(result, in(result, "data"))
			p := d.sendReed(t, good+"\n"+line(result)+"\n").problem(t, 422, entries[1].String())
			if len(p.Refused) != 1 {
				t.Errorf("%s: refused %v, want one line", tt.name, p.Refused)
				continue
			}
			refused := p.Refused[0]
			if refused.Line != 2 || refused.AccessionVersion != entries[1].AccessionVersion || refused.Reason != seqlease.RefusedInvalid {
				t.Errorf("%s: refused %+v, want line 2 of %s as invalid", tt.name, refused, entries[1])
			}
			for _, word := range tt.words {
				if !strings.Contains(refused.Detail, word) {
					t.Errorf("%s: detail %q doesn't say %q", tt.name, refused.Detail, word)
				}
			}
		}
		if got := d.statusCounts(t, "reedvirus"); !cmp.Equal(got, before) {
			t.Errorf("counts %v, want unchanged %v", got, before)
		}
		d.sendReed(t, good).want(t, 204)
	})
}

// TestContract_Results_ProblemsAreBounded has a line with thousands of faults: the
// answer lists some and says how many more there are.
func TestContract_Results_ProblemsAreBounded(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{organisms: []*organism.Organism{reedvirus()}}, func(t *testing.T, d *door) {
		d.submitReed(t, d.newGroup(t, anna), 1)
		entry := d.claimOf(t, "reedvirus", 1)[0]
		const faults = 3000
		var insertions []string
		for i := range faults {
			insertions = append(insertions, strconv.Itoa(i)+":U")
		}
		result := goodReed(entry)
		in(in(result, "data"), "nucleotideInsertions")["north"] = insertions
		detail := d.sendReed(t, line(result)).problem(t, 422).Refused[0].Detail
		listed := strings.Count(detail, "has characters that are not allowed")
		more := regexp.MustCompile(`; and (\d+) more$`).FindStringSubmatch(detail)
		if more == nil {
			t.Fatalf("detail doesn't say how many more: %s", detail)
		}
		rest, err := strconv.Atoi(more[1])
		if err != nil || listed == 0 || listed > seqlease.MaxListedProblems || listed+rest != faults {
			t.Errorf("%d listed and %d more of %d: %s", listed, rest, faults, detail)
		}
	})
}

func TestContract_Results_6_2_UnreadableLines(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{organisms: []*organism.Organism{reedvirus()}}, func(t *testing.T, d *door) {
		d.submitReed(t, d.newGroup(t, anna), 2)
		entries := d.claimOf(t, "reedvirus", 2)
		before := d.statusCounts(t, "reedvirus")
		rows := map[string]spoil{}
		for _, member := range []string{"accession", "version", "data"} {
			rows[member+" missing"] = func(result, _ object) { delete(result, member) }
			rows[member+" null"] = func(result, _ object) { result[member] = nil }
		}
		for _, member := range []string{
			"metadata", "unalignedNucleotideSequences", "alignedNucleotideSequences", "nucleotideInsertions", "alignedAminoAcidSequences", "aminoAcidInsertions",
		} {
			rows["data."+member+" missing"] = func(_, data object) { delete(data, member) }
			rows["data."+member+" null"] = func(_, data object) { data[member] = nil }
		}
		rows["data.sequenceNameToFastaId null"] = func(_, data object) { data["sequenceNameToFastaId"] = nil }
		for _, text := range []string{"5", "5:A:C", "x:A", ":A", "1.5:A", "5;A", "0x5:A", ""} {
			rows["data.nucleotideInsertions.north "+text] = setIn("nucleotideInsertions", object{"north": []string{text}})
			rows["data.aminoAcidInsertions.env "+text] = setIn("aminoAcidInsertions", object{"env": []string{text}})
		}
		for _, member := range []string{"unprocessedFields", "processedFields", "message"} {
			rows["errors.0."+member+" missing"] = func(result, _ object) {
				annotation := object{"unprocessedFields": []any{}, "processedFields": []any{}, "message": "no"}
				delete(annotation, member)
				result["errors"] = []any{annotation}
			}
		}
		rows["warnings.0.processedFields.0.type unknown"] = func(result, _ object) {
			result["warnings"] = []any{object{"unprocessedFields": []any{}, "processedFields": []any{object{"type": "Gene", "name": "x"}}, "message": "no"}}
		}
		good := line(goodReed(entries[0]))
		for name, spoil := range rows {
			result := goodReed(entries[1])
			spoil(result, in(result, "data"))
			member, _, _ := strings.Cut(name, " ")
			t.Log(name)
			d.sendReed(t, good+"\r\n\r\n"+line(result)+"\n").problem(t, 400, "line 3", "deserialised", member)
		}
		d.sendReed(t, good+"\n{\"accession\":").problem(t, 400, "line 2", "deserialised")
		if got := d.statusCounts(t, "reedvirus"); !cmp.Equal(got, before) {
			t.Errorf("counts %v, want unchanged %v", got, before)
		}
	})
}

// TestContract_Results_6_2_WhatPasses has a row for each thing that must be accepted.
func TestContract_Results_6_2_WhatPasses(t *testing.T) {
	t.Parallel()
	empty := func(_, data object) {
		for _, member := range []string{
			"unalignedNucleotideSequences", "alignedNucleotideSequences", "nucleotideInsertions", "alignedAminoAcidSequences", "aminoAcidInsertions",
		} {
			data[member] = object{}
		}
		data["metadata"] = object{"host": ""}
		delete(data, "sequenceNameToFastaId")
		delete(data, "files")
	}
	note := object{"unprocessedFields": []any{object{"type": "Metadata", "name": "lake"}}, "processedFields": []any{}, "message": "no lake"}
	rows := []struct {
		name   string
		spoil  spoil
		result seqlease.ProcessingResult
	}{
		{"as it is", func(object, object) {}, seqlease.NoIssues},
		{"all that may be missing", empty, seqlease.NoIssues},
		{"lists that are null", func(result, _ object) { result["errors"], result["warnings"] = nil, nil }, seqlease.NoIssues},
		{"lists that are missing", func(result, _ object) { delete(result, "errors"); delete(result, "warnings") }, seqlease.NoIssues},
		{"files that are empty", func(_, data object) { data["files"] = object{} }, seqlease.NoIssues},
		{"no file of the organism's category", func(_, data object) { data["files"] = object{"annotations": []any{}} }, seqlease.NoIssues},
		{"unknown members", func(result, data object) { result["x"], data["y"] = object{"z": 1}, []any{1} }, seqlease.NoIssues},
		{"version as text", func(result, _ object) { result["version"] = "1" }, seqlease.NoIssues},
		{"the ends of int", setMetadata(object{"depth": -2147483648}), seqlease.NoIssues},
		{"float with an exponent", setMetadata(object{"coverage": raw("1e2")}), seqlease.NoIssues},
		{"number with a fraction", setMetadata(object{"share": raw("0.25")}), seqlease.NoIssues},
		{"a lenient day", setMetadata(object{"collected": "2021-02-31"}), seqlease.NoIssues},
		{"nulls", setMetadata(object{"authors": nil, "depth": nil, "coverage": nil, "share": nil, "curated": nil, "collected": nil}), seqlease.NoIssues},
		{"insertions anywhere", setIn("nucleotideInsertions", object{"south": []string{"999999:A", "-5:", "+3:acgtn"}}), seqlease.NoIssues},
		{"warnings", func(result, _ object) { result["warnings"] = []any{note} }, seqlease.HasWarnings},
		{"Q5 errors, and everything is wrong", func(result, data object) {
			result["errors"] = []any{note}
			data["metadata"] = object{"alien": object{"a": 1}, "depth": "deep"}
			data["alignedNucleotideSequences"] = object{"west": "???"}
			data["sequenceNameToFastaId"] = object{"east": "x"}
		}, seqlease.HasErrors},
	}
	onBothStores(t, doorOptions{organisms: []*organism.Organism{reedvirus()}}, func(t *testing.T, d *door) {
		d.submitReed(t, d.newGroup(t, anna), len(rows))
		var lines []string
		want := map[seqlease.ProcessingResult]int64{}
		entries := d.claimOf(t, "reedvirus", len(rows))
		for i, tt := range rows {
			result := goodReed(entries[i])
			tt.spoil(result, in(result, "data"))
			a := d.sendReed(t, line(result))
			if a.StatusCode != http.StatusNoContent || len(a.body) > 0 {
				t.Errorf("%s: got %d %.500s, want 204 and no body", tt.name, a.StatusCode, a.body)
			}
			lines = append(lines, line(result))
			want[tt.result]++
		}
		var list struct {
			ProcessingResultCounts map[seqlease.ProcessingResult]int64
		}
		d.call(t, "GET", "/reedvirus/get-sequences", root, nil).want(t, 200).into(t, &list)
		if diff := cmp.Diff(list.ProcessingResultCounts, want); diff != "" {
			t.Errorf("result counts (-got +want):\n%s", diff)
		}
		for _, separator := range []string{"\n", "\r", "\r\n", "\n\n", "\r\n \r\n"} { // L6: again is as the first time
			d.sendReed(t, strings.Join(lines, separator)).want(t, 204)
		}
		d.sendReed(t, "").want(t, 204)
		d.sendReed(t, "\r\n\n").want(t, 204)
	})
}

// TestContract_Results_4_5_NormalForm reads back what was sent.
func TestContract_Results_4_5_NormalForm(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{organisms: []*organism.Organism{reedvirus()}}, func(t *testing.T, d *door) {
		d.submitReed(t, d.newGroup(t, anna), 1)
		result := goodReed(d.claimOf(t, "reedvirus", 1)[0])
		in(in(result, "data"), "metadata")["authors"] = nil
		delete(in(in(result, "data"), "metadata"), "collected")
		d.sendReed(t, line(result)).want(t, 204)
		d.call(t, "POST", "/reedvirus/approve-processed-data", anna, strings.NewReader(`{"scope":"ALL"}`), "Content-Type", "application/json").want(t, 200)
		var got object
		d.call(t, "GET", "/reedvirus/get-released-data", "", nil).want(t, 200).into(t, &got)
		metadata := in(got, "metadata")
		maps.DeleteFunc(metadata, func(key string, _ any) bool {
			_, isField := map[string]bool{
				"host": true, "authors": true, "depth": true, "coverage": true, "share": true, "curated": true, "collected": true,
			}[key]
			return !isField
		})
		want := object{
			"metadata": object{
				"host": "reed", "authors": nil, "depth": -12.0, "coverage": 5.0, "share": 5.0, "curated": true, "collected": nil,
			},
			"unalignedNucleotideSequences": object{"north": "ACGTACGTMRWSYKVHDBN", "south": nil},
			"alignedNucleotideSequences":   object{"north": "AC-TACGTN-", "south": nil},
			"nucleotideInsertions":         object{"north": []any{"248:GAC", "-1:", "7:A"}, "south": []any{}},
			"alignedAminoAcidSequences":    object{"pol": "-X*B", "env": "ZZ"},
			"aminoAcidInsertions":          object{"env": []any{"2:-*"}, "pol": []any{}},
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("released (-got +want):\n%s", diff)
		}
	})
}

// TestContract_Results_6_2_Requests has what is refused whatever the lines say.
func TestContract_Results_6_2_Requests(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{organisms: []*organism.Organism{reedvirus()}}, func(t *testing.T, d *door) {
		d.submitReed(t, d.newGroup(t, anna), 1)
		entry := d.claimOf(t, "reedvirus", 1)[0]
		good := line(goodReed(entry))
		unknown := entry
		unknown.Version = 2
		const ndjson = "application/x-ndjson"
		for _, tt := range []struct {
			name, path, contentType, body string
			status                        int
			words                         []string
		}{
			{"another type", "/reedvirus/submit-processed-data?pipelineVersion=1", "application/json", good, 415, []string{ndjson}},
			{"no version", "/reedvirus/submit-processed-data", ndjson, good, 400, []string{"pipelineVersion"}},
			{"version is no number", "/reedvirus/submit-processed-data?pipelineVersion=one", ndjson, good, 400, []string{"pipelineVersion"}},
			{"unknown organism", "/moss/submit-processed-data?pipelineVersion=1", ndjson, good, 400, []string{"moss", "reedvirus"}},
			{"an outdated version", "/reedvirus/submit-processed-data?pipelineVersion=0", ndjson, good, 422, []string{"0", "1"}},
			{"another organism", "/cchf/submit-processed-data?pipelineVersion=1", ndjson, emptied(entry), 422, []string{entry.String(), "reedvirus", "cchf"}},
			{"an unknown entry", "/reedvirus/submit-processed-data?pipelineVersion=1", ndjson, line(goodReed(unknown)), 422, []string{unknown.String()}},
			{"the same entry twice", "/reedvirus/submit-processed-data?pipelineVersion=1", ndjson, good + "\n" + good, 422, []string{entry.String()}},
		} {
			t.Log(tt.name)
			d.call(t, "POST", tt.path, pipe, strings.NewReader(tt.body), "Content-Type", tt.contentType).problem(t, tt.status, tt.words...)
		}
		if got := d.statusCounts(t, "reedvirus")[seqlease.InProcessing]; got != 1 {
			t.Errorf("%d entries in processing, want 1", got)
		}
		d.sendReed(t, good).want(t, 204)
	})
}

// TestContract_Results_6_2_OrganismBeforeValidation sends results of another organism's
// entries, which break every rule of the one that they are sent to.
func TestContract_Results_6_2_OrganismBeforeValidation(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{organisms: []*organism.Organism{reedvirus()}}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		d.submit(t, group, 4, 20)
		d.submitReed(t, group, 2)
		zika, reed := d.claim(t, pipe, 4), d.claimOf(t, "reedvirus", 2)
		with := func(e seqlease.Entry, change spoil) string {
			result := goodReed(e)
			change(result, in(result, "data"))
			return line(result)
		}
		broken := setMetadata(object{"host": 5, "colour": "green"})
		note := object{"unprocessedFields": []any{}, "processedFields": []any{}, "message": "no"}
		unknown := reed[0]
		unknown.Version = 7
		lines := []struct {
			text   string
			reason seqlease.RefusalReason // empty: stored
			words  []string
		}{
			{with(zika[0], broken), seqlease.RefusedWrongOrganism, []string{zika[0].String(), "zika", "reedvirus"}},
			{with(reed[0], broken), seqlease.RefusedInvalid, []string{"host", "colour"}},
			{with(zika[1], func(object, object) {}), seqlease.RefusedWrongOrganism, []string{zika[1].String()}},
			{with(zika[2], func(result, data object) { result["errors"] = []any{note}; broken(result, data) }), seqlease.RefusedWrongOrganism, []string{zika[2].String()}},
			{with(zika[3], func(result, data object) {
				broken(result, data)
				data["files"] = object{"rawReads": []any{}}
			}), seqlease.RefusedInvalid, []string{"rawReads"}}, // files come before the organism
			{with(unknown, broken), seqlease.RefusedInvalid, []string{"host", "colour"}}, // and what exists after the rules
			{with(reed[1], func(object, object) {}), "", nil},
		}
		var texts []string
		for _, l := range lines {
			texts = append(texts, l.text)
		}
		wantRefused := func(refused []seqlease.Refusal) {
			t.Helper()
			if len(refused) != len(lines)-1 {
				t.Fatalf("%d lines are refused, want %d: %+v", len(refused), len(lines)-1, refused)
			}
			for i, r := range refused {
				if r.Line != i+1 || r.Reason != lines[i].reason {
					t.Errorf("line %d is refused as %s, want line %d as %s: %s", r.Line, r.Reason, i+1, lines[i].reason, r.Detail)
				}
				for _, word := range lines[i].words {
					if !strings.Contains(r.Detail, word) {
						t.Errorf("line %d: detail %q doesn't say %q", r.Line, r.Detail, word)
					}
				}
			}
		}
		wantRefused(d.sendReed(t, strings.Join(texts, "\n")).problem(t, 422).Refused)
		var skipped acceptedResults
		d.call(t, "POST", "/reedvirus/submit-processed-data?pipelineVersion=1&onRefused=skip", pipe, strings.NewReader(strings.Join(texts, "\n")),
			"Content-Type", "application/x-ndjson").want(t, 200).into(t, &skipped)
		wantRefused(skipped.Refused)
		if skipped.Stored != 1 {
			t.Errorf("%d stored, want 1", skipped.Stored)
		}
	})
}

// emptied is a result without data, which keeps the rules of every organism that
// requires nothing.
func emptied(e seqlease.Entry) string {
	result := goodReed(e)
	result["data"] = object{
		"metadata": object{}, "unalignedNucleotideSequences": object{}, "alignedNucleotideSequences": object{},
		"nucleotideInsertions": object{}, "alignedAminoAcidSequences": object{}, "aminoAcidInsertions": object{},
	}
	return line(result)
}
