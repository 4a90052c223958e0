package main

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
)

// Instance configures one organism.
type Instance struct {
	Schema          *SchemaConfig    `yaml:"schema"`
	ReferenceGenome *ReferenceConfig `yaml:"referenceGenome"`
}

// SchemaConfig says what the entries of an organism have.
type SchemaConfig struct {
	OrganismName        string                `yaml:"organismName"`
	Metadata            []FieldConfig         `yaml:"metadata"`
	ExternalMetadata    []ExternalFieldConfig `yaml:"externalMetadata"`
	EarliestReleaseDate *EarliestDateConfig   `yaml:"earliestReleaseDate"`
	SubmissionDataTypes *DataTypesConfig      `yaml:"submissionDataTypes"`
	Files               []CategoryConfig      `yaml:"files"` // of processed data
}

// FieldConfig is one metadata field.
type FieldConfig struct {
	Name     string `yaml:"name"`
	Type     string `yaml:"type"`
	Required bool   `yaml:"required"`
}

// DataTypesConfig says what is submitted.
type DataTypesConfig struct {
	ConsensusSequences   *bool                 `yaml:"consensusSequences"` // nil: true
	MaxSequencesPerEntry *int                  `yaml:"maxSequencesPerEntry"`
	Files                *SubmittedFilesConfig `yaml:"files"`
}

// ReferenceConfig is a reference genome.
type ReferenceConfig struct {
	NucleotideSequences []SequenceConfig `yaml:"nucleotideSequences"`
	Genes               []SequenceConfig `yaml:"genes"`
}

// SequenceConfig is a sequence, written down or in a FASTA file.
type SequenceConfig struct {
	Name     string `yaml:"name"`
	Sequence string `yaml:"sequence"`
	File     string `yaml:"file"`   // relative to the configuration file
	Record   string `yaml:"record"` // id in File; empty: the first record
}

// lists returns both lists of a reference genome, by the name of their member.
func (r *ReferenceConfig) lists() map[string][]SequenceConfig {
	return map[string][]SequenceConfig{"nucleotideSequences": r.NucleotideSequences, "genes": r.Genes}
}

// readReferences fills in the sequences that stand in files and returns what is
// wrong with them.
func (c *Config) readReferences(dir string) []string {
	var faults []string
	for _, key := range slices.Sorted(maps.Keys(c.Organisms)) {
		if o := c.Organisms[key]; o == nil || o.ReferenceGenome == nil {
			continue // [Instance.faults] says so
		}
		lists := c.Organisms[key].ReferenceGenome.lists()
		for _, member := range slices.Sorted(maps.Keys(lists)) {
			for i := range lists[member] {
				s := &lists[member][i]
				if err := s.read(dir); err != nil {
					faults = append(faults, fmt.Sprintf("organism %q: referenceGenome.%s: %q: %v", key, member, s.Name, err))
				}
			}
		}
	}
	return faults
}

// unreadable stands for a sequence with a fault that was told already: its
// absence is no second one.
const unreadable = "-"

// read fills in the sequence in capital letters.
func (s *SequenceConfig) read(dir string) error {
	if s.File == "" && s.Record != "" {
		return fmt.Errorf("record %q needs a file", s.Record)
	}
	if s.File != "" && s.Sequence != "" {
		return errors.New("give a sequence or a file, not both")
	}
	if s.File != "" {
		path := s.File
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		sequence, err := readReference(path, s.Record)
		if err != nil {
			s.Sequence = unreadable
			return err
		}
		s.Sequence = sequence
		return nil
	}
	sequence, err := cleanSequence(s.Sequence)
	s.Sequence = sequence
	if err != nil {
		s.Sequence = unreadable
	}
	return err
}

// faults names the required members that are missing and what
// [organism.Organism.Check] finds.
func (i *Instance) faults(key string) []string {
	missing := func(member string) string { return fmt.Sprintf("organism %q: %s is missing", key, member) }
	if i == nil {
		return []string{missing("schema"), missing("referenceGenome")}
	}
	var faults []string
	switch {
	case i.Schema == nil:
		faults = append(faults, missing("schema"))
	case i.Schema.Metadata == nil:
		faults = append(faults, missing("schema.metadata"))
	}
	if i.ReferenceGenome == nil {
		faults = append(faults, missing("referenceGenome"))
	} else {
		if i.ReferenceGenome.NucleotideSequences == nil {
			faults = append(faults, missing("referenceGenome.nucleotideSequences"))
		}
		if i.ReferenceGenome.Genes == nil {
			faults = append(faults, missing("referenceGenome.genes"))
		}
	}
	if i.Schema == nil {
		return faults
	}
	for _, member := range i.Schema.missing() {
		faults = append(faults, missing(member))
	}
	return append(faults, i.organism(key).Check()...)
}

// organism returns the organism that the configuration describes.
func (i *Instance) organism(key string) *organism.Organism {
	o := &organism.Organism{
		Key: seqlease.Organism(key), DisplayName: i.Schema.OrganismName, ConsensusSequences: true,
	}
	if types := i.Schema.SubmissionDataTypes; types != nil && types.ConsensusSequences != nil {
		o.ConsensusSequences = *types.ConsensusSequences
	}
	for _, f := range i.Schema.Metadata {
		o.Metadata = append(o.Metadata, organism.Field{Name: f.Name, Type: organism.FieldType(f.Type), Required: f.Required})
	}
	if i.ReferenceGenome != nil {
		o.Segments = namedSequences(i.ReferenceGenome.NucleotideSequences)
		o.Genes = namedSequences(i.ReferenceGenome.Genes)
	}
	i.Schema.release(o)
	return o
}

func namedSequences(list []SequenceConfig) []organism.NamedSequence {
	named := make([]organism.NamedSequence, len(list))
	for i, s := range list {
		named[i] = organism.NamedSequence{Name: s.Name, Sequence: s.Sequence}
	}
	return named
}

// catalog returns the configured organisms. The configuration is valid.
func (c *Config) catalog() (*organism.Catalog, error) {
	var all []*organism.Organism
	for _, key := range slices.Sorted(maps.Keys(c.Organisms)) {
		all = append(all, c.Organisms[key].organism(key))
	}
	return organism.NewCatalog(all...)
}
