package submission

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
)

// external returns the documents in the order in which they are laid over the
// processed metadata: that of the schema. What updaters have left who are no more in
// it comes first, by their names.
func (w *lineWriter) external(list []ExternalDocument) [][]byte {
	sorted := slices.SortedStableFunc(slices.Values(list), func(a, b ExternalDocument) int {
		return cmp.Or(cmp.Compare(slices.Index(w.updaters, a.Updater), slices.Index(w.updaters, b.Updater)), cmp.Compare(a.Updater, b.Updater))
	})
	documents := make([][]byte, len(sorted))
	for i, d := range sorted {
		documents[i] = d.Body
	}
	return documents
}

// earliestReleaseDate is a metadata key of the system.
const earliestReleaseDate = "earliestReleaseDate"

// earliestReleaseDate returns the least of the day of the release, the dates that the
// configured fields hold, and what the version before shows. Days compare as texts.
func (w *lineWriter) earliestReleaseDate(e ReleasedEntry, data seqlease.ProcessedData) string {
	earliest := day(e.ReleasedAt)
	if w.earliest != "" {
		earliest = min(earliest, w.earliest)
	}
	for _, name := range w.organism.EarliestReleaseFields {
		value := data.Metadata[name]
		if !organism.IsDate(value) {
			continue // null, or of a time when the field had another type
		}
		if text, err := jsontext.AppendUnquote(nil, value); err == nil {
			earliest = min(earliest, string(text))
		}
	}
	w.earliest = earliest
	return earliest
}
