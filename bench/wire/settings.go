package wire

import (
	"crypto/rand"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"

	"github.com/seqlease/seqlease/internal/organism"
)

// settings are the configuration file and the secrets of servers.
type settings struct {
	path                string
	submitter, pipeline string // tokens
}

type instance struct {
	Schema          schema          `json:"schema"`
	ReferenceGenome referenceGenome `json:"referenceGenome"`
}

type schema struct {
	OrganismName string  `json:"organismName"`
	Metadata     []field `json:"metadata"`
}

type field struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

type referenceGenome struct {
	NucleotideSequences []sequence `json:"nucleotideSequences"`
	Genes               []sequence `json:"genes"`
}

type sequence struct {
	Name     string `json:"name"`
	Sequence string `json:"sequence"`
}

type token struct {
	User  string   `json:"user"`
	Env   string   `json:"env"`
	Roles []string `json:"roles,omitzero"`
}

// writeSettings writes a configuration with the organism.
func writeSettings(dir string, o *organism.Organism) (settings, error) {
	s := settings{path: filepath.Join(dir, "config.json"), submitter: rand.Text(), pipeline: rand.Text()}
	described := instance{
		Schema:          schema{OrganismName: o.DisplayName},
		ReferenceGenome: referenceGenome{sequences(o.Segments), sequences(o.Genes)},
	}
	for _, f := range o.Metadata {
		described.Schema.Metadata = append(described.Schema.Metadata, field{f.Name, string(f.Type)})
	}
	content, err := json.Marshal(map[string]any{
		"accessionPrefix": "BENCH_", "websiteUrl": "http://127.0.0.1:1", "backendUrl": "http://127.0.0.1:1",
		"dataUseTerms": map[string]any{"enabled": false},
		"tokens": []token{
			{User: "submitter", Env: "SUBMITTER_TOKEN"},
			{User: "pipeline", Env: "PIPELINE_TOKEN", Roles: []string{"preprocessing_pipeline"}},
		},
		"organisms": map[string]any{string(o.Key): described},
	})
	if err != nil {
		return s, err
	}
	return s, os.WriteFile(s.path, content, 0o600)
}

func sequences(list []organism.NamedSequence) []sequence {
	described := []sequence{}
	for _, s := range list {
		described = append(described, sequence{s.Name, s.Sequence})
	}
	return described
}

// environment gives a server its secrets.
func (s settings) environment() []string {
	return []string{"SUBMITTER_TOKEN=" + s.submitter, "PIPELINE_TOKEN=" + s.pipeline}
}
