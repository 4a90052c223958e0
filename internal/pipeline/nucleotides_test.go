package pipeline

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
)

func TestReadSequence(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, submitted string
		want            string // "" with an error
		errors          string
		warnings        string
	}{
		{name: "capitals", submitted: "ACGTMRWSYKVHDBN", want: "ACGTMRWSYKVHDBN"},
		{name: "lower case", submitted: "acgtmrwsykvhdbn", want: "ACGTMRWSYKVHDBN"},
		{name: "blanks around", submitted: " ACGT\r\n", want: "ACGT"},
		{name: "N at both ends", submitted: "NNACGTNN", want: "NNACGTNN"},
		{
			name: "gaps", submitted: "--AC-GT", want: "ACGT",
			warnings: "The sequence \"x\" has 3 gap characters \"-\" (the first at position 1). They are taken out.\n",
		},
		{
			name: "RNA", submitted: "ACGUu", want: "ACGTT",
			warnings: "The sequence \"x\" is RNA: the 2 letters \"U\" (the first at position 4) are written as T.\n",
		},
		{
			name: "characters for no base", submitted: "AC??.?GT", want: "ACNNNNGT",
			warnings: "The sequence \"x\" has 4 characters that stand for no base: \"?\" (the first at position 3) and \".\" (the first at position 5). They are written as N.\n",
		},
		{
			name: "a stop", submitted: "ACGT*",
			errors: "The sequence \"x\" has characters that are no nucleotide code: \"*\" (the first at position 5).\n",
		},
		{
			name: "letters beyond ASCII and blanks count as one position each", submitted: "Aé TΩ1",
			errors: "The sequence \"x\" has characters that are no nucleotide code: \"é\" (the first at position 2), \" \" (the first at position 3), \"Ω\" (the first at position 5) and \"1\" (the first at position 6).\n",
		},
		{
			name: "at most ten are named", submitted: "EFIJLOPQXZ!%",
			errors: "The sequence \"x\" has characters that are no nucleotide code: \"E\" (the first at position 1), \"F\" (the first at position 2), \"I\" (the first at position 3), \"J\" (the first at position 4), \"L\" (the first at position 5), \"O\" (the first at position 6), \"P\" (the first at position 7), \"Q\" (the first at position 8), \"X\" (the first at position 9), \"Z\" (the first at position 10) and 2 other characters.\n",
		},
		{name: "a NUL is escaped", submitted: "A\x00", errors: "The sequence \"x\" has characters that are no nucleotide code: \"\\x00\" (the first at position 2).\n"},
		{name: "nothing", submitted: "", errors: "The sequence \"x\" is empty.\n"},
		{
			name: "nothing but gaps", submitted: "---", errors: "The sequence \"x\" is empty.\n",
			warnings: "The sequence \"x\" has 3 gap characters \"-\" (the first at position 1). They are taken out.\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDraft(seqlease.Entry{})
			got, ok := d.readSequence("x", tt.submitted)
			if got != tt.want || ok != (tt.want != "") {
				t.Errorf("sequence %q, %v, want %q", got, ok, tt.want)
			}
			if diff := cmp.Diff(tt.errors, messages(d.Errors)); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.warnings, messages(d.Warnings)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			for _, a := range append(d.Errors, d.Warnings...) {
				want := []seqlease.Source{{Type: seqlease.NucleotideSequenceSource, Name: "x"}}
				if diff := cmp.Diff(want, a.UnprocessedFields); diff != "" {
					t.Errorf("subject (-want +got):\n%s", diff)
				}
			}
		})
	}
}
