package genome

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// RealSets are the sets of real genomes, and SmallSet is a part of them.
var RealSets = []string{"early-2020", "nextclade-2021", "nextclade-2024"}

// SmallSet has a few genomes of the real sets.
const SmallSet = "small"

// Real reads sets of real genomes, with the metadata that the organism has, and
// makes their results, with whatever faults the pipeline finds.
func (v *Virus) Real(ctx context.Context, sets ...string) ([]Sample, error) {
	var samples []Sample
	for _, set := range sets {
		records, err := readFASTA(filepath.Join(v.data, set, "sequences.fasta"))
		if err != nil {
			return nil, err
		}
		rows, err := v.readMetadata(filepath.Join(v.data, set, "metadata.tsv"))
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			row, found := rows[r.id]
			if !found {
				return nil, fmt.Errorf("real genomes of %s: %s has no metadata", set, r.id)
			}
			sample := Sample{Metadata: row, Sequence: r.sequence}
			sample.Result = v.Process(ctx, sample.entry())
			samples = append(samples, sample)
		}
	}
	return samples, nil
}

// readMetadata returns the organism's fields of each row by id.
func (v *Virus) readMetadata(path string) (map[string]map[string]string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	header, body, _ := strings.Cut(strings.TrimSuffix(string(content), "\n"), "\n")
	columns := strings.Split(header, "\t")
	rows := map[string]map[string]string{}
	for line := range strings.SplitSeq(body, "\n") {
		values := strings.Split(line, "\t")
		row := map[string]string{}
		for _, field := range v.Organism.Metadata {
			row[field.Name] = ""
			for c, column := range columns {
				if column == field.Name {
					row[field.Name] = values[c]
				}
			}
		}
		rows[values[0]] = row
	}
	return rows, nil
}

// record is one of a FASTA file.
type record struct{ id, sequence string }

// readFASTA reads a file, or the one compressed beside it.
func readFASTA(path string) ([]record, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		content, err = readCompressed(path + ".zst")
	}
	if err != nil {
		return nil, err
	}
	var records []record
	for part := range strings.SplitSeq("\n"+string(content), "\n>") {
		header, lines, found := strings.Cut(part, "\n")
		if !found || header == "" {
			continue
		}
		records = append(records, record{strings.Fields(header)[0], strings.ReplaceAll(lines, "\n", "")})
	}
	if len(records) == 0 {
		return nil, fmt.Errorf("%s has no record", path)
	}
	return records, nil
}

func readCompressed(path string) ([]byte, error) {
	packed, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	reader, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	return io.ReadAll(reader)
}
