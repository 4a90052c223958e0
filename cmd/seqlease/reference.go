package main

import (
	"errors"
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
	sequence, err := findRecord(string(content), record)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return sequence, nil
}

// findRecord returns the sequence of a record of FASTA text.
func findRecord(fasta, record string) (string, error) {
	fasta = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(fasta)
	records := strings.Split("\n"+fasta, "\n>")
	if strings.TrimSpace(records[0]) != "" {
		return "", errors.New("not FASTA: text before the first line that begins with >")
	}
	var ids []string
	for _, r := range records[1:] {
		header, body, _ := strings.Cut(r, "\n")
		id, _, _ := strings.Cut(strings.TrimSpace(header), " ")
		ids = append(ids, id)
		if record != "" && id != record {
			continue
		}
		sequence, err := cleanSequence(body)
		if err == nil && sequence == "" {
			err = errors.New("no sequence")
		}
		if err != nil {
			return "", fmt.Errorf("record %q: %w", id, err)
		}
		return sequence, nil
	}
	if record == "" {
		return "", errors.New("no FASTA record")
	}
	return "", fmt.Errorf("no record %q; there are %s", record, strings.Join(ids, ", "))
}

// cleanSequence takes out blanks and line ends and makes capital letters; a
// reference consists of letters and, in proteins, stops.
func cleanSequence(text string) (string, error) {
	sequence := strings.ToUpper(strings.Join(strings.Fields(text), ""))
	for i, c := range sequence {
		if (c < 'A' || c > 'Z') && c != '*' {
			return "", fmt.Errorf("%q at position %d is no base and no amino acid", c, i+1)
		}
	}
	return sequence, nil
}
