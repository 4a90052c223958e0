package main

import "github.com/seqlease/seqlease/internal/organism"

// ExternalFieldConfig is a metadata field that an updater sets after the release.
type ExternalFieldConfig struct {
	Updater  string `yaml:"externalMetadataUpdater"`
	Name     string `yaml:"name"`
	Type     string `yaml:"type"`
	Required bool   `yaml:"required"`
}

// EarliestDateConfig says whether released data tells the earliest date of release,
// and which fields may know of an earlier one.
type EarliestDateConfig struct {
	Enabled        bool     `yaml:"enabled"`
	ExternalFields []string `yaml:"externalFields"`
}

// SubmittedFilesConfig says which attachments may be submitted.
type SubmittedFilesConfig struct {
	Enabled    bool             `yaml:"enabled"`
	Categories []CategoryConfig `yaml:"categories"`
}

// CategoryConfig is a kind of attachments.
type CategoryConfig struct {
	Name string `yaml:"name"`
}

// missing names the required members that are not there.
func (s *SchemaConfig) missing() []string {
	var members []string
	if e := s.EarliestReleaseDate; e != nil && e.ExternalFields == nil {
		members = append(members, "schema.earliestReleaseDate.externalFields")
	}
	if t := s.SubmissionDataTypes; t != nil && t.Files != nil && t.Files.Categories == nil {
		members = append(members, "schema.submissionDataTypes.files.categories")
	}
	return members
}

// release sets what shapes released data beside the schema's own metadata.
func (s *SchemaConfig) release(o *organism.Organism) {
	for _, f := range s.ExternalMetadata {
		o.ExternalMetadata = append(o.ExternalMetadata, organism.ExternalField{
			Updater: f.Updater, Field: organism.Field{Name: f.Name, Type: organism.FieldType(f.Type), Required: f.Required},
		})
	}
	if e := s.EarliestReleaseDate; e != nil {
		o.EarliestReleaseDate, o.EarliestReleaseFields = e.Enabled, e.ExternalFields
	}
	o.FileCategories = categoryNames(s.Files)
	if t := s.SubmissionDataTypes; t != nil && t.Files != nil {
		o.SubmittedFileCategories = categoryNames(t.Files.Categories)
	}
}

func categoryNames(list []CategoryConfig) []string {
	var names []string
	for _, c := range list {
		names = append(names, c.Name)
	}
	return names
}

// FileSharingConfig configures attachments.
type FileSharingConfig struct {
	OutputFileURLType string `yaml:"outputFileUrlType"`
}

// fileURLTypes are the ways in which released data may refer to attachments.
var fileURLTypes = []string{"website", "backend", "s3"}
