package organism

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seqlease/seqlease"
)

// FieldType is the type of a metadata value in processed data.
type FieldType string

// The field types of the configuration.
const (
	String  FieldType = "string"
	Authors FieldType = "authors"
	Int     FieldType = "int"
	Float   FieldType = "float"
	Number  FieldType = "number"
	Boolean FieldType = "boolean"
	Date    FieldType = "date"
)

// Field is one metadata field of the schema.
type Field struct {
	Name     string
	Type     FieldType
	Required bool
}

// NamedSequence is a segment (nucleotides) or a gene (amino acids) of the
// reference genome, in capital letters.
type NamedSequence struct {
	Name     string
	Sequence string
}

// Organism is one configured organism. Build it, then [New] checks it.
type Organism struct {
	Key                seqlease.Organism
	DisplayName        string
	ConsensusSequences bool // entries have sequences
	Metadata           []Field
	Segments           []NamedSequence
	Genes              []NamedSequence
	// ExternalMetadata is what updaters may set after the release.
	ExternalMetadata []ExternalField
	// EarliestReleaseDate: released data tells the earliest of the day of the release,
	// the values of EarliestReleaseFields and the value of the version before.
	EarliestReleaseDate   bool
	EarliestReleaseFields []string
	// FileCategories are the kinds of attachments of released data, and
	// SubmittedFileCategories of submissions. There are no attachments yet: the former
	// are shown without any, and uploads and results that have one are refused.
	FileCategories          []string
	SubmittedFileCategories []string
}

// MainSegment is the name that the only segment of an organism must have.
const MainSegment = "main"

// ReservedKeys are words that paths use, so that no organism may be called so.
func ReservedKeys() []string {
	return []string{
		"actuator", "admin", "api-docs", "data-use-terms", "debug", "error", "favicon.ico", "files", "groups", "healthz",
		"loculus-info", "metrics", "openapi.json", "readyz", "realms", "swagger-ui", "ui", "user",
	}
}

// Check reports every fault of the configuration of the organism, or nil.
func (o *Organism) Check() []string {
	var faults []string
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Sprintf("organism %q: ", o.Key)+fmt.Sprintf(format, args...))
	}
	if o.Key == "" || strings.ContainsAny(string(o.Key), "/?#% ") {
		fault("the key must be a non-empty word that can stand in a URL")
	}
	if slices.Contains(ReservedKeys(), string(o.Key)) {
		fault("the key is a path of the server; choose another")
	}
	if o.DisplayName == "" {
		fault("schema.organismName is missing")
	}
	seen := map[string]bool{}
	for _, f := range o.Metadata {
		if f.Name == "" {
			fault("a metadata field has no name")
		}
		if seen[f.Name] {
			fault("metadata field %q is listed twice", f.Name)
		}
		seen[f.Name] = true
		if !slices.Contains(fieldTypes(), f.Type) {
			fault("metadata field %q has the unknown type %q", f.Name, f.Type)
		}
	}
	o.releaseFaults(fault)
	if len(o.Segments) == 1 && o.Segments[0].Name != MainSegment {
		fault("the only nucleotide sequence must be called %q, not %q", MainSegment, o.Segments[0].Name)
	}
	for kind, list := range map[string][]NamedSequence{"nucleotideSequences": o.Segments, "genes": o.Genes} {
		names := map[string]bool{}
		for _, s := range list {
			if s.Name == "" || s.Sequence == "" {
				fault("referenceGenome.%s: %q needs a name and a sequence", kind, s.Name)
			}
			if names[s.Name] {
				fault("referenceGenome.%s: %q is listed twice", kind, s.Name)
			}
			names[s.Name] = true
		}
	}
	return faults
}

func find(list []NamedSequence, name string) (NamedSequence, bool) {
	for _, s := range list {
		if s.Name == name {
			return s, true
		}
	}
	return NamedSequence{}, false
}

// Catalog holds the configured organisms. It is read-only after [NewCatalog].
type Catalog struct {
	byKey map[seqlease.Organism]*Organism
}

// NewCatalog checks the organisms and returns them as a catalog. The error
// lists every fault found.
func NewCatalog(organisms ...*Organism) (*Catalog, error) {
	c := &Catalog{byKey: make(map[seqlease.Organism]*Organism, len(organisms))}
	var faults []string
	for _, o := range organisms {
		faults = append(faults, o.Check()...)
		if c.byKey[o.Key] != nil {
			faults = append(faults, fmt.Sprintf("organism %q is configured twice", o.Key))
		}
		c.byKey[o.Key] = o
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("configuration: %s", strings.Join(faults, "; "))
	}
	return c, nil
}

// Get returns the organism, or [seqlease.ErrUnknownOrganism] with the valid keys.
func (c *Catalog) Get(key seqlease.Organism) (*Organism, error) {
	if o := c.byKey[key]; o != nil {
		return o, nil
	}
	var keys []string
	for _, known := range c.Keys() {
		keys = append(keys, string(known))
	}
	return nil, seqlease.Explain(seqlease.ErrUnknownOrganism, "there is no organism %q on this server: the organisms are %s", key, strings.Join(keys, ", "))
}

// Keys returns the organisms' keys in order.
func (c *Catalog) Keys() []seqlease.Organism { return slices.Sorted(maps.Keys(c.byKey)) }

// All returns the organisms in the order of their keys.
func (c *Catalog) All() []*Organism {
	all := make([]*Organism, 0, len(c.byKey))
	for _, key := range c.Keys() {
		all = append(all, c.byKey[key])
	}
	return all
}
