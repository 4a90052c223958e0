package demo

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/seqlease/seqlease"
)

//go:embed zika/reference.fasta zika/metadata.tsv zika/sequences.fasta
var zika embed.FS

//go:embed config.yaml
var configText string

// organism is the key of the demo's organism, as in config.yaml.
const organism seqlease.Organism = "zika"

// material is what the demo works on, as it stands in the embedded files.
type material struct {
	metadata  []byte // TSV
	sequences []byte // FASTA
	reference int    // its length
	// genomes are the submitted sequences in capital letters by submission id.
	genomes map[string]string
}

func loadMaterial() (material, error) {
	var m material
	for name, to := range map[string]*[]byte{"metadata.tsv": &m.metadata, "sequences.fasta": &m.sequences} {
		content, err := zika.ReadFile("zika/" + name)
		if err != nil {
			return material{}, err
		}
		*to = content
	}
	reference, err := zika.ReadFile("zika/reference.fasta")
	if err != nil {
		return material{}, err
	}
	for _, sequence := range parseFasta(reference) {
		m.reference = len(sequence)
	}
	m.genomes = parseFasta(m.sequences)
	rows := strings.Split(strings.TrimSpace(string(m.metadata)), "\n")[1:]
	if len(rows) != len(m.genomes) {
		return material{}, fmt.Errorf("the demo's files disagree: %d rows, %d genomes", len(rows), len(m.genomes))
	}
	for _, row := range rows {
		if id, _, _ := strings.Cut(row, "\t"); m.genomes[id] == "" {
			return material{}, fmt.Errorf("the demo's files disagree: no genome of %s", id)
		}
	}
	return m, nil
}

// Reference returns the reference genome of the demo's organism, Zika virus.
func Reference() string {
	content, err := zika.ReadFile("zika/reference.fasta")
	if err != nil {
		panic(err) // it is embedded
	}
	for _, sequence := range parseFasta(content) {
		return sequence
	}
	panic("the embedded reference has no record")
}

// parseFasta reads well-formed FASTA.
func parseFasta(content []byte) map[string]string {
	records := map[string]string{}
	for record := range strings.SplitSeq(string(content), ">") {
		header, body, _ := strings.Cut(record, "\n")
		if words := strings.Fields(header); len(words) > 0 {
			records[words[0]] = strings.ToUpper(strings.Join(strings.Fields(body), ""))
		}
	}
	return records
}

// tokens are the secrets of one run, by user.
type tokens struct {
	submitter, pipeline, operator string
}

// writeConfig writes the configuration and the reference into dir and returns
// the configuration's path and the tokens, of which it holds only the hashes.
func writeConfig(dir string) (string, tokens, error) {
	secret := tokens{submitter: rand.Text(), pipeline: rand.Text(), operator: rand.Text()}
	reference, err := zika.ReadFile("zika/reference.fasta")
	if err != nil {
		return "", tokens{}, err
	}
	if err := os.WriteFile(filepath.Join(dir, "reference.fasta"), reference, 0o600); err != nil {
		return "", tokens{}, err
	}
	hash := func(token string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(token))) }
	var text bytes.Buffer
	err = template.Must(template.New("config").Parse(configText)).Execute(&text, map[string]string{
		"Submitter": hash(secret.submitter), "Pipeline": hash(secret.pipeline), "Operator": hash(secret.operator),
	})
	if err != nil {
		return "", tokens{}, err
	}
	path := filepath.Join(dir, "config.yaml")
	return path, secret, os.WriteFile(path, text.Bytes(), 0o600)
}

// distinct counts the different values.
func distinct[T comparable](values []T) int {
	seen := map[T]bool{}
	for _, v := range values {
		seen[v] = true
	}
	return len(seen)
}

// sortedVersions returns the keys in order.
func sortedVersions[V any](m map[seqlease.AccessionVersion]V) []seqlease.AccessionVersion {
	var list []seqlease.AccessionVersion
	for av := range m {
		list = append(list, av)
	}
	slices.SortFunc(list, seqlease.AccessionVersion.Compare)
	return list
}
