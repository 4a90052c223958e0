package organism

import (
	"encoding/json"

	"github.com/seqlease/seqlease"
)

// Rebuild returns stored processed data as the present configuration shows it:
// every metadata field of the schema, every segment and every gene is there,
// with null (nil) or an empty insertion list where nothing is stored, and what
// the configuration doesn't know is hidden. FASTA ids and files are returned as
// stored. d isn't changed.
func (o *Organism) Rebuild(d *seqlease.ProcessedData) seqlease.ProcessedData {
	shown := seqlease.ProcessedData{
		Metadata:                     make(map[string]json.RawMessage, len(o.Metadata)),
		UnalignedNucleotideSequences: pick(o.Segments, d.UnalignedNucleotideSequences),
		AlignedNucleotideSequences:   pick(o.Segments, d.AlignedNucleotideSequences),
		NucleotideInsertions:         pickLists(o.Segments, d.NucleotideInsertions),
		AlignedAminoAcidSequences:    pick(o.Genes, d.AlignedAminoAcidSequences),
		AminoAcidInsertions:          pickLists(o.Genes, d.AminoAcidInsertions),
		SequenceNameToFastaID:        d.SequenceNameToFastaID,
		Files:                        d.Files,
	}
	for _, field := range o.Metadata {
		if value := d.Metadata[field.Name]; !isNull(value) {
			shown.Metadata[field.Name] = value
		} else {
			shown.Metadata[field.Name] = json.RawMessage("null")
		}
	}
	return shown
}

func pick(configured []NamedSequence, stored map[string]*string) map[string]*string {
	shown := make(map[string]*string, len(configured))
	for _, c := range configured {
		shown[c.Name] = stored[c.Name]
	}
	return shown
}

func pickLists(configured []NamedSequence, stored map[string][]seqlease.Insertion) map[string][]seqlease.Insertion {
	shown := make(map[string][]seqlease.Insertion, len(configured))
	for _, c := range configured {
		if list := stored[c.Name]; len(list) > 0 {
			shown[c.Name] = list
		} else {
			shown[c.Name] = []seqlease.Insertion{}
		}
	}
	return shown
}
