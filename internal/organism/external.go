package organism

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seqlease/seqlease"
)

// ExternalField is a metadata field whose value an updater sets after the release.
// Several updaters may set fields of the same name.
type ExternalField struct {
	Updater string
	Field
}

// ExternalUpdaters returns the updaters in the order of the schema, which is that in
// which their values are laid over the processed metadata: of several for one field
// the last counts.
func (o *Organism) ExternalUpdaters() []string {
	var updaters []string
	for _, f := range o.ExternalMetadata {
		if !slices.Contains(updaters, f.Updater) {
			updaters = append(updaters, f.Updater)
		}
	}
	return updaters
}

// CheckExternal returns the breaches of the rules for metadata (M1 to M4) in what an
// updater sends of one entry: the first [seqlease.MaxListedProblems], and how many
// more there are. To an unknown updater every field is unknown. It may be called
// concurrently.
func (o *Organism) CheckExternal(updater string, metadata map[string]json.RawMessage) (problems []seqlease.Problem, more int) {
	var fields []Field
	for _, f := range o.ExternalMetadata {
		if f.Updater == updater {
			fields = append(fields, f.Field)
		}
	}
	c := check{}
	c.metadata(fields, metadata)
	return c.problems, c.more
}

// IsDate says whether a JSON value is a date as [Date] fields have it.
func IsDate(value json.RawMessage) bool { return Date.accepts(value) }

// releaseFaults says what is wrong with what shapes released data beside the
// metadata of the schema.
func (o *Organism) releaseFaults(fault func(format string, args ...any)) {
	type owned struct{ updater, name string }
	seen := map[owned]bool{}
	for _, f := range o.ExternalMetadata {
		if f.Updater == "" {
			fault("schema.externalMetadata: field %q has no externalMetadataUpdater", f.Name)
		}
		if !seqlease.IsStorable(f.Updater) {
			fault("schema.externalMetadata: no externalMetadataUpdater can be called %q", f.Updater)
		}
		if f.Name == "" {
			fault("schema.externalMetadata: a field has no name")
		}
		if key := (owned{f.Updater, f.Name}); seen[key] {
			fault("schema.externalMetadata: field %q of %q is listed twice", f.Name, f.Updater)
		} else {
			seen[key] = true
		}
		if !slices.Contains(fieldTypes(), f.Type) {
			fault("schema.externalMetadata: field %q has the unknown type %q", f.Name, f.Type)
		}
	}
	for _, name := range o.EarliestReleaseFields {
		i := slices.IndexFunc(o.Metadata, func(f Field) bool { return f.Name == name })
		switch {
		case i < 0:
			fault("schema.earliestReleaseDate.externalFields: %q is no field of schema.metadata", name)
		case o.Metadata[i].Type != Date:
			fault("schema.earliestReleaseDate.externalFields: %q has the type %s; it must be a date", name, o.Metadata[i].Type)
		}
	}
	for _, list := range []struct {
		member     string
		categories []string
	}{{"schema.files", o.FileCategories}, {"schema.submissionDataTypes.files.categories", o.SubmittedFileCategories}} {
		for i, category := range list.categories {
			if category == "" {
				fault("%s: a category has no name", list.member)
			} else if slices.Contains(list.categories[:i], category) {
				fault("%s: category %q is listed twice", list.member, category)
			}
		}
	}
}

func fieldTypes() []FieldType { return []FieldType{String, Authors, Int, Float, Number, Boolean, Date} }

// Overlay returns the metadata with what each of the documents has of the schema's
// fields laid over it, in their order; explicit nulls count. Each document is a JSON
// object.
func (o *Organism) Overlay(metadata map[string]json.RawMessage, documents [][]byte) error {
	for _, document := range documents {
		var values map[string]json.RawMessage
		if err := json.Unmarshal(document, &values); err != nil {
			return fmt.Errorf("external metadata: %w", err)
		}
		for _, field := range o.Metadata {
			if value, given := values[field.Name]; given {
				metadata[field.Name] = value
			}
		}
	}
	return nil
}
