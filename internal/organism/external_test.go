package organism

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
)

func TestCheckExternal_KeepsTheRulesOfTheUpdatersFields(t *testing.T) {
	t.Parallel()
	o := &Organism{
		Metadata: []Field{{Name: "country", Type: String, Required: true}},
		ExternalMetadata: []ExternalField{
			{"ena", Field{Name: "accession", Type: String, Required: true}},
			{"ena", Field{Name: "released", Type: Date}},
			{"ena", Field{Name: "reads", Type: Int}},
			{"gisaid", Field{Name: "epi", Type: String}},
		},
	}
	for _, tc := range []struct {
		name, updater, metadata string
		want                    []string // words of each problem
	}{
		{"good", "ena", `{"accession":"OX1","released":"2026-01-31","reads":5}`, nil},
		{"nulls are values", "ena", `{"accession":"OX1","released":null}`, nil},
		{"of another updater", "gisaid", `{"epi":"EPI_1"}`, nil},
		{"M1 a field of another updater", "gisaid", `{"epi":"EPI_1","reads":5,"accession":"x"}`, []string{"accession, reads"}},
		{"M1 an unknown updater has no fields", "ncbi", `{"accession":"x"}`, []string{"accession"}},
		{"an unknown updater that says nothing", "ncbi", `{}`, nil},
		{"M1 fields of the schema alone", "ena", `{"accession":"x","country":"Peru"}`, []string{"country"}},
		{"M2", "ena", `{"reads":5}`, []string{`"accession" is missing`}},
		{"M3", "ena", `{"accession":null}`, []string{`"accession" is null`}},
		{"M4 each", "ena", `{"accession":5,"released":"soon","reads":1.5}`, []string{"string", `"soon"`, "integer"}},
		{"M4 objects are no values", "ena", `{"accession":{"a":1}}`, []string{`{"a":1}`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var metadata map[string]json.RawMessage
			if err := json.Unmarshal([]byte(tc.metadata), &metadata); err != nil {
				t.Fatal(err)
			}
			problems, _ := o.CheckExternal(tc.updater, metadata)
			if len(problems) != len(tc.want) {
				t.Fatalf("got %v, want %d problems", problems, len(tc.want))
			}
			for i, words := range tc.want {
				if !strings.Contains(problems[i].Message, words) {
					t.Errorf("problem %q doesn't say %q", problems[i].Message, words)
				}
			}
		})
	}
}

func TestCheckExternal_SaysHowManyMore(t *testing.T) {
	t.Parallel()
	o := &Organism{}
	for i := range 25 {
		o.ExternalMetadata = append(o.ExternalMetadata, ExternalField{Updater: "ena", Field: Field{Name: strconv.Itoa(i), Type: Int, Required: true}})
	}
	if problems, more := o.CheckExternal("ena", nil); len(problems) != seqlease.MaxListedProblems || more != 5 {
		t.Errorf("got %d problems and %d more, want %d and 5", len(problems), more, seqlease.MaxListedProblems)
	}
}

func TestOverlay_LeavesOutWhatTheSchemaDoesNotHave(t *testing.T) {
	t.Parallel()
	o := &Organism{Metadata: []Field{{Name: "a", Type: Int}, {Name: "b", Type: Int}, {Name: "c", Type: Int}}}
	metadata := map[string]json.RawMessage{"a": json.RawMessage("1"), "b": json.RawMessage("1"), "c": json.RawMessage("1")}
	if err := o.Overlay(metadata, [][]byte{[]byte(`{"a":2,"b":2,"d":2}`), []byte(`{"b":null}`)}); err != nil {
		t.Fatal(err)
	}
	want := map[string]json.RawMessage{"a": json.RawMessage("2"), "b": json.RawMessage("null"), "c": json.RawMessage("1")}
	if diff := cmp.Diff(want, metadata); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := o.Overlay(metadata, [][]byte{[]byte(`{"a":`)}); err == nil {
		t.Error("no error of a damaged document")
	}
}
