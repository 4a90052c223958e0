package submission

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestUniqueNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ names, want string }{
		{"", ""},
		{"a b c", "a b c"},
		{"sample sample sample_1 sample", "sample sample_2 sample_1 sample_3"}, // the protocol's example
		{"a a a", "a a_1 a_2"},
		{"a_1 a a", "a_1 a a_2"},
		{"a a a_1 a_1", "a a_2 a_1 a_1_1"},
		{"a a_1 a a_1 a", "a a_1 a_2 a_1_1 a_3"},
	} {
		if got := strings.Join(uniqueNames(strings.Fields(tt.names)), " "); got != tt.want {
			t.Errorf("%q becomes %q, want %q", tt.names, got, tt.want)
		}
	}
}

// Whatever the names are, each stands once, and the first of each stays.
func TestUniqueNames_AreUnique(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		names := rapid.SliceOfN(rapid.StringMatching(`a(_[12]){0,3}`), 0, 40).Draw(rt, "names")
		unique := uniqueNames(slices.Clone(names))
		seen := map[string]bool{}
		for i, name := range unique {
			if seen[name] {
				rt.Fatalf("%q stands twice in %q", name, unique)
			}
			seen[name] = true
			if slices.Index(names, names[i]) == i && name != names[i] {
				rt.Fatalf("the first %q became %q", names[i], name)
			}
			if !strings.HasPrefix(name, names[i]) {
				rt.Fatalf("%q became %q", names[i], name)
			}
		}
	})
}

func TestAppendRow(t *testing.T) {
	t.Parallel()
	cells := []string{"plain", "", `a "b"`, "tab\there", "line\nbreak", " blank", "blank ", "in side", "no-break\u00a0", "#5", "é"}
	want := "plain\t\t\"a \"\"b\"\"\"\t\"tab\there\"\t\"line\nbreak\"\t\" blank\"\t\"blank \"\tin side\t\"no-break\u00a0\"\t#5\té\r\n"
	if got := string(appendRow(nil, cells)); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestIsColumn(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{
		"country": true, "ID": true, "files": true, "a b": true,
		"id": false, "submissionId": false, "accession": false, "fastaIds": false, "files.raw": false, "": false, " \t": false,
	} {
		if got := isColumn(key); got != want {
			t.Errorf("%q may be a column: %t, want %t", key, got, want)
		}
	}
}

func TestAsID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{"a": "a", "a b\tc": "a_b_c", "": "row", "\u2003": "_"} {
		if got := asID(id, "row"); got != want {
			t.Errorf("%q becomes %q, want %q", id, got, want)
		}
	}
}
