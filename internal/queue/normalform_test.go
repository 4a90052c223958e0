package queue

import (
	stdjson "encoding/json"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seqlease/seqlease"
)

// decode reads a result line as the door does.
func decode(t testing.TB, line string) *seqlease.Result {
	t.Helper()
	var r seqlease.Result
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatalf("decode %s: %v", line, err)
	}
	return &r
}

func TestEncode_NormalFormOfStorage(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, line, want string }{
		{
			name: "nulls and empty insertion lists are left out, lists and maps are never null",
			line: `{"data":{"metadata":{"b":null,"a":"x","n":1.50},"unalignedNucleotideSequences":{"main":"ACGT","x":null},
				"alignedNucleotideSequences":{"main":null},"nucleotideInsertions":{"main":[],"x":["248:GAC"]},
				"alignedAminoAcidSequences":{},"aminoAcidInsertions":{"E":[]}},"errors":null}`,
			want: `{"data":{"metadata":{"a":"x","n":1.50},"unalignedNucleotideSequences":{"main":"ACGT"},"alignedNucleotideSequences":{},` +
				`"nucleotideInsertions":{"x":["248:GAC"]},"alignedAminoAcidSequences":{},"aminoAcidInsertions":{},` +
				`"sequenceNameToFastaId":{},"files":{}},"errors":[],"warnings":[]}`,
		},
		{
			name: "ids of FASTA records, errors and warnings are kept",
			line: `{"data":{"sequenceNameToFastaId":{"z":"1","a":"2"},"files":{}},
				"errors":[{"message":"m","processedFields":[{"name":"f","type":"Metadata"}],"unprocessedFields":null}],"warnings":[]}`,
			want: `{"data":{"metadata":{},"unalignedNucleotideSequences":{},"alignedNucleotideSequences":{},"nucleotideInsertions":{},` +
				`"alignedAminoAcidSequences":{},"aminoAcidInsertions":{},"sequenceNameToFastaId":{"a":"2","z":"1"},"files":{}},` +
				`"errors":[{"unprocessedFields":[],"processedFields":[{"type":"Metadata","name":"f"}],"message":"m"}],"warnings":[]}`,
		},
		{
			name: "one way of writing each text",
			line: `{"data":{"metadata":{"a":"\u00e9\/\u0041","b":"é/A"}}}`,
			want: `{"data":{"metadata":{"a":"é/A","b":"é/A"},"unalignedNucleotideSequences":{},"alignedNucleotideSequences":{},` +
				`"nucleotideInsertions":{},"alignedAminoAcidSequences":{},"aminoAcidInsertions":{},"sequenceNameToFastaId":{},"files":{}},` +
				`"errors":[],"warnings":[]}`,
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := encode(nil, decode(t, tc.line), false)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(got), tc.want); diff != "" {
				t.Errorf("document (-got +want):\n%s", diff)
			}
		})
	}
}

// TestEncode_L6_EqualResultsGiveEqualBytes: members in any order, escapes in any
// form, a hundred times, since maps have no order of their own.
func TestEncode_L6_EqualResultsGiveEqualBytes(t *testing.T) {
	t.Parallel()
	const one = `{"data":{"metadata":{"a":"1","b":"2","c":"3","d":null},"alignedNucleotideSequences":{"x":"A","y":"C","z":"G"}},"warnings":[]}`
	const other = `{"warnings":null,"data":{"alignedNucleotideSequences":{"z":"G","y":"\u0043","x":"A"},"metadata":{"c":"3","b":"2","a":"\u0031"}}}`
	want, err := encode(nil, decode(t, one), false)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		got, err := encode(nil, decode(t, other), false)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
}

func TestUpperCase(t *testing.T) {
	t.Parallel()
	r := decode(t, `{"data":{"metadata":{"a":"abc"},"unalignedNucleotideSequences":{"main":"acgtN"},
		"alignedNucleotideSequences":{"main":"AC-gt","x":null},"nucleotideInsertions":{"main":["3:gac"]},
		"alignedAminoAcidSequences":{"E":"mıſé"},"aminoAcidInsertions":{"E":["1:m","2:K"]},"sequenceNameToFastaId":{"main":"abc"}}}`)
	upperCase(&r.Data)
	want := decode(t, `{"data":{"metadata":{"a":"abc"},"unalignedNucleotideSequences":{"main":"ACGTN"},
		"alignedNucleotideSequences":{"main":"AC-GT","x":null},"nucleotideInsertions":{"main":["3:GAC"]},
		"alignedAminoAcidSequences":{"E":"Mıſé"},"aminoAcidInsertions":{"E":["1:M","2:K"]},"sequenceNameToFastaId":{"main":"abc"}}}`)
	if diff := cmp.Diff(r.Data, want.Data); diff != "" {
		t.Errorf("data (-got +want):\n%s", diff)
	}
}

// TestUnstorable_L18 has a NUL in each place that holds text.
func TestUnstorable_L18_EveryTextIsLookedAt(t *testing.T) {
	t.Parallel()
	const nul = `\u0000`
	tests := []struct{ name, line, field string }{
		{"accession", `{"accession":"A` + nul + `"}`, "accession"},
		{"metadata value", `{"data":{"metadata":{"host":"a` + nul + `"}}}`, "metadata.host"},
		{"metadata value inside a list", `{"data":{"metadata":{"host":[{"x":["` + nul + `"]}]}}}`, "metadata.host"},
		{"metadata key", `{"data":{"metadata":{"` + nul + `":1}}}`, "a key of metadata"},
		{"metadata key inside a value", `{"data":{"metadata":{"host":{"` + nul + `":1}}}}`, "metadata.host"},
		{"unaligned", `{"data":{"unalignedNucleotideSequences":{"main":"` + nul + `"}}}`, "unalignedNucleotideSequences.main"},
		{"aligned", `{"data":{"alignedNucleotideSequences":{"main":"` + nul + `"}}}`, "alignedNucleotideSequences.main"},
		{"segment name", `{"data":{"alignedNucleotideSequences":{"` + nul + `":null}}}`, "a key of alignedNucleotideSequences"},
		{"gene", `{"data":{"alignedAminoAcidSequences":{"E":"` + nul + `"}}}`, "alignedAminoAcidSequences.E"},
		{"gene name", `{"data":{"aminoAcidInsertions":{"` + nul + `":[]}}}`, "a key of aminoAcidInsertions"},
		{"nucleotide insertion", `{"data":{"nucleotideInsertions":{"main":["1:` + nul + `"]}}}`, "nucleotideInsertions.main"},
		{"amino-acid insertion", `{"data":{"aminoAcidInsertions":{"E":["1:` + nul + `"]}}}`, "aminoAcidInsertions.E"},
		{"FASTA id", `{"data":{"sequenceNameToFastaId":{"main":"` + nul + `"}}}`, "sequenceNameToFastaId.main"},
		{"segment of a FASTA id", `{"data":{"sequenceNameToFastaId":{"` + nul + `":""}}}`, "a key of sequenceNameToFastaId"},
		{"file name", `{"data":{"files":{"c":[{"name":"` + nul + `"}]}}}`, "files.c"},
		{"file id", `{"data":{"files":{"c":[{"fileId":"` + nul + `"}]}}}`, "files.c"},
		{"file category", `{"data":{"files":{"` + nul + `":[]}}}`, "a key of files"},
		{"error message", `{"errors":[{"message":"ok"},{"message":"` + nul + `"}]}`, "errors[1].message"},
		{"warning source", `{"warnings":[{"unprocessedFields":[{"name":"` + nul + `"}]}]}`, "warnings[0].name"},
		{"error source type", `{"errors":[{"processedFields":[{"type":"` + nul + `"}]}]}`, "errors[0].type"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			problems, _ := unstorableTexts(decode(t, tc.line), false)
			if len(problems) != 1 || problems[0].Field != tc.field {
				t.Fatalf("got %v, want one problem of field %q", problems, tc.field)
			}
			if got := problems[0].String(); !seqlease.IsStorable(got) {
				t.Errorf("the report itself can't be stored: %q", got)
			}
		})
	}
}

func TestUnstorable_L18_EscapedLiteralsAreFine(t *testing.T) {
	t.Parallel()
	r := decode(t, `{"accession":"A","data":{"metadata":{"host":"\\u0000 \ud83d\ude00 \u2028 \u0001"}},"errors":[{"message":"\\ud800"}]}`)
	if problems, _ := unstorableTexts(r, false); len(problems) > 0 {
		t.Errorf("got %v, want none", problems)
	}
}

func TestUnstorable_L18_BrokenUnicodeInRawJSON(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{`"\ud800"`, "\"\xff\"", `"\ud800\u0041"`, "\"\\n\xc3\""} {
		r := &seqlease.Result{Data: seqlease.ProcessedData{Metadata: map[string]stdjson.RawMessage{"host": stdjson.RawMessage(raw)}}}
		if problems, _ := unstorableTexts(r, false); len(problems) != 1 {
			t.Errorf("%q: got %v, want one problem", raw, problems)
		}
	}
}

func TestShorten_CutsBetweenCharacters(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text  string
		limit int
		want  string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "abc…"},
		{"aéé", 4, "aé…"},
		{"a😀", 4, "a…"},
		{strings.Repeat("x", 10), 0, "…"},
	}
	for _, tc := range tests {
		if got := shorten(tc.text, tc.limit); got != tc.want {
			t.Errorf("shorten(%q, %d): got %q, want %q", tc.text, tc.limit, got, tc.want)
		}
	}
}

// TestEncode_StoredDocumentReadsBackTheSame: what is stored is already in normal
// form, so reading and storing it again changes nothing.
func TestEncode_StoredDocumentReadsBackTheSame(t *testing.T) {
	t.Parallel()
	name := rapid.StringMatching(`[a-zé"\\]{0,4}`)
	text := rapid.Map(rapid.String(), func(s string) string { return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "") })
	sequence := rapid.Ptr(rapid.StringMatching(`[ACGTN-]{0,9}`), true)
	rapid.Check(t, func(rt *rapid.T) {
		r := &seqlease.Result{
			Data: seqlease.ProcessedData{
				Metadata:                     map[string]stdjson.RawMessage{},
				UnalignedNucleotideSequences: rapid.MapOfN(name, sequence, 0, 3).Draw(rt, "unaligned"),
				AlignedAminoAcidSequences:    rapid.MapOfN(name, sequence, 0, 3).Draw(rt, "genes"),
				SequenceNameToFastaID:        rapid.MapOfN(name, text, 0, 3).Draw(rt, "ids"),
			},
			Warnings: []seqlease.Annotation{{Message: text.Draw(rt, "message")}},
		}
		for key, value := range rapid.MapOfN(name, text, 0, 3).Draw(rt, "metadata") {
			raw, err := json.Marshal(value)
			if err != nil {
				rt.Fatal(err)
			}
			r.Data.Metadata[key] = raw
		}
		if problems, _ := unstorableTexts(r, false); len(problems) > 0 {
			rt.Fatalf("unstorable: %v", problems)
		}
		first, err := encode(nil, r, false)
		if err != nil {
			rt.Fatal(err)
		}
		var stored seqlease.StoredResult
		if err := json.Unmarshal(first, &stored); err != nil {
			rt.Fatalf("%v in %s", err, first)
		}
		again, err := encode(nil, &seqlease.Result{Data: stored.Data, Errors: stored.Errors, Warnings: stored.Warnings}, false)
		if err != nil {
			rt.Fatal(err)
		}
		if string(again) != string(first) {
			rt.Fatalf("got %s, want %s", again, first)
		}
	})
}
