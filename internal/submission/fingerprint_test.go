package submission

import (
	"testing"
	"time"

	"github.com/seqlease/seqlease/internal/organism"
)

// TestTag_EndsWithWhatIsConfigured: whatever of the configuration changes the
// body changes the tag, and nothing else of it does.
func TestTag_EndsWithWhatIsConfigured(t *testing.T) {
	t.Parallel()
	urls := TermsOptions{Enabled: true, OpenURL: "https://example.org/open", RestrictedURL: "https://example.org/restricted"}
	seen := map[string]string{}
	for name, change := range map[string]func(*organism.Organism, *TermsOptions){
		"as it was":         func(*organism.Organism, *TermsOptions) {},
		"renamed field":     func(o *organism.Organism, _ *TermsOptions) { o.Metadata[1].Name = "depthMetres" },
		"field of new type": func(o *organism.Organism, _ *TermsOptions) { o.Metadata[1].Type = organism.Float },
		"other order": func(o *organism.Organism, _ *TermsOptions) {
			o.Metadata[0], o.Metadata[1] = o.Metadata[1], o.Metadata[0]
		},
		"field gone":      func(o *organism.Organism, _ *TermsOptions) { o.Metadata = o.Metadata[1:] },
		"renamed segment": func(o *organism.Organism, _ *TermsOptions) { o.Segments[0].Name = "L" },
		"added segment": func(o *organism.Organism, _ *TermsOptions) {
			o.Segments = append(o.Segments, organism.NamedSequence{Name: "S", Sequence: "A"})
		},
		"renamed gene":         func(o *organism.Organism, _ *TermsOptions) { o.Genes[0].Name = "gag" },
		"gene gone":            func(o *organism.Organism, _ *TermsOptions) { o.Genes = o.Genes[:1] },
		"other open URL":       func(_ *organism.Organism, terms *TermsOptions) { terms.OpenURL = "https://example.org/free" },
		"other restricted URL": func(_ *organism.Organism, terms *TermsOptions) { terms.RestrictedURL = "" },
		"an updater":           func(o *organism.Organism, _ *TermsOptions) { o.ExternalMetadata = updaters("a") },
		"two updaters":         func(o *organism.Organism, _ *TermsOptions) { o.ExternalMetadata = updaters("a", "b") },
		"updaters in another order": func(o *organism.Organism, _ *TermsOptions) {
			o.ExternalMetadata = updaters("b", "a")
		},
		"earliest date": func(o *organism.Organism, _ *TermsOptions) { o.EarliestReleaseDate = true },
		"earliest date of a field": func(o *organism.Organism, _ *TermsOptions) {
			o.EarliestReleaseDate, o.EarliestReleaseFields = true, []string{"country"}
		},
		"files":        func(o *organism.Organism, _ *TermsOptions) { o.FileCategories = []string{"trees"} },
		"files of two": func(o *organism.Organism, _ *TermsOptions) { o.FileCategories = []string{"trees", "reads"} },
		"no terms":     func(_ *organism.Organism, terms *TermsOptions) { terms.Enabled = false },
	} {
		o, terms := fernvirus(), urls
		change(o, &terms)
		tag := newOutlet(o, terms).tag("mark", time.Unix(noon, 0))
		if other, taken := seen[tag]; taken {
			t.Errorf("%s and %s have the same tag %s", name, other, tag)
		}
		seen[tag] = name
	}
	same := fernvirus()
	same.EarliestReleaseFields, same.SubmittedFileCategories = []string{"country"}, []string{"reads"}
	same.DisplayName, same.Metadata[0].Required, same.Segments[0].Sequence = "Other name", false, "TTTT"
	if tag := newOutlet(same, urls).tag("mark", time.Unix(noon, 0)); seen[tag] != "as it was" {
		t.Errorf("what no line shows changes the tag to %s", tag)
	}
}

// updaters are fields of updaters in this order.
func updaters(names ...string) []organism.ExternalField {
	var fields []organism.ExternalField
	for _, name := range names {
		fields = append(fields, organism.ExternalField{Updater: name, Field: organism.Field{Name: "country", Type: organism.String}})
	}
	return fields
}
