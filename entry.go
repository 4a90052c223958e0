package seqlease

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// SubmittedData is what a submitter uploaded for one entry: the metadata row
// and the sequences exactly as they stand in the file, keyed by FASTA id.
type SubmittedData struct {
	Metadata                     map[string]string `json:"metadata"`
	UnalignedNucleotideSequences map[string]string `json:"unalignedNucleotideSequences"`
	Files                        Files             `json:"files"`
}

// Files are the attachments of an entry by category; nil where there are none.
type Files map[string][]File

// File is one attachment.
type File struct {
	FileID string `json:"fileId"`
	Name   string `json:"name"`
}

// Entry is one line of a claimed batch: what a pipeline is given.
type Entry struct {
	AccessionVersion
	Data         SubmittedData `json:"data"`
	SubmissionID string        `json:"submissionId"`
	Submitter    string        `json:"submitter"`
	GroupID      int64         `json:"groupId"`
	SubmittedAt  int64         `json:"submittedAt"` // Unix seconds
	// AttemptID goes back on the result's line.
	AttemptID AttemptID `json:"processingAttemptId"`
	// LeaseUntil is the lease end by the database's clock, for people.
	LeaseUntil time.Time `json:"leaseUntil"`
	// LeaseSeconds is how long the lease runs from when the batch was claimed;
	// count it down on a monotonic clock.
	LeaseSeconds int64 `json:"leaseSeconds"`
	// Attempt is 1 for the first try of this entry.
	Attempt int `json:"attempt"`
}

// Result is one line of a pipeline's answer for one entry.
type Result struct {
	AccessionVersion
	AttemptID AttemptID     `json:"processingAttemptId"`
	Data      ProcessedData `json:"data"`
	Errors    []Annotation  `json:"errors"`
	Warnings  []Annotation  `json:"warnings"`
}

// ProcessingResult derives the judgement from the errors and warnings.
func (r *Result) ProcessingResult() ProcessingResult {
	switch {
	case len(r.Errors) > 0:
		return HasErrors
	case len(r.Warnings) > 0:
		return HasWarnings
	default:
		return NoIssues
	}
}

// ProcessedData is what preprocessing made of an entry. Sequences are keyed by
// segment or gene name; a nil sequence means that there is none. An aligned
// sequence has exactly the length of its reference, with '-' where the genome
// has no base. Metadata values are JSON scalars.
type ProcessedData struct {
	Metadata                     map[string]json.RawMessage `json:"metadata"`
	UnalignedNucleotideSequences map[string]*string         `json:"unalignedNucleotideSequences"`
	AlignedNucleotideSequences   map[string]*string         `json:"alignedNucleotideSequences"`
	NucleotideInsertions         map[string][]Insertion     `json:"nucleotideInsertions"`
	AlignedAminoAcidSequences    map[string]*string         `json:"alignedAminoAcidSequences"`
	AminoAcidInsertions          map[string][]Insertion     `json:"aminoAcidInsertions"`
	SequenceNameToFastaID        map[string]string          `json:"sequenceNameToFastaId"`
	Files                        Files                      `json:"files"`
}

// Insertion is sequence that the reference lacks. Position is the 1-based
// reference position that it follows, 0 before the first. In JSON it is the
// text "position:SEQUENCE".
type Insertion struct {
	Position int64
	Sequence string
}

// String returns "position:SEQUENCE".
func (i Insertion) String() string { return strconv.FormatInt(i.Position, 10) + ":" + i.Sequence }

// MarshalText writes "position:SEQUENCE".
func (i Insertion) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText reads "position:SEQUENCE": one colon, a decimal position, which
// may be negative as far as the text goes. The sequence may be empty.
func (i *Insertion) UnmarshalText(text []byte) error {
	position, sequence, found := strings.Cut(string(text), ":")
	n, err := strconv.ParseInt(position, 10, 64)
	if !found || err != nil || strings.Contains(sequence, ":") {
		return fmt.Errorf("%q is not an insertion; write POSITION:SEQUENCE, such as 248:GAC", text)
	}
	i.Position, i.Sequence = n, sequence
	return nil
}

// Annotation is an error or a warning about an entry, and what it concerns.
type Annotation struct {
	UnprocessedFields []Source `json:"unprocessedFields"`
	ProcessedFields   []Source `json:"processedFields"`
	Message           string   `json:"message"`
}

// SourceType says what kind of thing a [Source] names.
type SourceType string

// The source types.
const (
	MetadataSource           SourceType = "Metadata"
	NucleotideSequenceSource SourceType = "NucleotideSequence"
	FileSource               SourceType = "File"
)

// Source is a metadata field, a sequence or a file that an [Annotation] is about.
type Source struct {
	Type SourceType `json:"type"`
	Name string     `json:"name"`
}

// SubmissionIDMapping tells a submitter which accession an entry was given.
type SubmissionIDMapping struct {
	AccessionVersion
	SubmissionID string `json:"submissionId"`
}
