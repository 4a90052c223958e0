package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// cited is how rules and situations are cited, and listed how docs/rules.md begins
// their rows: with a number, or several.
var (
	cited  = regexp.MustCompile(`(?:\b|_)([LV][1-9][0-9]?|B[0-9]{3})(?:\b|_)`)
	listed = regexp.MustCompile(`(?m)^\| ([LVB0-9, ]+) \|`)
)

// TestRules_EveryNumberThatIsCitedIsExplained looks through code, SQL, and documents.
func TestRules_EveryNumberThatIsCitedIsExplained(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	explained := map[string]bool{}
	for _, row := range listed.FindAllStringSubmatch(string(text), -1) {
		for number := range strings.SplitSeq(row[1], ", ") {
			explained[number] = true
		}
	}
	if len(explained) < 50 {
		t.Fatalf("only %d numbers are in docs/rules.md", len(explained))
	}
	citations := map[string]bool{}
	err = filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".git") || entry.Name() == "testdata"):
			return filepath.SkipDir
		case entry.IsDir() || !slices.Contains([]string{".go", ".sql", ".py", ".md", ".yaml"}, filepath.Ext(path)) || strings.HasSuffix(path, ".gen.go"):
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		// Neighbours share the character between them: B002_B013.
		for word := range strings.FieldsFuncSeq(string(content), func(r rune) bool { return r == '_' || r == ' ' || r == '\n' }) {
			if !strings.ContainsAny(word, "123456789") {
				continue // for speed: there are hundreds of thousands
			}
			for _, match := range cited.FindAllStringSubmatch(word, -1) {
				citations[match[1]] = true
				if !explained[match[1]] {
					t.Errorf("%s cites %s, which docs/rules.md doesn't explain", path, match[1])
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(citations) < 40 {
		t.Errorf("only %d numbers are cited: they aren't recognised", len(citations))
	}
}
