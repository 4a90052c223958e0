package submission

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/flate"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/spool"
)

// archiveBuffer gathers what goes to disk.
const archiveBuffer = 256 << 10

// archive writes kept entries as the two files of a revision.
type archive struct {
	organism *organism.Organism
	kept     *keptEntries

	keys []string // of all metadata, in order
	ids  []string // of the rows, each once
	// ofRow are the FASTA ids of each row in the order of its sequences, each once in
	// the file. Of a sequence that can't stand in FASTA, such as an empty one, the id
	// is empty.
	ofRow [][]string
	// named: rows name their FASTA ids in a column of their own, else each has one
	// sequence, which is called like the row.
	named bool
}

// write makes the file.
func (a *archive) write(ctx context.Context, dir *spool.Dir) (_ *SubmittedData, err error) {
	if err := a.survey(ctx); err != nil {
		return nil, err
	}
	file, err := dir.CreateScratch()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = file.Close() // it is going away
		}
	}()
	out := bufio.NewWriterSize(file, archiveBuffer)
	z := zip.NewWriter(out)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
	if err := a.member(z, "metadata.tsv", func(w io.Writer) error { return a.metadata(ctx, w) }); err != nil {
		return nil, err
	}
	if a.organism.ConsensusSequences {
		if err := a.member(z, "sequences.fasta", func(w io.Writer) error { return a.sequences(ctx, w) }); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	if err := out.Flush(); err != nil {
		return nil, err
	}
	return &SubmittedData{Size: file.Size(), file: file}, nil
}

func (a *archive) member(z *zip.Writer, name string, write func(io.Writer) error) error {
	w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: a.kept.head.Now})
	if err != nil {
		return err
	}
	return write(w)
}

// survey reads everything once for the names in it.
func (a *archive) survey(ctx context.Context) error {
	keys := map[string]bool{}
	held := 0
	hold := func(name string) error {
		if held += len(name) + nameOverhead; held > maxNameBytes {
			return seqlease.Invalid(seqlease.Problem{Field: "accessionsFilter", Message: "the entries have more columns and sequences than fit " +
				"into a download: name fewer entries in accessionsFilter"})
		}
		return nil
	}
	originals := make([]string, len(a.kept.entries))
	a.ofRow = make([][]string, len(a.kept.entries))
	a.named = len(a.organism.Segments) > 1
	for i, e := range a.kept.entries {
		originals[i] = asID(e.SubmissionID, "row")
		document, err := a.kept.document(ctx, i)
		if err != nil {
			return err
		}
		err = readSubmitted(document, func(metadata map[string]string) error {
			for key := range metadata {
				if !isColumn(key) || keys[key] {
					continue
				}
				keys[key] = true
				if err := hold(key); err != nil {
					return err
				}
			}
			return nil
		}, func(id string, letters jsontext.Value) error {
			if !isSequence(letters) {
				id = ""
			} else {
				id = asID(id, originals[i])
			}
			a.ofRow[i] = append(a.ofRow[i], id)
			return hold(id)
		})
		if err != nil {
			return fmt.Errorf("%s: submitted data: %w", e.AccessionVersion, err)
		}
		// A revision would look for one sequence, called like the row.
		a.named = a.named || countNamed(a.ofRow[i]) > 1
	}
	a.named = a.named && a.organism.ConsensusSequences
	a.keys, a.ids = slices.Sorted(maps.Keys(keys)), uniqueNames(originals)
	a.nameSequences()
	return nil
}

// countNamed counts the sequences that stand in the file.
func countNamed(ids []string) int {
	n := 0
	for _, id := range ids {
		if id != "" {
			n++
		}
	}
	return n
}

// nameSequences makes the FASTA ids unique over the file.
func (a *archive) nameSequences() {
	if !a.named {
		for i, ids := range a.ofRow {
			for j := range ids {
				if ids[j] != "" {
					ids[j] = a.ids[i]
				}
			}
		}
		return
	}
	var all []string
	for _, ids := range a.ofRow {
		for _, id := range ids {
			if id != "" {
				all = append(all, id)
			}
		}
	}
	all = uniqueNames(all)
	for _, ids := range a.ofRow {
		for j := range ids {
			if ids[j] != "" {
				ids[j], all = all[0], all[1:]
			}
		}
	}
}

// metadata writes the table.
func (a *archive) metadata(ctx context.Context, w io.Writer) error {
	header := []string{"id", "accession"}
	if a.named {
		header = append(header, "fastaIds")
	}
	header = append(header, a.keys...)
	for _, category := range a.organism.SubmittedFileCategories {
		header = append(header, "files."+category)
	}
	row := appendRow(nil, header)
	if _, err := w.Write(row); err != nil {
		return err
	}
	for i, e := range a.kept.entries {
		document, err := a.kept.document(ctx, i)
		if err != nil {
			return err
		}
		var metadata map[string]string
		err = readSubmitted(document, func(m map[string]string) error {
			metadata = m
			return nil
		}, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", e.AccessionVersion, err)
		}
		row = appendRow(row[:0], a.cells(i, metadata))
		if _, err := w.Write(row); err != nil {
			return err
		}
	}
	return nil
}

// cells are those of the i-th row.
func (a *archive) cells(i int, metadata map[string]string) []string {
	cells := []string{a.ids[i], string(a.kept.entries[i].Accession)}
	if a.named {
		named := slices.DeleteFunc(slices.Clone(a.ofRow[i]), func(id string) bool { return id == "" })
		cells = append(cells, strings.Join(named, " "))
	}
	for _, key := range a.keys {
		cells = append(cells, metadata[key])
	}
	// There are no attachments yet.
	return append(cells, make([]string, len(a.organism.SubmittedFileCategories))...)
}

// sequences writes the FASTA file.
func (a *archive) sequences(ctx context.Context, w io.Writer) error {
	var record []byte
	for i, e := range a.kept.entries {
		document, err := a.kept.document(ctx, i)
		if err != nil {
			return err
		}
		number := 0
		err = readSubmitted(document, nil, func(_ string, letters jsontext.Value) error {
			id := a.ofRow[i][number]
			number++
			if id == "" {
				return nil
			}
			var err error
			if record, err = appendRecord(record[:0], id, letters); err != nil {
				return err
			}
			_, err = w.Write(record)
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", e.AccessionVersion, err)
		}
	}
	return nil
}

// appendRecord appends a FASTA record of the letters, a JSON string.
func appendRecord(dst []byte, id string, letters jsontext.Value) ([]byte, error) {
	dst = append(append(append(dst, '>'), id...), '\n')
	start := len(dst)
	dst, err := jsontext.AppendUnquote(dst, letters)
	if err != nil {
		return nil, err
	}
	if bytes.ContainsAny(dst[start:], noLetters) {
		dst = append(dst[:start], bytes.Map(asLetter, dst[start:])...)
	}
	return append(dst, '\n'), nil
}

// noLetters would end a line or begin a record. What was uploaded has none of them,
// but what was edited may hold anything.
const noLetters = "\r\n>"

func asLetter(r rune) rune {
	if strings.ContainsRune(noLetters, r) {
		return -1
	}
	return r
}

// isSequence says whether anything of a JSON value can stand in FASTA.
func isSequence(value jsontext.Value) bool {
	if value.Kind() != '"' {
		return false
	}
	letters, err := jsontext.AppendUnquote(nil, value)
	return err == nil && len(bytes.Trim(letters, noLetters)) > 0
}

// readSubmitted reads a document of submitted data: its metadata, and its sequences
// one by one in their order; without a function it is passed over.
func readSubmitted(document []byte, metadata func(map[string]string) error, sequence func(id string, letters jsontext.Value) error) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(document))
	return eachMember(d, func(name string) error {
		switch {
		case name == "metadata" && metadata != nil:
			var values map[string]string
			if err := json.UnmarshalDecode(d, &values); err != nil {
				return err
			}
			return metadata(values)
		case name == "unalignedNucleotideSequences" && sequence != nil && d.PeekKind() == '{':
			return eachMember(d, func(id string) error {
				letters, err := d.ReadValue()
				if err != nil {
					return err
				}
				return sequence(id, letters)
			})
		default:
			return d.SkipValue()
		}
	})
}

// eachMember reads an object: value must read the value of the member.
func eachMember(d *jsontext.Decoder, value func(name string) error) error {
	if token, err := d.ReadToken(); err != nil || token.Kind() != '{' {
		if err == nil {
			err = errNotSubmittedData
		}
		return err
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		if err := value(name.String()); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}
