package main

import (
	"strings"
	"testing"
)

func TestFindRecord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ fasta, record, want, fault string }{
		"the first":           {">a x\nac\nGT\n>b\nTT\n", "", "ACGT", ""},
		"by id":               {">a x\nac\n>b y\nTT", "b", "TT", ""},
		"Windows line ends":   {">a\r\nAC\r\nGT\r\n", "a", "ACGT", ""},
		"old Mac line ends":   {">a\rAC\rGT\r", "", "ACGT", ""},
		"a protein":           {">p\nMK*\n", "", "MK*", ""},
		"blank lines":         {"\n\n>a\n\nAC\n\nGT\n", "", "ACGT", ""},
		"empty":               {"", "", "", "no FASTA record"},
		"no header":           {"ACGT\n", "", "", "not FASTA"},
		"no such record":      {">a\nA\n>b\nC\n", "c", "", `no record "c"; there are a, b`},
		"no sequence":         {">a\n\n>b\nC\n", "", "", `record "a": no sequence`},
		"gaps":                {">a\nAC-GT\n", "", "", `'-' at position 3`},
		"more than one byte":  {">a\nACÄ\n", "", "", `'Ä' at position 3`},
		"another record's":    {">a\nAC-\n>b\nGG\n", "b", "GG", ""},
		"greater in a header": {">a >b\nGG\n", "", "GG", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := findRecord(c.fasta, c.record)
			if got != c.want || (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
				t.Errorf("got %q, %v; want %q, %q", got, err, c.want, c.fault)
			}
		})
	}
}

func FuzzFindRecord(f *testing.F) {
	f.Add(">a x\nac\nGT\n>b\nTT\n", "b")
	f.Add("ACGT", "")
	f.Add(">\r\n\r>", "")
	f.Fuzz(func(t *testing.T, fasta, record string) {
		sequence, err := findRecord(fasta, record)
		if err == nil && (sequence == "" || strings.Trim(sequence, "ABCDEFGHIJKLMNOPQRSTUVWXYZ*") != "") {
			t.Errorf("a sequence of %q", sequence)
		}
		if err != nil && sequence != "" {
			t.Errorf("%q came with %v", sequence, err)
		}
	})
}
