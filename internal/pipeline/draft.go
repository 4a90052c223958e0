package pipeline

import (
	"encoding/json"
	"fmt"

	"github.com/seqlease/seqlease"
)

// draft is a result in the making.
type draft struct {
	seqlease.Result
}

// newDraft returns an empty result for the entry: no map and no list in it is nil.
func newDraft(entry seqlease.Entry) *draft {
	return &draft{seqlease.Result{
		AccessionVersion: entry.AccessionVersion,
		AttemptID:        entry.AttemptID,
		Data: seqlease.ProcessedData{
			Metadata:                     map[string]json.RawMessage{},
			UnalignedNucleotideSequences: map[string]*string{},
			AlignedNucleotideSequences:   map[string]*string{},
			NucleotideInsertions:         map[string][]seqlease.Insertion{},
			AlignedAminoAcidSequences:    map[string]*string{},
			AminoAcidInsertions:          map[string][]seqlease.Insertion{},
			SequenceNameToFastaID:        map[string]string{},
		},
		Errors:   []seqlease.Annotation{},
		Warnings: []seqlease.Annotation{},
	}}
}

// subject says what an annotation is about: submitted columns or FASTA ids, and
// the fields or segments of the processed data that they became.
type subject struct {
	kind                   seqlease.SourceType
	unprocessed, processed []string
}

// field is the subject of a metadata field that was submitted under its own name.
func field(name string) subject {
	return subject{kind: seqlease.MetadataSource, unprocessed: []string{name}, processed: []string{name}}
}

// records is the subject of submitted sequences that belong to no segment yet.
func records(fastaIDs ...string) subject {
	return subject{kind: seqlease.NucleotideSequenceSource, unprocessed: fastaIDs}
}

// of names the segment that the records are of.
func (s subject) of(segment string) subject {
	s.processed = []string{segment}
	return s
}

// fail notes an error.
func (d *draft) fail(about subject, format string, args ...any) {
	d.Errors = append(d.Errors, about.annotation(fmt.Sprintf(format, args...)))
}

// warn notes a warning.
func (d *draft) warn(about subject, format string, args ...any) {
	d.Warnings = append(d.Warnings, about.annotation(fmt.Sprintf(format, args...)))
}

func (s subject) annotation(message string) seqlease.Annotation {
	return seqlease.Annotation{
		UnprocessedFields: s.sources(s.unprocessed),
		ProcessedFields:   s.sources(s.processed),
		Message:           message,
	}
}

func (s subject) sources(names []string) []seqlease.Source {
	sources := make([]seqlease.Source, 0, len(names))
	for _, name := range names {
		sources = append(sources, seqlease.Source{Type: s.kind, Name: name})
	}
	return sources
}
