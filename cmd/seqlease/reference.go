package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// readReference returns the sequence of a record of a FASTA file in capital
// letters; of the first one if record is empty.
func readReference(path, record string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	records := bytes.Split(append([]byte("\n"), content...), []byte("\n>"))
	if len(bytes.TrimSpace(records[0])) > 0 {
		return "", fmt.Errorf("%s: not a FASTA file: text before the first line that begins with >", path)
	}
	var ids []string
	for _, r := range records[1:] {
		header, body, _ := strings.Cut(string(r), "\n")
		id, _, _ := strings.Cut(strings.TrimSpace(header), " ")
		ids = append(ids, id)
		if record != "" && id != record {
			continue
		}
		sequence := strings.ToUpper(strings.Join(strings.Fields(body), ""))
		if i := strings.IndexFunc(sequence, func(c rune) bool { return (c < 'A' || c > 'Z') && c != '*' }); i >= 0 {
			return "", fmt.Errorf("%s: record %q has %q at position %d", path, id, sequence[i], i+1)
		}
		if sequence == "" {
			return "", fmt.Errorf("%s: record %q is empty", path, id)
		}
		return sequence, nil
	}
	if record == "" {
		return "", fmt.Errorf("%s: no FASTA record", path)
	}
	return "", fmt.Errorf("%s: no record %q; there are %s", path, record, strings.Join(ids, ", "))
}
