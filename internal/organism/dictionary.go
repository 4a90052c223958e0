package organism

import (
	stdjson "encoding/json"

	"github.com/go-json-experiment/json"

	"github.com/seqlease/seqlease"
)

// Dictionary returns what documents of this organism are compressed against: the
// names that they have, then all genes and segments of the reference genome, one
// after the other. The same configuration gives the same bytes. Nil if the organism
// has no reference.
func (o *Organism) Dictionary() []byte {
	if len(o.Genes)+len(o.Segments) == 0 {
		return nil
	}
	b := o.names()
	for _, s := range o.Genes { // segments last: matches near the end are the cheapest
		b = append(append(b, s.Sequence...), '"')
	}
	for _, s := range o.Segments {
		b = append(append(b, s.Sequence...), '"')
	}
	return b
}

// names returns an entry and a result as they are stored, without their values:
// names are most of what a document has beside its sequences.
func (o *Organism) names() []byte {
	empty := ""
	submitted := seqlease.SubmittedData{Metadata: map[string]string{}, UnalignedNucleotideSequences: map[string]string{}}
	processed := seqlease.ProcessedData{
		Metadata:                     map[string]stdjson.RawMessage{},
		UnalignedNucleotideSequences: map[string]*string{}, AlignedNucleotideSequences: map[string]*string{},
		NucleotideInsertions:      map[string][]seqlease.Insertion{},
		AlignedAminoAcidSequences: map[string]*string{}, AminoAcidInsertions: map[string][]seqlease.Insertion{},
		SequenceNameToFastaID: map[string]string{},
	}
	for _, f := range o.Metadata {
		switch f.Type {
		case Date: // of this century, nearly always
			submitted.Metadata[f.Name], processed.Metadata[f.Name] = "20", stdjson.RawMessage(`"20"`)
		case Int, Float, Number:
			submitted.Metadata[f.Name], processed.Metadata[f.Name] = "", stdjson.RawMessage(`0`)
		case Boolean:
			submitted.Metadata[f.Name], processed.Metadata[f.Name] = "", stdjson.RawMessage(`true`)
		case String, Authors:
			submitted.Metadata[f.Name], processed.Metadata[f.Name] = "", stdjson.RawMessage(`""`)
		}
	}
	for _, s := range o.Segments {
		submitted.UnalignedNucleotideSequences[s.Name] = empty
		processed.UnalignedNucleotideSequences[s.Name], processed.AlignedNucleotideSequences[s.Name] = &empty, &empty
		processed.NucleotideInsertions[s.Name], processed.SequenceNameToFastaID[s.Name] = nil, empty
	}
	for _, s := range o.Genes {
		processed.AlignedAminoAcidSequences[s.Name], processed.AminoAcidInsertions[s.Name] = &empty, nil
	}
	var b []byte
	for _, document := range []any{submitted, seqlease.StoredResult{Data: processed, Errors: []seqlease.Annotation{}, Warnings: []seqlease.Annotation{}}} {
		text, err := json.Marshal(document, json.Deterministic(true), json.FormatNilMapAsNull(true))
		if err != nil {
			return nil // a name that is no text: such an organism's documents can't be written either
		}
		b = append(append(b, text...), '\n')
	}
	return b
}
