package queue

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seqlease/seqlease"
)

// unstorableTexts reports the texts of a result that can't be stored (L18), keys and
// values alike, also in error messages: the first maxUnstorable, and how many more
// there are. With plain the sequences, inserted ones and their names keep the rules of
// the organism, so that they can be.
func unstorableTexts(r *seqlease.Result, plain bool) (problems []seqlease.Problem, more int) {
	var s textScan
	s.text("accession", "", string(r.Accession))
	d := &r.Data
	for key, value := range d.Metadata {
		s.key("metadata", key)
		s.value("metadata", key, value)
	}
	if !plain {
		s.sequences("unalignedNucleotideSequences", d.UnalignedNucleotideSequences)
		s.sequences("alignedNucleotideSequences", d.AlignedNucleotideSequences)
		s.sequences("alignedAminoAcidSequences", d.AlignedAminoAcidSequences)
		s.insertions("nucleotideInsertions", d.NucleotideInsertions)
		s.insertions("aminoAcidInsertions", d.AminoAcidInsertions)
	}
	for name, id := range d.SequenceNameToFastaID {
		s.key("sequenceNameToFastaId", name)
		s.text("sequenceNameToFastaId", name, id)
	}
	s.files(d.Files)
	s.annotations("errors", r.Errors)
	s.annotations("warnings", r.Warnings)
	slices.SortStableFunc(s.problems, func(a, b seqlease.Problem) int { return strings.Compare(a.Field, b.Field) })
	return s.problems, s.more
}

// maxUnstorable is how many texts that can't be stored are described.
const maxUnstorable = 200

// textScan collects what can't be stored.
type textScan struct {
	problems []seqlease.Problem
	more     int
}

// text looks at one text, the value of the member, or of its part called name.
func (s *textScan) text(member, name, text string) {
	if !seqlease.IsStorable(text) {
		s.refuse(member, name, text)
	}
}

func (s *textScan) refuse(member, name, text string) {
	if len(s.problems) == maxUnstorable {
		s.more++
		return
	}
	field := member
	if name != "" {
		field += "." + name
	}
	s.problems = append(s.problems, seqlease.Problem{
		Field: shorten(field, 200), Value: shorten(fmt.Sprintf("%+q", shorten(text, 200)), 200),
		Message: "holds a NUL character or broken Unicode, which can't be stored; remove it",
	})
}

func (s *textScan) key(member, key string) {
	if !seqlease.IsStorable(key) {
		s.refuse("a key of "+member, "", key)
	}
}

// value scans raw JSON. Only escapes can hide what can't be stored.
func (s *textScan) value(member, name string, raw stdjson.RawMessage) {
	if bytes.IndexByte(raw, '\\') < 0 {
		if !utf8.Valid(raw) {
			s.refuse(member, name, string(raw))
		}
		return
	}
	decoder := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true))
	for {
		token, err := decoder.ReadToken()
		if err != nil {
			if decoder.InputOffset() < int64(len(raw)) { // not the end: broken Unicode
				s.refuse(member, name, string(raw))
			}
			return
		}
		if token.Kind() == '"' {
			s.text(member, name, token.String())
		}
	}
}

func (s *textScan) sequences(member string, sequences map[string]*string) {
	for name, sequence := range sequences {
		s.key(member, name)
		if sequence != nil {
			s.text(member, name, *sequence)
		}
	}
}

func (s *textScan) insertions(member string, insertions map[string][]seqlease.Insertion) {
	for name, list := range insertions {
		s.key(member, name)
		for _, insertion := range list {
			s.text(member, name, insertion.Sequence)
		}
	}
}

func (s *textScan) files(files seqlease.Files) {
	for category, list := range files {
		s.key("files", category)
		for _, file := range list {
			s.text("files", category, file.FileID)
			s.text("files", category, file.Name)
		}
	}
}

func (s *textScan) annotations(member string, list []seqlease.Annotation) {
	for i, annotation := range list {
		field := member + "[" + strconv.Itoa(i) + "]"
		s.text(field, "message", annotation.Message)
		for _, source := range slices.Concat(annotation.UnprocessedFields, annotation.ProcessedFields) {
			s.text(field, "type", string(source.Type))
			s.text(field, "name", source.Name)
		}
	}
}

// checkFiles refuses attachments, which no organism takes, and categories that the
// organism doesn't have, even if they are empty. Empty lists of those that it has are fine.
func checkFiles(files seqlease.Files, categories []string) (problems []seqlease.Problem, more int) {
	for _, category := range slices.Sorted(maps.Keys(files)) {
		name := shorten(category, 200)
		var message string
		switch {
		case !slices.Contains(categories, category):
			message = fmt.Sprintf("category %q is not configured for this organism, and attachments are not supported: leave files out", name)
		case len(files[category]) > 0:
			message = fmt.Sprintf("category %q has attachments, which are not supported: send an empty list, or leave files out", name)
		default:
			continue
		}
		if len(problems) == seqlease.MaxListedProblems {
			more++
			continue
		}
		problems = append(problems, seqlease.Problem{Field: "files", Message: message})
	}
	return problems, more
}

// furtherBytes is room for how many problems aren't described.
const furtherBytes = 40

// describe lists problems in a text that may be kept as a reason, as far as there is
// room, and says how many more there are.
func describe(problems []seqlease.Problem, more int) string {
	const most = MaxReasonBytes - furtherBytes
	var text strings.Builder
	for i, p := range problems {
		words := cleanText(p.String(), most)
		if i > 0 && text.Len()+len(words)+len("; ") > most || i == seqlease.MaxListedProblems {
			more += len(problems) - i
			break
		}
		if i > 0 {
			text.WriteString("; ")
		}
		text.WriteString(words)
	}
	if more > 0 {
		fmt.Fprintf(&text, "; and %d more", more)
	}
	return text.String()
}
