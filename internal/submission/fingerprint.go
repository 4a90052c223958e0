package submission

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/seqlease/seqlease/internal/organism"
)

// lineFormat counts the changes of how this program writes a released line.
// Raise it with each, so that no client keeps a body of the old form.
const lineFormat = 2

// fingerprint names all of the configuration that shapes the released data: two
// bodies of one state of the data differ only if it differs.
func fingerprint(o *organism.Organism, terms TermsOptions) string {
	if !terms.Enabled {
		terms = TermsOptions{}
	}
	names := func(list []organism.NamedSequence) []string {
		all := make([]string, len(list))
		for i, s := range list {
			all[i] = s.Name
		}
		return all
	}
	type field struct {
		Name string
		Type organism.FieldType
	}
	fields := make([]field, len(o.Metadata))
	for i, f := range o.Metadata {
		fields[i] = field{f.Name, f.Type}
	}
	var earliest []string
	if o.EarliestReleaseDate {
		earliest = o.EarliestReleaseFields
	}
	text, err := json.Marshal(struct {
		Format   int
		Fields   []field
		Segments []string
		Genes    []string
		Terms    TermsOptions
		Updaters []string // their order counts
		Earliest bool
		Dates    []string
		Files    []string
	}{
		lineFormat, fields, names(o.Segments), names(o.Genes), terms, o.ExternalUpdaters(),
		o.EarliestReleaseDate, earliest, o.FileCategories,
	}, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic(fmt.Sprintf("fingerprint of organism %s: %v", o.Key, err)) // plain strings always can be encoded
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
