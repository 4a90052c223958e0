//go:build linux

package fault

import (
	"crypto/rand"
	"fmt"
	"os"

	"github.com/seqlease/seqlease"
)

// organism is the imaginary one of the fleet.
const organism seqlease.Organism = "faultvirus"

// lease is how long the workers' leases run: the shortest there is.
const leaseSeconds = 10

// settings are the configuration file and the secrets of a fleet.
type settings struct {
	path                          string
	submitter, pipeline, operator string // tokens
}

func writeSettings(path string) (settings, error) {
	s := settings{path: path, submitter: rand.Text(), pipeline: rand.Text(), operator: rand.Text()}
	return s, os.WriteFile(path, fmt.Appendf(nil, `
accessionPrefix: FAULT_
websiteUrl: http://127.0.0.1:1
backendUrl: http://127.0.0.1:1
dataUseTerms: { enabled: false }
tokens:
  - { user: submitter, env: SUBMITTER_TOKEN }
  - { user: pipeline, roles: [preprocessing_pipeline], env: PIPELINE_TOKEN }
  - { user: operator, roles: [super_user], env: OPERATOR_TOKEN }
organisms:
  %s:
    schema:
      organismName: Fault virus
      metadata:
        - { name: place, type: string }
        - { name: note, type: string }
        - { name: attempt, type: string }
        - { name: proof, type: string }
    referenceGenome:
      nucleotideSequences: [{ name: main, sequence: ATGGCTTGCAAAGGTTAAGCATTGCAGGCTTAA }]
      genes: []
`, organism), 0o600)
}

// environment gives a server its secrets.
func (s settings) environment() []string {
	return []string{"SUBMITTER_TOKEN=" + s.submitter, "PIPELINE_TOKEN=" + s.pipeline, "OPERATOR_TOKEN=" + s.operator}
}
