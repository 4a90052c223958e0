package organism

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
)

// reedvirus has two segments, two genes and a field of each type.
func reedvirus() *Organism {
	return &Organism{
		Key: "reedvirus", DisplayName: "Reed virus", ConsensusSequences: true,
		Metadata: []Field{
			{Name: "host", Type: String, Required: true},
			{Name: "authors", Type: Authors},
			{Name: "depth", Type: Int},
			{Name: "coverage", Type: Float},
			{Name: "share", Type: Number},
			{Name: "curated", Type: Boolean},
			{Name: "collected", Type: Date},
		},
		Segments: []NamedSequence{{"north", "ACGTACGTAC"}, {"south", "ACGTA"}},
		Genes:    []NamedSequence{{"pol", "MKL*"}, {"env", "MK"}},
	}
}

func text(s string) *string { return &s }

// good keeps every rule.
func good() *seqlease.ProcessedData {
	return &seqlease.ProcessedData{
		Metadata: map[string]json.RawMessage{
			"host": json.RawMessage(`"reed"`), "authors": json.RawMessage(`"Rohr, R."`), "depth": json.RawMessage(`-12`),
			"coverage": json.RawMessage(`5.0`), "share": json.RawMessage(`5`), "curated": json.RawMessage(`true`),
			"collected": json.RawMessage(`"2026-03-04"`),
		},
		UnalignedNucleotideSequences: map[string]*string{"north": text("ACGTMRWSYKVHDBN"), "south": nil},
		AlignedNucleotideSequences:   map[string]*string{"north": text("AC-TACGTN-"), "south": nil},
		NucleotideInsertions:         map[string][]seqlease.Insertion{"north": {{Position: 248, Sequence: "GAC"}, {Position: -1}}},
		AlignedAminoAcidSequences:    map[string]*string{"pol": text("-X*B"), "env": text("ZZ")},
		AminoAcidInsertions:          map[string][]seqlease.Insertion{"env": {{Position: 2, Sequence: "-*"}}},
		SequenceNameToFastaID:        map[string]string{"north": "pond7_a", "south": ""},
	}
}

func TestCheckProcessed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		spoil func(d *seqlease.ProcessedData)
		want  []string // all problems, as people read them
	}{
		{name: "good", spoil: func(*seqlease.ProcessedData) {}},
		{name: "all missing but what is required", spoil: func(d *seqlease.ProcessedData) {
			*d = seqlease.ProcessedData{Metadata: map[string]json.RawMessage{"host": json.RawMessage(`""`)}}
		}},
		{name: "M1 unknown fields, sorted", spoil: func(d *seqlease.ProcessedData) {
			d.Metadata["zebra"], d.Metadata["Host"] = json.RawMessage(`1`), json.RawMessage(`null`)
		}, want: []string{`unknown metadata fields: Host, zebra`}},
		{name: "M1 invisible characters show", spoil: func(d *seqlease.ProcessedData) {
			d.Metadata["host\u200b"] = json.RawMessage(`1`)
		}, want: []string{`field "host\u200b": unknown metadata fields: "host\u200b"`}},
		{name: "M2 required field missing", spoil: func(d *seqlease.ProcessedData) {
			delete(d.Metadata, "host")
		}, want: []string{`field "host": the required metadata field "host" is missing`}},
		{name: "M3 required field null", spoil: func(d *seqlease.ProcessedData) {
			d.Metadata["host"] = json.RawMessage(`null`)
		}, want: []string{`field "host": the required metadata field "host" is null`}},
		{name: "M4 type", spoil: func(d *seqlease.ProcessedData) {
			d.Metadata["host"], d.Metadata["depth"] = json.RawMessage(`5`), json.RawMessage(`"5"`)
		}, want: []string{
			`field "host": expected type string for field "host", found value 5`,
			`field "depth": expected type integer for field "depth", found value "5"`,
		}},
		{name: "N1 length", spoil: func(d *seqlease.ProcessedData) {
			d.AlignedNucleotideSequences["north"], d.AlignedNucleotideSequences["south"] = text("ACG"), text("ACGTAC")
		}, want: []string{
			`field "north": alignedNucleotideSequences of segment "north" has length 3, but the reference has 10: an aligned sequence has exactly the length of its reference`,
			`field "south": alignedNucleotideSequences of segment "south" has length 6, but the reference has 5: an aligned sequence has exactly the length of its reference`,
		}},
		{name: "N1 counts UTF-16 units", spoil: func(d *seqlease.ProcessedData) {
			d.AlignedNucleotideSequences["south"] = text("A😀É-") // 1 + 2 + 1 + 1
		}, want: []string{
			`field "south": alignedNucleotideSequences of segment "south" has characters that are not allowed: "😀É"`,
		}},
		{name: "N2 unknown segment in aligned", spoil: func(d *seqlease.ProcessedData) {
			d.AlignedNucleotideSequences["west"], d.AlignedNucleotideSequences["east"] = nil, nil
		}, want: []string{`field "alignedNucleotideSequences": unknown segments in alignedNucleotideSequences: east, west`}},
		{name: "N3 and N4 unknown segment in unaligned and in the ids", spoil: func(d *seqlease.ProcessedData) {
			d.UnalignedNucleotideSequences["west"], d.SequenceNameToFastaID["west"] = nil, "x"
		}, want: []string{
			`field "unalignedNucleotideSequences": unknown segments in unalignedNucleotideSequences: west`,
			`field "sequenceNameToFastaId": unknown segments in sequenceNameToFastaId: west`,
		}},
		{name: "N5 keys differ, null values count", spoil: func(d *seqlease.ProcessedData) {
			delete(d.UnalignedNucleotideSequences, "north")
			delete(d.SequenceNameToFastaID, "south")
		}, want: []string{
			`field "sequenceNameToFastaId": unalignedNucleotideSequences and sequenceNameToFastaId must have the same keys: ` +
				`unalignedNucleotideSequences lacks north, sequenceNameToFastaId lacks south`,
		}},
		{name: "N6 unknown segment in insertions", spoil: func(d *seqlease.ProcessedData) {
			d.NucleotideInsertions["pol"] = nil
		}, want: []string{`field "nucleotideInsertions": unknown segments in nucleotideInsertions: pol`}},
		{name: "N7 aligned alphabet, ten characters shown", spoil: func(d *seqlease.ProcessedData) {
			d.AlignedNucleotideSequences["north"], d.AlignedNucleotideSequences["south"] = text("U.??JJEFQu"), text("-*-aa")
		}, want: []string{
			`field "north": alignedNucleotideSequences of segment "north" has characters that are not allowed: "U.??JJEFQu"`,
			`field "south": alignedNucleotideSequences of segment "south" has characters that are not allowed: "*aa"`,
		}},
		{name: "N8 unaligned alphabet, more than ten", spoil: func(d *seqlease.ProcessedData) {
			d.UnalignedNucleotideSequences["south"] = text("AC-UU\n........GT.")
		}, want: []string{
			`field "south": unalignedNucleotideSequences of segment "south" has characters that are not allowed: "-UU\n......"...`,
		}},
		{name: "N9 inserted alphabet", spoil: func(d *seqlease.ProcessedData) {
			d.NucleotideInsertions["south"] = []seqlease.Insertion{{Position: 3, Sequence: "GA-C"}}
		}, want: []string{
			`field "south": nucleotideInsertions of segment "south": insertion 3:GA-C has characters that are not allowed: "-"`,
		}},
		{name: "A1 gene length", spoil: func(d *seqlease.ProcessedData) {
			d.AlignedAminoAcidSequences["pol"] = text("")
		}, want: []string{
			`field "pol": alignedAminoAcidSequences of gene "pol" has length 0, but the reference has 4: an aligned sequence has exactly the length of its reference`,
		}},
		{name: "A2 and A3 unknown genes", spoil: func(d *seqlease.ProcessedData) {
			d.AlignedAminoAcidSequences["gag"], d.AminoAcidInsertions["north"] = nil, nil
		}, want: []string{
			`field "alignedAminoAcidSequences": unknown genes in alignedAminoAcidSequences: gag`,
			`field "aminoAcidInsertions": unknown genes in aminoAcidInsertions: north`,
		}},
		{name: "A4 amino-acid alphabet", spoil: func(d *seqlease.ProcessedData) {
			d.AlignedAminoAcidSequences["pol"] = text("MJOU")
		}, want: []string{
			`field "pol": alignedAminoAcidSequences of gene "pol" has characters that are not allowed: "JOU"`,
		}},
		{name: "A5 inserted amino acids", spoil: func(d *seqlease.ProcessedData) {
			d.AminoAcidInsertions["pol"] = []seqlease.Insertion{{Position: 1, Sequence: "MU"}}
		}, want: []string{
			`field "pol": aminoAcidInsertions of gene "pol": insertion 1:MU has characters that are not allowed: "U"`,
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			data := good()
			tc.spoil(data)
			var got []string
			problems, _ := reedvirus().CheckProcessed(data)
			for _, p := range problems {
				got = append(got, p.String())
			}
			if diff := cmp.Diff(got, tc.want); diff != "" {
				t.Errorf("problems (-got +want):\n%s", diff)
			}
		})
	}
}

// TestCheckProcessed_Values wants what is at fault beside what it is at fault of.
func TestCheckProcessed_Values(t *testing.T) {
	t.Parallel()
	data := good()
	data.Metadata["Host"], data.Metadata["zebra"] = json.RawMessage(`"reed"`), json.RawMessage(`[`+strings.Repeat("1,", 1000)+`1]`)
	data.AlignedNucleotideSequences["north"], data.AlignedNucleotideSequences["west"] = text("ACG"), nil
	data.UnalignedNucleotideSequences["north"] = text("AC-UU\n........GT.")
	data.AlignedAminoAcidSequences["pol"] = text("MJOUK")
	problems, _ := reedvirus().CheckProcessed(data)
	var got [][2]string
	for _, p := range problems {
		got = append(got, [2]string{p.Field, p.Value})
	}
	want := [][2]string{
		{"", `"reed", [` + strings.Repeat("1,", 95) + "1…"},
		{"north", "3"},
		{"alignedNucleotideSequences", "west"},
		{"north", `"-UU\n......"...`},
		{"pol", "5"},
		{"pol", `"JOU"`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields and values (-want +got):\n%s", diff)
	}
}

// TestCheckProcessed_Order breaks every rule at once and wants the protocol's order.
func TestCheckProcessed_Order(t *testing.T) {
	t.Parallel()
	data := &seqlease.ProcessedData{
		Metadata:                     map[string]json.RawMessage{"alien": nil, "depth": json.RawMessage(`1.0`)},
		UnalignedNucleotideSequences: map[string]*string{"north": text("u"), "x3": nil},
		AlignedNucleotideSequences:   map[string]*string{"north": text("u"), "x2": nil},
		NucleotideInsertions:         map[string][]seqlease.Insertion{"north": {{Sequence: "u"}}, "x6": nil},
		AlignedAminoAcidSequences:    map[string]*string{"pol": text("u"), "y2": nil},
		AminoAcidInsertions:          map[string][]seqlease.Insertion{"pol": {{Sequence: "u"}}, "y3": nil},
		SequenceNameToFastaID:        map[string]string{"x4": ""},
	}
	rules := []struct{ rule, needle string }{
		{"M1", "unknown metadata fields: alien"},
		{"M2", `"host" is missing`},
		{"M4", `type integer for field "depth"`},
		{"N1", `alignedNucleotideSequences of segment "north" has length 1`},
		{"N2", "unknown segments in alignedNucleotideSequences: x2"},
		{"N3", "unknown segments in unalignedNucleotideSequences: x3"},
		{"N4", "unknown segments in sequenceNameToFastaId: x4"},
		{"N5", "must have the same keys"},
		{"N6", "unknown segments in nucleotideInsertions: x6"},
		{"N7", `alignedNucleotideSequences of segment "north" has characters`},
		{"N8", `unalignedNucleotideSequences of segment "north" has characters`},
		{"N9", `nucleotideInsertions of segment "north": insertion`},
		{"A1", `alignedAminoAcidSequences of gene "pol" has length 1`},
		{"A2", "unknown genes in alignedAminoAcidSequences: y2"},
		{"A3", "unknown genes in aminoAcidInsertions: y3"},
		{"A4", `alignedAminoAcidSequences of gene "pol" has characters`},
		{"A5", `aminoAcidInsertions of gene "pol": insertion`},
	}
	problems, _ := reedvirus().CheckProcessed(data)
	if got, want := len(problems), len(rules); got != want {
		t.Fatalf("got %d problems, want %d: %v", got, want, problems)
	}
	for i, r := range rules {
		if got := problems[i].Message; !strings.Contains(got, r.needle) {
			t.Errorf("problem %d, rule %s: got %q, want it to say %q", i, r.rule, got, r.needle)
		}
	}
}

func TestFieldType_M4(t *testing.T) {
	t.Parallel()
	values := []string{
		`"x"`, `""`, `5`, `-0`, `2147483647`, `-2147483648`, `2147483648`, `1.0`, `1e2`, `-1E-2`, `1e400`, `-1E400`, `1e-400`, `true`, `false`, `{}`, `[]`,
		`"2026-03-04"`, `"2021-02-31"`, `"2021-02-32"`, `"2021-2-03"`, `"0000-01-01"`, `"0001-01-01"`, `"2021-13-01"`, `"2021-00-01"`,
		`"2021-01-00"`, `"2021-01-01 "`, `"\u0032021-01-01"`, `"２021-01-01"`, `"12021-01-01"`,
	}
	dates := `"2026-03-04" "2021-02-31" "0001-01-01" "\u0032021-01-01"`
	want := map[FieldType]string{
		String:  `"x" "" "2026-03-04" "2021-02-31" "2021-02-32" "2021-2-03" "0000-01-01" "0001-01-01" "2021-13-01" "2021-00-01" "2021-01-00" "2021-01-01 " "\u0032021-01-01" "２021-01-01" "12021-01-01"`,
		Int:     `5 -0 2147483647 -2147483648`,
		Float:   `1.0 1e2 -1E-2 1e-400`,
		Number:  `5 -0 2147483647 -2147483648 2147483648 1.0 1e2 -1E-2 1e-400`,
		Boolean: `true false`,
		Date:    dates,
	}
	want[Authors] = want[String]
	for kind, want := range want {
		var accepted []string
		for _, value := range values {
			if kind.accepts(json.RawMessage(value)) {
				accepted = append(accepted, value)
			}
		}
		if got := strings.Join(accepted, " "); got != want {
			t.Errorf("%s accepts\n%s, want\n%s", kind, got, want)
		}
	}
}

func TestCheckProcessed_MessagesAreBounded(t *testing.T) {
	t.Parallel()
	data := good()
	data.Metadata["collected"] = json.RawMessage(`"` + strings.Repeat("é", 1<<20) + `"`)
	for i := range 5000 {
		data.Metadata[fmt.Sprintf("alien%04d", i)] = nil
	}
	data.AlignedNucleotideSequences["north"] = text(strings.Repeat("?", 1<<20))
	problems, _ := reedvirus().CheckProcessed(data)
	for _, p := range problems {
		if got, limit := len(p.String()), 4000; got > limit {
			t.Errorf("a message of %d bytes, want at most %d: %.200s", got, limit, p)
		}
	}
}

func TestRebuild_ShowsTheConfigurationOfToday(t *testing.T) {
	t.Parallel()
	stored := &seqlease.ProcessedData{
		Metadata:                   map[string]json.RawMessage{"host": json.RawMessage(`"reed"`), "dropped": json.RawMessage(`1`)},
		AlignedNucleotideSequences: map[string]*string{"north": text("ACGT"), "dropped": text("A")},
		NucleotideInsertions:       map[string][]seqlease.Insertion{"north": {{Position: 1, Sequence: "A"}}, "dropped": {{}}},
		AlignedAminoAcidSequences:  map[string]*string{"env": text("MK")},
		SequenceNameToFastaID:      map[string]string{"dropped": "as stored"},
	}
	null := json.RawMessage(`null`)
	want := seqlease.ProcessedData{
		Metadata: map[string]json.RawMessage{
			"host": json.RawMessage(`"reed"`), "authors": null, "depth": null, "coverage": null, "share": null, "curated": null, "collected": null,
		},
		UnalignedNucleotideSequences: map[string]*string{"north": nil, "south": nil},
		AlignedNucleotideSequences:   map[string]*string{"north": text("ACGT"), "south": nil},
		NucleotideInsertions:         map[string][]seqlease.Insertion{"north": {{Position: 1, Sequence: "A"}}, "south": {}},
		AlignedAminoAcidSequences:    map[string]*string{"pol": nil, "env": text("MK")},
		AminoAcidInsertions:          map[string][]seqlease.Insertion{"pol": {}, "env": {}},
		SequenceNameToFastaID:        map[string]string{"dropped": "as stored"},
	}
	if diff := cmp.Diff(reedvirus().Rebuild(stored), want); diff != "" {
		t.Errorf("rebuilt (-got +want):\n%s", diff)
	}
	if _, kept := stored.Metadata["dropped"]; !kept {
		t.Error("the stored data was changed")
	}
}
