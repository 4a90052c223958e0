package httpapi

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
)

const (
	attemptText = "0b7e4c3a-96d1-4f0e-8a53-2f6f0c1d9e77"
	emptyData   = `{"metadata":{},"unalignedNucleotideSequences":{},"alignedNucleotideSequences":{},"nucleotideInsertions":{},` +
		`"alignedAminoAcidSequences":{},"aminoAcidInsertions":{}}`
)

func goodLine() string {
	return `{"accession":"LOC_000001Y","version":1,"processingAttemptId":"` + attemptText + `","data":` + emptyData + `}`
}

func TestDecodeResult_IsLenient(t *testing.T) {
	t.Parallel()
	id, err := seqlease.ParseAttemptID(attemptText)
	if err != nil {
		t.Fatal(err)
	}
	sequence := "ACGT"
	for _, tt := range []struct {
		name, line string
		change     func(*seqlease.Result)
	}{
		{"plain", goodLine(), func(*seqlease.Result) {}},
		{
			"unknown members", strings.Replace(goodLine(), `{"accession"`, `{"url":{"a":[1]},"accession"`, 1),
			func(*seqlease.Result) {},
		},
		{
			"version as text", strings.Replace(goodLine(), `"version":1`, `"version":"12"`, 1),
			func(r *seqlease.Result) { r.Version = 12 },
		},
		{
			"number as accession", strings.Replace(goodLine(), `"LOC_000001Y"`, `17`, 1),
			func(r *seqlease.Result) { r.Accession = "17" },
		},
		{
			"nulls", strings.Replace(goodLine(), `"data"`, `"errors":null,"warnings":null,"data"`, 1),
			func(*seqlease.Result) {},
		},
		{
			"escapes", strings.Replace(goodLine(), `"unalignedNucleotideSequences":{}`,
				`"unalignedNucleotideSequences":{"m\u0061in":"\u0041CGT","gone":null}`, 1),
			func(r *seqlease.Result) {
				r.Data.UnalignedNucleotideSequences = map[string]*string{"main": &sequence, "gone": nil}
			},
		},
		{
			"files with a member more", strings.Replace(goodLine(), `"metadata":{}`,
				`"metadata":{},"files":{"raw":[{"fileId":"f","name":"n","url":null}]}`, 1),
			func(r *seqlease.Result) { r.Data.Files = seqlease.Files{"raw": {{FileID: "f", Name: "n"}}} },
		},
		{
			"annotation", strings.Replace(goodLine(), `"data"`,
				`"errors":[{"unprocessedFields":[{"type":"Metadata","name":"date"}],"processedFields":[],"message":5}],"data"`, 1),
			func(r *seqlease.Result) {
				r.Errors = []seqlease.Annotation{{
					UnprocessedFields: []seqlease.Source{{Type: seqlease.MetadataSource, Name: "date"}},
					ProcessedFields:   []seqlease.Source{}, Message: "5",
				}}
			},
		},
		{"no attempt id", strings.Replace(goodLine(), attemptText, "", 1), func(r *seqlease.Result) { r.AttemptID = seqlease.AttemptID{} }},
		{"null attempt id", strings.Replace(goodLine(), `"`+attemptText+`"`, "null", 1), func(r *seqlease.Result) { r.AttemptID = seqlease.AttemptID{} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := plainResult(t)
			want.AttemptID = id
			tt.change(&want)
			got, err := new(lineDecoder).decode(3, []byte(tt.line))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got.result, want); diff != "" || got.attemptFault != "" {
				t.Errorf("fault %q, got/want %s", got.attemptFault, diff)
			}
		})
	}
}

func plainResult(t *testing.T) seqlease.Result {
	t.Helper()
	d, err := new(lineDecoder).decode(1, []byte(goodLine()))
	if err != nil {
		t.Fatal(err)
	}
	if d.result.Errors == nil || d.result.Warnings == nil || d.result.Data.Metadata == nil {
		t.Fatal("empty lists and maps must not be nil")
	}
	return d.result
}

// TestDecodeResult_NamesLineAndMember has what can't be read at all: 400.
func TestDecodeResult_NamesLineAndMember(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, line, field string }{
		{"no accession", strings.Replace(goodLine(), `"accession":"LOC_000001Y",`, "", 1), "accession"},
		{"null version", strings.Replace(goodLine(), `"version":1`, `"version":null`, 1), "version"},
		{"no data", `{"accession":"A","version":1}`, "data"},
		{"null map", strings.Replace(goodLine(), `"metadata":{}`, `"metadata":null`, 1), "data.metadata"},
		{"missing map", strings.Replace(goodLine(), `"aminoAcidInsertions":{}`, `"x":{}`, 1), "data.aminoAcidInsertions"},
		{"list for a map", strings.Replace(goodLine(), `"metadata":{}`, `"metadata":[]`, 1), "data.metadata"},
		{"text for a version", strings.Replace(goodLine(), `"version":1`, `"version":"one"`, 1), "version"},
		{"fraction", strings.Replace(goodLine(), `"version":1`, `"version":1.5`, 1), "version"},
		{
			"insertion without position",
			strings.Replace(goodLine(), `"nucleotideInsertions":{}`, `"nucleotideInsertions":{"main":["ACG"]}`, 1), "data.nucleotideInsertions.main.0",
		},
		{"annotation without message", strings.Replace(goodLine(), `"data"`, `"warnings":[{"unprocessedFields":[],"processedFields":[]}],"data"`, 1), "warnings.0.message"},
		{"annotation without fields", strings.Replace(goodLine(), `"data"`, `"errors":[{"unprocessedFields":[],"message":"m"}],"data"`, 1), "errors.0.processedFields"},
		{
			"unknown source type",
			strings.Replace(goodLine(), `"data"`, `"errors":[{"unprocessedFields":[{"type":"Gene","name":"E"}],"processedFields":[],"message":"m"}],"data"`, 1),
			"errors.0.unprocessedFields.0.type",
		},
		{"L18 lone surrogate", strings.Replace(goodLine(), `"metadata":{}`, `"metadata":{"country":"\ud800"}`, 1), "data.metadata.country"},
		{"member twice", strings.Replace(goodLine(), `"version":1`, `"version":1,"version":2`, 1), "version"},
		{"cut", goodLine()[:40], ""},
		{"not an object", `[]`, ""},
		{"two documents", goodLine() + goodLine(), ""},
		{"deep", `{"data":` + strings.Repeat("[", 100_000), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := new(lineDecoder).decode(3, []byte(tt.line))
			var invalid *seqlease.InvalidError
			if !errors.As(err, &invalid) || invalid.Kind != seqlease.InvalidRequest || len(invalid.Problems) != 1 {
				t.Fatalf("got error %v, want one problem of the request", err)
			}
			p := invalid.Problems[0]
			if p.Line != 3 || (tt.field != "" && p.Field != tt.field) {
				t.Errorf("got line %d, field %q; want 3 and %q", p.Line, p.Field, tt.field)
			}
			if !strings.Contains(p.Message, "could not be deserialised") || strings.Contains(p.Message, "Go ") {
				t.Errorf("message %q must say in the protocol's words that the line can't be read", p.Message)
			}
			if len(p.Message) > 500 {
				t.Errorf("message of %d bytes repeats the input", len(p.Message))
			}
		})
	}
}

// TestDecodeResult_AttemptFaults has attempt ids that are none: a matter of the
// one line, not of the body (B055).
func TestDecodeResult_AttemptFaults(t *testing.T) {
	t.Parallel()
	for _, value := range []string{`5`, `{}`, `true`, `"x"`, `"0b7e4c3a96d14f0e8a532f6f0c1d9e77"`, `"` + attemptText + ` "`, `"` + strings.Repeat("é", 18) + `"`} {
		d, err := new(lineDecoder).decode(1, []byte(strings.Replace(goodLine(), `"`+attemptText+`"`, value, 1)))
		if err != nil {
			t.Errorf("%s: %v", value, err)
		}
		if !strings.Contains(d.attemptFault, "processingAttemptId") || !d.result.AttemptID.IsZero() {
			t.Errorf("%s: fault %q, id %s; want a fault that names the member", value, d.attemptFault, d.result.AttemptID)
		}
	}
}

func FuzzDecodeResult(f *testing.F) {
	f.Add([]byte(goodLine()))
	f.Add([]byte(`{"accession":1,"version":"1","data":null}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		_, err := new(lineDecoder).decode(9, line)
		var invalid *seqlease.InvalidError
		if err != nil && (!errors.As(err, &invalid) || invalid.Kind != seqlease.InvalidRequest) {
			t.Errorf("error %v is no problem of the request", err)
		}
	})
}
