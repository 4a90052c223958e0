package submission

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
)

// lineWriter turns released entries into lines. It holds back the lines of one
// accession, since their version status depends on all its released versions.
type lineWriter struct {
	organism *organism.Organism
	terms    TermsOptions
	to       io.Writer
	head     ReleasedHead
	own      map[string]bool // metadata keys that aren't the schema's to fill
	files    []string        // categories of attachments that are shown
	updaters []string        // in the order of the schema
	text     []byte          // of the held lines, one after the other
	held     []heldLine
	earliest string // release date of the last held line, if that is shown
	written  int64
}

// heldLine is where a line lies in the text and where its version status goes.
type heldLine struct {
	accession            seqlease.Accession
	isRevocation         bool
	start, statusAt, end int
}

func newLineWriter(o *organism.Organism, terms TermsOptions, to io.Writer) *lineWriter {
	w := &lineWriter{organism: o, terms: terms, to: to, own: map[string]bool{}, updaters: o.ExternalUpdaters()}
	for _, key := range []string{
		"accession", "version", "accessionVersion", "submissionId", "submitter", "isRevocation", "groupId", "groupName",
		"submittedDate", "submittedAtTimestamp", "releasedDate", "releasedAtTimestamp", "versionStatus", "pipelineVersion",
	} {
		w.own[key] = true
	}
	if terms.Enabled {
		w.own["dataUseTerms"], w.own["dataUseTermsRestrictedUntil"], w.own["dataBecameOpenAt"] = true, true, true
		if terms.hasURLs() {
			w.own["dataUseTermsUrl"] = true
		}
	}
	if o.EarliestReleaseDate {
		w.own[earliestReleaseDate] = true
	}
	for _, category := range o.FileCategories {
		if !w.own[category] {
			w.own[category], w.files = true, append(w.files, category)
		}
	}
	return w
}

func (o TermsOptions) hasURLs() bool { return o.OpenURL != "" || o.RestrictedURL != "" }

// add takes the next entry, by accession and version.
func (w *lineWriter) add(e ReleasedEntry) error {
	if len(w.held) > 0 && w.held[0].accession != e.Accession {
		if err := w.flush(); err != nil {
			return err
		}
	}
	data, err := w.processed(e)
	if err != nil {
		return fmt.Errorf("released entry %s: %w", e.AccessionVersion, err)
	}
	line := heldLine{accession: e.Accession, isRevocation: e.IsRevocation, start: len(w.text)}
	w.text = append(w.text, `{"metadata":{`...)
	w.metadata(e, data)
	w.text = append(w.text, `"versionStatus":"`...)
	w.text = oneLine(w.text, line.start)
	line.statusAt = len(w.text)
	w.text = append(w.text, `"}`...)
	w.sequences(data)
	w.text = append(w.text, '}')
	w.text = append(oneLine(w.text, line.statusAt), '\n')
	line.end = len(w.text)
	w.held = append(w.held, line)
	return nil
}

// end writes what is held and compares the number of lines with the count that
// was told before.
func (w *lineWriter) end() error {
	if err := w.flush(); err != nil {
		return err
	}
	if w.written != w.head.Count {
		return fmt.Errorf("released data has %d lines, but %d were counted", w.written, w.head.Count)
	}
	return nil
}

// flush writes the lines of one accession with their version status: the highest
// version is the latest (also a revocation), those below a revocation are
// revoked, the others revised.
func (w *lineWriter) flush() error {
	statuses := make([]seqlease.VersionStatus, len(w.held))
	status := seqlease.LatestVersion
	revoked := false
	for i := len(w.held) - 1; i >= 0; i-- {
		statuses[i] = status
		revoked = revoked || w.held[i].isRevocation
		status = seqlease.Revised
		if revoked {
			status = seqlease.Revoked
		}
	}
	for i, line := range w.held {
		for _, part := range [][]byte{w.text[line.start:line.statusAt], []byte(statuses[i]), w.text[line.statusAt:line.end]} {
			if _, err := w.to.Write(part); err != nil {
				return err
			}
		}
	}
	w.written += int64(len(w.held))
	w.held, w.text, w.earliest = w.held[:0], w.text[:0], ""
	return nil
}

// processed returns the data of an entry as the configuration shows it. Of a
// revocation there is only the submitted metadata that the schema knows. Of an entry
// whose processing failed there is only what updaters say of it: nobody checked what
// came with the errors, and readers rely on the rules for processed data.
func (w *lineWriter) processed(e ReleasedEntry) (seqlease.ProcessedData, error) {
	var stored seqlease.StoredResult
	if !e.IsRevocation {
		if e.Result != nil {
			if err := json.Unmarshal(e.Result, &stored); err != nil {
				return stored.Data, fmt.Errorf("stored result: %w", err)
			}
		}
		if len(stored.Errors) > 0 {
			stored.Data = seqlease.ProcessedData{}
		}
		shown := w.organism.Rebuild(&stored.Data)
		return shown, w.organism.Overlay(shown.Metadata, w.external(e.External))
	}
	var submitted seqlease.SubmittedData
	if err := json.Unmarshal(e.Submitted, &submitted); err != nil {
		return stored.Data, fmt.Errorf("submitted data: %w", err)
	}
	shown := w.organism.Rebuild(&stored.Data)
	for _, field := range w.organism.Metadata {
		if text, ok := submitted.Metadata[field.Name]; ok {
			shown.Metadata[field.Name] = appendText(nil, text)
		}
	}
	return shown, nil
}

// metadata appends the schema's fields in its order and the system's own.
func (w *lineWriter) metadata(e ReleasedEntry, data seqlease.ProcessedData) {
	for _, field := range w.organism.Metadata {
		if !w.own[field.Name] {
			w.raw(field.Name, data.Metadata[field.Name])
		}
	}
	w.string("accession", string(e.Accession))
	w.number("version", int64(e.Version))
	w.string("accessionVersion", e.String())
	w.string("submissionId", e.SubmissionID)
	w.string("submitter", e.Submitter)
	w.raw("isRevocation", strconv.AppendBool(nil, e.IsRevocation))
	w.number("groupId", e.GroupID)
	w.string("groupName", e.GroupName)
	w.string("submittedDate", day(e.SubmittedAt))
	w.number("submittedAtTimestamp", e.SubmittedAt.Unix())
	w.string("releasedDate", day(e.ReleasedAt))
	w.number("releasedAtTimestamp", e.ReleasedAt.Unix())
	w.number("pipelineVersion", int64(e.PipelineVersion))
	if w.terms.Enabled {
		w.dataUseTerms(e)
	}
	if w.organism.EarliestReleaseDate {
		w.string(earliestReleaseDate, w.earliestReleaseDate(e, data))
	}
	for _, category := range w.files {
		w.raw(category, []byte("null"))
	}
}

// dataUseTerms appends the terms as they are in force on the day of the database.
func (w *lineWriter) dataUseTerms(e ReleasedEntry) {
	null := []byte("null")
	lapsing := e.Terms.Type == seqlease.TermsRestricted
	if lapsing && day(e.Terms.RestrictedUntil) > day(w.head.Now) {
		w.string("dataUseTerms", string(seqlease.TermsRestricted))
		w.string("dataUseTermsRestrictedUntil", day(e.Terms.RestrictedUntil))
		w.raw("dataBecameOpenAt", null)
		if w.terms.hasURLs() {
			w.string("dataUseTermsUrl", w.terms.RestrictedURL)
		}
		return
	}
	openAt := e.TermsChangedAt
	if lapsing {
		openAt = e.Terms.RestrictedUntil
	}
	w.string("dataUseTerms", string(seqlease.TermsOpen))
	w.raw("dataUseTermsRestrictedUntil", null)
	w.string("dataBecameOpenAt", day(openAt))
	if w.terms.hasURLs() {
		w.string("dataUseTermsUrl", w.terms.OpenURL)
	}
}

// sequences appends the five members beside the metadata.
func (w *lineWriter) sequences(d seqlease.ProcessedData) {
	o := w.organism
	w.sequenceMap("unalignedNucleotideSequences", o.Segments, d.UnalignedNucleotideSequences)
	w.sequenceMap("alignedNucleotideSequences", o.Segments, d.AlignedNucleotideSequences)
	w.insertionMap("nucleotideInsertions", o.Segments, d.NucleotideInsertions)
	w.sequenceMap("alignedAminoAcidSequences", o.Genes, d.AlignedAminoAcidSequences)
	w.insertionMap("aminoAcidInsertions", o.Genes, d.AminoAcidInsertions)
}

func (w *lineWriter) sequenceMap(member string, configured []organism.NamedSequence, sequences map[string]*string) {
	w.text = append(appendText(append(w.text, ','), member), ":{"...)
	for i, c := range configured {
		w.name(i, c.Name)
		if sequence := sequences[c.Name]; sequence != nil {
			w.text = appendText(w.text, *sequence)
		} else {
			w.text = append(w.text, "null"...)
		}
	}
	w.text = append(w.text, '}')
}

func (w *lineWriter) insertionMap(member string, configured []organism.NamedSequence, insertions map[string][]seqlease.Insertion) {
	w.text = append(appendText(append(w.text, ','), member), ":{"...)
	for i, c := range configured {
		w.name(i, c.Name)
		w.text = append(w.text, '[')
		for j, insertion := range insertions[c.Name] {
			if j > 0 {
				w.text = append(w.text, ',')
			}
			w.text = appendText(w.text, insertion.String())
		}
		w.text = append(w.text, ']')
	}
	w.text = append(w.text, '}')
}

func (w *lineWriter) name(i int, name string) {
	if i > 0 {
		w.text = append(w.text, ',')
	}
	w.text = append(appendText(w.text, name), ':')
}

// raw, string and number append a member of the metadata and a comma: the
// version status always follows.
func (w *lineWriter) raw(key string, value []byte) {
	w.text = append(append(append(appendText(w.text, key), ':'), value...), ',')
}

func (w *lineWriter) string(key, value string) {
	w.text = append(appendText(append(appendText(w.text, key), ':'), value), ',')
}

func (w *lineWriter) number(key string, value int64) {
	w.text = append(strconv.AppendInt(append(appendText(w.text, key), ':'), value, 10), ',')
}

// appendText appends a JSON string. Broken UTF-8, which can't have been stored,
// would show as U+FFFD.
func appendText(dst []byte, text string) []byte {
	dst, _ = jsontext.AppendQuote(dst, text)
	return dst
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// lineBreaks are the characters outside ASCII at which some readers split lines,
// and their escapes.
var lineBreaks = []struct{ character, escape []byte }{
	{[]byte("\u0085"), []byte(`\u0085`)},
	{[]byte("\u2028"), []byte(`\u2028`)},
	{[]byte("\u2029"), []byte(`\u2029`)},
}

// oneLine escapes line breaks in the JSON from start on, so that one record
// stays one line for every reader. They can only be inside strings.
func oneLine(text []byte, start int) []byte {
	for _, b := range lineBreaks {
		if bytes.Contains(text[start:], b.character) {
			text = append(text[:start], bytes.ReplaceAll(text[start:], b.character, b.escape)...)
		}
	}
	return text
}
