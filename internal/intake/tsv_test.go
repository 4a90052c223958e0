package intake

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// oneSequence is a sequence file for a metadata file whose only id is a.
const oneSequence = ">a\nACGT\n"

func checkTable(t *testing.T, metadata, sequences string, limits Limits) (*Checked, error) {
	t.Helper()
	return check(t, Request{Organism: zika(t), Metadata: written("m.tsv", metadata), Sequences: written("s.fasta", sequences), Limits: limits})
}

func TestMetadataValues(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, table string
		want        map[string]string
	}{
		{"blanks around are dropped, inside kept", "id\tv\tw\n a  \t  x  y \tz\n", map[string]string{"v": "x  y", "w": "z"}},
		{"blanks inside quotes are kept", "id\tv\na\t  \"  x \"  \n", map[string]string{"v": "  x "}},
		{"tab and doubled quote inside quotes", "id\tv\na\t\"x\ty \"\"z\"\"\"\n", map[string]string{"v": "x\ty \"z\""}},
		{"line ends inside quotes become LF", "id\tv\r\na\t\"x\r\ny\rz\n\"\r\n", map[string]string{"v": "x\ny\nz\n"}},
		{"empty quotes", "id\tv\tw\na\t\"\"\t\n", map[string]string{"v": "", "w": ""}},
		{"quoted header", "\"id\"\t\"my\tcolumn\"x\n", nil},
		{"quote in the middle", "id\tv\na\t5\" needle\n", map[string]string{"v": `5" needle`}},
		{"backslash and formula are text", "id\tv\tw\na\tx\\ty\t=cmd()\n", map[string]string{"v": `x\ty`, "w": "=cmd()"}},
		{"invisible characters in values are kept", "id\tv\na\tx\u00a0\u2028\u200b\u0085\x01\x7f\n", map[string]string{"v": "x\u00a0\u2028\u200b\u0085\x01\x7f"}},
		{"blank line within", "id\tv\n   \n\na\tx\n \n", map[string]string{"v": "x"}},
		{"rows of tabs at the end", "id\tv\na\tx\n\t\n\t\t\t\n \t \n", map[string]string{"v": "x"}},
		{"nameless column without values", "id\t\tv\t\na\t\tx\n", map[string]string{"v": "x"}},
		{"submissionId", "v\tsubmissionId\nx\ta\n", map[string]string{"v": "x"}},
		{"accession is metadata", "id\taccession\na\tX1\n", map[string]string{"accession": "X1"}},
		{"fastaIds is no metadata", "id\tfastaIds\tv\nb\t a  \tx\n", map[string]string{"v": "x"}},
		{"column name with a blank", "id\tmy column\na\tx\n", map[string]string{"my column": "x"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checked, err := checkTable(t, c.table, oneSequence, Limits{})
			if c.want == nil {
				wantRefusal(t, err, "line 1", "followed by")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := entries(t, checked)
			if diff := cmp.Diff(c.want, got[0].Data.Metadata); diff != "" || len(got) != 1 {
				t.Errorf("%d entries; metadata (-want +got):\n%s", len(got), diff)
			}
		})
	}
}

func TestMetadataFaults(t *testing.T) {
	t.Parallel()
	at := func(s string) string { return "metadata file, line " + s }
	cases := []struct {
		name, table string
		limits      Limits
		want        []string
	}{
		{"only blank lines", "\n  \n", Limits{}, []string{"metadata file: the file is empty"}},
		{"only a byte order mark", "\ufeff", Limits{}, []string{"metadata file: the file is empty"}},
		{"row of tabs within", "id\tv\na\tx\n\t\n\t\nb\ty\n", Limits{}, []string{at("3: the row has no values"), at("4: the row has no values")}},
		{"nameless column with a value", "id\t\tv\na\ty\tx\n", Limits{}, []string{at(`2, record "a": column 2 has the value "y", but no name`)}},
		{"value beyond the header", "id\tv\t\na\tx\ty\n", Limits{}, []string{at(`2, record "a": the row has 3 fields, the header has 2`)}},
		{"missing cell", "id\tv\tw\na\tx\n", Limits{}, []string{at(`2, record "a": the row has 2 fields, the header has 3`)}},
		{"empty id", "id\tv\n\tx\n", Limits{}, []string{at(`2, field "id": the id is empty`)}},
		{"no-break space in an id", "id\tv\na\u00a0b\tx\n", Limits{}, []string{`record "a\u00a0b", field "id"`, "U+00A0 (no-break space) in position 2"}},
		{"zero-width space in an id", "id\tv\na\u200b\tx\n", Limits{}, []string{"U+200B"}},
		{"long id", "id\tv\n" + strings.Repeat("x", 256) + "\tx\n", Limits{}, []string{"256 characters; at most 255"}},
		{"byte order mark before a column", "v\t\ufeffid\nx\ta\n", Limits{}, []string{"U+FEFF (byte order mark)", `must be written as "id"`}},
		{"soft hyphen in a column", "id\tcoun\u00adtry\na\tx\n", Limits{}, []string{at(`1, field "coun\u00adtry"`), "U+00AD (soft hyphen) in position 5"}},
		{"NUL in a column", "id\tv\x00\na\tx\n", Limits{}, []string{"U+0000 (NUL)"}},
		{"NUL in an id", "id\tv\na\x00\tx\n", Limits{}, []string{at("2,"), `field "id"`, "U+0000"}},
		{"id column in capitals", "ID\tv\na\tx\n", Limits{}, []string{`the columns are "ID", "v"`, `"ID" must be written as "id"`}},
		{"id column with an underscore", "submission_id\tv\na\tx\n", Limits{}, []string{`must be written as "id"`}},
		{"only ids", "id\tfastaIds\na\ta\n", Limits{}, []string{"at least one column of metadata"}},
		{"attachments", "id\tv\tfiles.rawReads\na\tx\t\n", Limits{}, []string{at(`1, field "files.rawReads"`), "takes no attachments"}},
		{"duplicate column and both id columns", "id\tv\tv\tsubmissionId\na\tx\ty\ta\n", Limits{}, []string{`columns 2 and 3 have the same name "v"`, `"submissionId"`}},
		{"semicolons", "id;v\na;x\n", Limits{}, []string{"semicolons", "tab"}},
		{"quoted commas", "\"id\",\"v\"\n", Limits{}, []string{at("1:"), "tabs"}},
		{"blanks as separators", "id   v\na   x\n", Limits{}, []string{"separated by blanks"}},
		{"text after a closing quote names where it opened", "id\tv\tw\na\t\"x\n\ny\"z\tw\n", Limits{}, []string{at("2:"), `closed in line 4 and followed by "z"`}},
		{"quote never closed", "id\tv\na\t\"x\nb\ty\n", Limits{}, []string{at("2: the quote opened in this line is never closed")}},
		{"quote not closed within the limit", "id\tv\na\t\"x" + strings.Repeat("\nxxxxxxxxxx", 20), Limits{CellBytes: 64}, []string{at("2:"), "not closed within 64 bytes"}},
		{"long field", "id\tv\na\t" + strings.Repeat("x", 65) + "\n", Limits{CellBytes: 64}, []string{at("2: field 2 is longer than 64 bytes")}},
		{"long line", "id\tv\na\t" + strings.Repeat("x\t", 50) + "\n", Limits{RowBytes: 64}, []string{at("2: the line is longer than 64 bytes")}},
		{"long row in quotes", "id\tv\tw\na\t\"" + strings.Repeat("x\n", 25) + "\"\t" + strings.Repeat("x", 40) + "\n", Limits{RowBytes: 64}, []string{at("2: the row is longer than 64 bytes")}},
		{"many columns", "id\ta\tb\tc\n", Limits{Columns: 3}, []string{"there are 4 columns; at most 3"}},
		{"many rows", "id\tv\na\tx\nb\tx\nc\tx\n", Limits{Rows: 2}, []string{"too large: " + at("4: one upload may have 2 rows")}},
		{"large entry", "id\tv\na\t" + strings.Repeat("x", 100) + "\n", Limits{EntryBytes: 90}, []string{at("2,"), "larger than 90 bytes"}},
		{"not UTF-8", "id\tv\na\tZ\xfcrich\n", Limits{}, []string{at("2: byte 4 of the line (0xFC) is not UTF-8; save the file as UTF-8")}},
		{"lone surrogate", "id\tv\na\t\xed\xa0\x80\n", Limits{}, []string{at("2: byte 3 of the line (0xED)")}},
		{"UTF-16 without a mark", "i\x00d\x00\t\x00v\x00\n\x00", Limits{}, []string{"UTF-16"}},
		{"FASTA", oneSequence, Limits{}, []string{"looks like FASTA", "swapped"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := checkTable(t, c.table, oneSequence, c.limits)
			wantRefusal(t, err, c.want...)
		})
	}
}

func TestProblemsAreCollectedAndCounted(t *testing.T) {
	t.Parallel()
	table := "id\tv\n" + strings.Repeat("a b\tx\n", 30)
	_, err := checkTable(t, table, ">a\nAC1\n>a\nACGT\n", Limits{})
	wantRefusal(t, err, "line 2,", "line 21,", "and 12 more")
	invalid := invalidError(t, err)
	if got, want := len(invalid.Problems)+invalid.More, 32; got != want {
		t.Errorf("%d problems, want %d", got, want)
	}
}

func TestEntriesAreOneLineForEveryReader(t *testing.T) {
	t.Parallel()
	checked, err := checkTable(t, "id\tv\"\\\na\t\"x\n\t\"\"\\\r\x1f\u0085\u2028\u2029\u00a0\u00e9\U0001f9a0<&>\"\n", oneSequence, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range checked.Entries() {
		want := `{"metadata":{"v\"\\":"x\n\t\"\\\n\u001f\u0085\u2028\u2029` + "\u00a0\u00e9\U0001f9a0" + `<&>"},"unalignedNucleotideSequences":{"a":"ACGT"},"files":null}`
		if diff := cmp.Diff(want, string(e.Data)); diff != "" || err != nil {
			t.Errorf("%v; data (-want +got):\n%s", err, diff)
		}
	}
}

func TestPartsAndNames(t *testing.T) {
	t.Parallel()
	table, sequences := "id\tv\na\tx\n", oneSequence
	withoutSequences := zika(t)
	withoutSequences.ConsensusSequences = false
	cases := []struct {
		name string
		r    Request
		want []string // nil: accepted
	}{
		{"no metadata", Request{Organism: zika(t), Sequences: written("s.fa", sequences)}, []string{`field "metadataFile"`}},
		{"no sequences", Request{Organism: zika(t), Metadata: written("m.tsv", table)}, []string{`field "sequenceFile"`, `"zika"`}},
		{"forbidden sequences", Request{Organism: withoutSequences, Metadata: written("m.tsv", table), Sequences: written("s.fa", sequences)}, []string{`field "sequenceFile"`, `"zika"`}},
		{"organism without sequences", Request{Organism: withoutSequences, Metadata: written("m.tsv", table)}, nil},
		{"organism without sequences, FASTA ids", Request{Organism: withoutSequences, Metadata: written("m.tsv", "id\tfastaIds\tv\na\tx y\tx\n")}, nil},
		{"ending without a dot", Request{Organism: zika(t), Metadata: written("tsv", table), Sequences: written("seq", sequences)}, nil},
		{"capitals", Request{Organism: zika(t), Metadata: written("m.tsv", table), Sequences: written("s.FASTA", sequences)}, []string{`field "sequenceFile"`, "fa, fasta, seq, fna, fas", ".zst, .xz, .gz, .zip, .bz2, .lzma", "lower case"}},
		{"two suffixes", Request{Organism: zika(t), Metadata: written("m.tsv.gz.gz", table), Sequences: written("s.fa", sequences)}, []string{`field "metadataFile"`, `"m.tsv.gz.gz"`}},
		{"Excel", Request{Organism: zika(t), Metadata: written("m.xlsx", table), Sequences: written("s.fa", sequences)}, []string{`field "metadataFile"`, "Excel", "tab-separated"}},
		{"CSV", Request{Organism: zika(t), Metadata: written("m.csv", table), Sequences: written("s.fa", sequences)}, []string{"comma-separated"}},
		{"tar", Request{Organism: zika(t), Metadata: written("m.tsv", table), Sequences: written("s.tar.gz", sequences)}, []string{`"s.tar.gz"`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checked, err := check(t, c.r)
			if c.want != nil {
				wantRefusal(t, err, c.want...)
				if got := invalidError(t, err).Kind; got != 1 {
					t.Errorf("kind %d, want InvalidRequest", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := entries(t, checked); len(got) != 1 || got[0].SubmissionID != "a" {
				t.Errorf("got %v", got)
			}
		})
	}
}

// TestFastaIDsWithoutSequences: the column is checked as where there are sequences.
func TestFastaIDsWithoutSequences(t *testing.T) {
	t.Parallel()
	o := zika(t)
	o.ConsensusSequences = false
	_, err := check(t, Request{Organism: o, Metadata: written("m.tsv", "id\tfastaIds\tv\na\t \tx\nb\tx y x\tx\n")})
	want := `metadata file, line 2, record "a", field "fastaIds": the field is empty; it must name the FASTA ids of the row, separated by blanks; ` +
		`metadata file, line 3, record "b", field "fastaIds": the FASTA id "x" stands twice in the field`
	if diff := cmp.Diff(want, invalidError(t, err).Error()); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
}

// TestFailingSourceIsNoFaultOfTheUpload: a disk error must not be called a damaged file.
func TestFailingSourceIsNoFaultOfTheUpload(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk on fire")
	for name, content := range map[string]string{"plain": "id\tv\n", "gzip": "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", "zip": "PK\x03\x04xxxxxxxx"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := check(t, Request{Organism: zika(t), Metadata: failing("m.tsv", content, broken), Sequences: written("s.fa", oneSequence)})
			if !errors.Is(err, broken) || isRefusal(err) {
				t.Errorf("got %v, want %v", err, broken)
			}
		})
	}
}
