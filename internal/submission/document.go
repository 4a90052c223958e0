package submission

import (
	"fmt"

	json "github.com/go-json-experiment/json"
)

// submittedDocument is the JSON document of a [seqlease.SubmittedData] that didn't
// come as files. A sequence may be null: then there is none under its FASTA id.
type submittedDocument struct {
	Metadata  map[string]string  `json:"metadata"`
	Sequences map[string]*string `json:"unalignedNucleotideSequences"`
	Files     *struct{}          `json:"files"` // null: attachments are refused
}

// encode writes the document; the same data have the same document.
func (d submittedDocument) encode() ([]byte, error) {
	document, err := json.Marshal(d, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode submitted data: %w", err)
	}
	return document, nil
}
