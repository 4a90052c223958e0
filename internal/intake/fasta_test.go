package intake

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const twoRows = "id\tv\na\tx\nb\ty\n"

func TestSequencesAreKept(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ACGTN", 1<<20) // 5 MiB
	var folded strings.Builder
	for i := 0; i < len(long); i += 60 {
		fmt.Fprintln(&folded, long[i:min(i+60, len(long))])
	}
	cases := []struct{ name, file, a, b string }{
		{"lines are joined", ">a\nAC\nGT\n>b\nTT\n", "ACGT", "TT"},
		{"order of the file is free", ">b\nTT\n>a\nAC", "AC", "TT"},
		{"letters stay as they are", ">a\nacgtNRYKM-.?*u\n>b\nUuXx\n", "acgtNRYKM-.?*u", "UuXx"},
		{"blank lines and blanks at line ends", "\n  \n>a\n\nAC \t \n\t\nGT  \n \n>b\nTT \n\n", "ACGT", "TT"},
		{"line ends", ">a\r\nAC\rGT\n>b x\rTT\r\n", "ACGT", "TT"},
		{"description", ">a first | one\nAC\n>b\tsecond\nTT\n", "AC", "TT"},
		{"blank after >", "> a\nAC\n>\tb x\nTT\n", "AC", "TT"},
		{"byte order mark", "\ufeff>a\nAC\n>b\nTT\n", "AC", "TT"},
		{"one long line without an end", ">b\nTT\n>a\n" + long, long, "TT"},
		{"many short lines", ">b\nTT\n>a\n" + folded.String(), long, "TT"},
		{"long description", ">a " + strings.Repeat("x ", 300_000) + "\nAC\n>b\nTT\n", "AC", "TT"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checked, err := checkTable(t, twoRows, c.file, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			got := entries(t, checked)
			for i, want := range []string{c.a, c.b} {
				id := string(rune('a' + i))
				if s := got[i].Data.UnalignedNucleotideSequences; len(s) != 1 || s[id] != want {
					t.Errorf("%s is %.60q of %d letters, want %.60q of %d", id, s[id], len(s[id]), want, len(want))
				}
			}
		})
	}
}

func TestSequenceFaults(t *testing.T) {
	t.Parallel()
	at := func(s string) string { return "sequence file, line " + s }
	wide := strings.Repeat("A", textBuffer+1)
	cases := []struct {
		name, file string
		limits     Limits
		want       []string
	}{
		{"empty", "", Limits{}, []string{"sequence file: the file is empty"}},
		{"blank lines only", "\n \n", Limits{}, []string{"sequence file: the file is empty"}},
		{"text before the first header", "\nACGT\n>a\nAC\n", Limits{}, []string{at(`2: "ACGT" stands before the first header`)}},
		{"blank before >", " >a\nAC\n", Limits{}, []string{at(`1: there are blanks before the ">"`)}},
		{"blank before a later >", ">a\nAC\n >b\nTT\n", Limits{}, []string{at(`3, record "a": there are blanks before the ">"`)}},
		{"> alone", ">\nAC\n", Limits{}, []string{at("1: the header has no id")}},
		{"> and blanks", ">a\nAC\n>  \nTT\n", Limits{}, []string{at("3: the header has no id")}},
		{"two >", ">>a\nAC\n", Limits{}, []string{at(`1, record ">a": the header begins with two ">"`)}},
		{"no sequence", ">a\n>b\nTT\n", Limits{}, []string{at(`1, record "a": the record has a header and no sequence`)}},
		{"no sequence at the end", ">a\nAC\n>b\n\n \n", Limits{}, []string{at(`3, record "b": the record has a header and no sequence`)}},
		{"comment", "; hello\n>a\nAC\n", Limits{}, []string{at("1: comment lines")}},
		{"comment within", ">a\n; hello\nAC\n", Limits{}, []string{at(`2, record "a": comment lines`)}},
		{"FASTQ", "@a\nACGT\n+\nIIII\n", Limits{}, []string{at("1: this looks like FASTQ")}},
		{"GenBank", "LOCUS       AB000001\n", Limits{}, []string{at("1: this looks like a GenBank file")}},
		{"table", twoRows, Limits{}, []string{at("1: this looks like a table"), "swapped"}},
		{"> in a line", ">a\nACGT>b\nTT\n", Limits{}, []string{at(`2, record "a": column 5: ">" in the middle`)}},
		{"digits", ">a\nAC1\n>b\nTT\n", Limits{}, []string{at(`2, record "a": column 3: the character "1" (U+0031)`)}},
		{"blank inside", ">a\nAC GT\n", Limits{}, []string{at(`2, record "a": column 3: a blank inside`)}},
		{"NUL", ">a\nAC\x00\n", Limits{}, []string{"column 3: the character U+0000 (NUL)"}},
		{"no-break space", ">a\nAC\u00a0\n", Limits{}, []string{"column 3: the character U+00A0 (no-break space)"}},
		{"byte 0xFF", ">a\n\xff\n", Limits{}, []string{"column 1: the byte 0xFF"}},
		{"far into a long line", ">a\n" + wide + "!\n", Limits{}, []string{fmt.Sprintf("column %d", len(wide)+1)}},
		{"every faulty record is named once", ">a\n1\n2\n>b\n3\n", Limits{}, []string{at(`2, record "a"`), at(`5, record "b"`)}},
		{"id not UTF-8", ">\xe7\nAC\n", Limits{}, []string{at("1,"), "not UTF-8"}},
		{"id with a no-break space", ">a\u00a0b\nAC\n", Limits{}, []string{"U+00A0"}},
		{"long id", ">" + strings.Repeat("é", 256) + "\nAC\n", Limits{}, []string{"256 characters; at most 255"}},
		{"endless id", ">" + strings.Repeat("x", 1<<20) + "\nAC\n", Limits{}, []string{"at most 255"}},
		{"twice the same id, cut at the blank", ">a x\nAC\n>b\nTT\n>a y\nGG\n", Limits{}, []string{at(`5, record "a": the FASTA id "a" stands in line 1 already`)}},
		{"long sequence", ">a\nACGT\nACGTA\n", Limits{SequenceBytes: 8}, []string{"too large: " + at(`3, record "a": the sequence is longer than 8 bytes`)}},
		{"many sequences", ">a\nAC\n>b\nAC\n>c\nAC\n", Limits{Sequences: 2}, []string{"too large: " + at("5: one upload may have 2 sequences")}},
		{"large entry", ">a\nACGTACGTAC\n>b\nTT\n", Limits{EntryBytes: 20}, []string{at(`1, record "a"`), "larger than 20 bytes"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := checkTable(t, twoRows, c.file, c.limits)
			wantRefusal(t, err, c.want...)
			if strings.Contains(err.Error(), "no row of") {
				t.Errorf("compares ids of a faulty file: %v", err)
			}
		})
	}
}

func TestOneProblemPerRecord(t *testing.T) {
	t.Parallel()
	_, err := checkTable(t, twoRows, ">a\n1\n2 3\n>b\n3 3 3\n4\n", Limits{})
	if got, want := len(invalidError(t, err).Problems), 2; got != want {
		t.Errorf("%d problems, want %d: %v", got, want, err)
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	many := func(prefix string, from, n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, fmt.Sprintf("%s%02d", prefix, from+i))
		}
		return b.String()
	}
	lines := []string{}
	for i := 1; i <= 25; i++ {
		lines = append(lines, fmt.Sprintf("[m%02d]", i), strconv.Itoa(i+1), fmt.Sprintf("[s%02d]", i), strconv.Itoa(2*i-1))
	}
	numbered := strings.NewReplacer(lines...).Replace
	cases := []struct{ name, table, sequences, want string }{
		{
			"ten ids of each side are all",
			"id\tv\n" + many("m", 1, 10, "%s\tx\n"), many("s", 1, 10, ">%s\nAC\n"),
			strings.TrimSuffix(numbered(many("m", 1, 10, `metadata file, line [%[1]s], record "%[1]s": no sequence in the sequence file has this id; `)+
				many("s", 1, 10, `sequence file, line [%[1]s], record "%[1]s": no row of the metadata file names this sequence; `)), "; "),
		},
		{
			"ten ids of each side and how many there are",
			"id\tv\n" + many("m", 1, 25, "%s\tx\n"), many("s", 1, 11, ">%s\nAC\n"),
			numbered(strings.TrimSuffix(many("m", 1, 10, `metadata file, line [%[1]s], record "%[1]s": no sequence in the sequence file has this id; `), "; ") +
				`; there are 25 FASTA ids without a sequence in the sequence file, 15 of them not named here; ` +
				strings.TrimSuffix(many("s", 1, 10, `sequence file, line [%[1]s], record "%[1]s": no row of the metadata file names this sequence; `), "; ") +
				`; there are 11 sequences without a row in the metadata file, 1 of them not named here`),
		},
		{
			"full-width letter",
			"id\tv\na1\tx\n", ">a１\nAC\n",
			`metadata file, line 2, record "a1": no sequence in the sequence file has this id; "a1" in the metadata file is not "a\uff11" in the sequence file: ` +
				`they look alike, but are different characters; sequence file, line 1, record "a１": no row of the metadata file names this sequence`,
		},
		{
			"twice in one cell",
			"id\tfastaIds\tv\na\tx y x\tv\n", ">x\nAC\n>y\nAC\n",
			`metadata file, line 2, record "a", field "fastaIds": the FASTA id "x" stands twice in the field`,
		},
		{
			"two rows claim it",
			"id\tfastaIds\tv\na\tx\tv\nb\ty x\tv\n", ">x\nAC\n>y\nAC\n",
			`metadata file, line 3, record "b", field "fastaIds": the FASTA id "x" belongs to the row of line 2 already; the metadata file has duplicate fastaIds`,
		},
		{
			"invisible character in fastaIds",
			"id\tfastaIds\tv\na\tx\u00a0y\tv\n", ">x\nAC\n>y\nAC\n",
			`metadata file, line 2, record "a", field "fastaIds": "x\u00a0y": the id has the character U+00A0 (no-break space) in position 2; ids may not have blanks or invisible characters`,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := checkTable(t, c.table, c.sequences, Limits{})
			if diff := cmp.Diff(c.want, invalidError(t, err).Error()); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSegmentsComeInTheOrderOfTheRow(t *testing.T) {
	t.Parallel()
	checked, err := checkTable(t, "id\tfastaIds\tv\na\tz  y\tv\nb\tx\tw\n", ">x\nAC\n>y\nGG\n>z\nTT\n", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"metadata":{"v":"v"},"unalignedNucleotideSequences":{"z":"TT","y":"GG"},"files":null}`,
		`{"metadata":{"v":"w"},"unalignedNucleotideSequences":{"x":"AC"},"files":null}`,
	}
	for range 2 { // it may be ranged over again
		var got []string
		for e, err := range checked.Entries() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(e.Data))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("entries (-want +got):\n%s", diff)
		}
	}
}
