package main

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/seqlease/seqlease/bench/measure"
)

var update = flag.Bool("update", false, "write the names of a quick run's rows")

// TestRows: no two rows have the same name, names say what was done, and CI expects
// those of a quick run.
func TestRows(t *testing.T) {
	t.Parallel()
	const expected = "rowcheck/quick.txt"
	for _, quick := range []bool{true, false} {
		b := &measure.Bench{Quick: quick, Tell: t.Logf}
		var rows []measure.Row
		var names strings.Builder
		for _, e := range experiments() {
			if quick && e.Skip != nil && e.Skip(b) != "" {
				continue // needs Node
			}
			for _, r := range e.Rows(measure.Pretend(b)) {
				rows = append(rows, r)
				names.WriteString(r.Name + "\n")
			}
		}
		for _, name := range measure.Twice(rows) {
			t.Errorf("quick %t: more than one row is %q", quick, name)
		}
		if got := strings.Contains(names.String(), "1,000,000"); got == quick {
			t.Errorf("quick %t: that a million entries wait is said: %t", quick, got)
		}
		kept := map[measure.Promise]bool{}
		for _, r := range rows {
			kept[r.Promise] = true
		}
		for p := measure.FewClaims; p <= measure.WALBytes; p++ {
			if !kept[p] {
				t.Errorf("quick %t: no target belongs to promise %d", quick, p)
			}
		}
		if !quick {
			continue
		}
		if *update {
			if err := os.WriteFile(expected, []byte(names.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(expected)
		if err != nil {
			t.Fatal(err)
		}
		if names.String() != string(want) {
			t.Errorf("%s has other rows: go -C bench test -run TestRows . -update", expected)
		}
	}
}
