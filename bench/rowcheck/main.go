// Command rowcheck reads what a quick bench has written with --json, and fails unless
// each row is there that should be, and what is counted, in any circumstances, came out
// right: every entry was had by one claim, and no result of a live lease was refused. It
// doesn't look at times. The bench itself fails if an entry is lost or processed twice.
//
//	go -C bench run ./rowcheck figures.json
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/seqlease/seqlease/bench/measure"
)

//go:embed quick.txt
var quickRows string

// The exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: rowcheck FILE")
		os.Exit(exitUsage)
	}
	content, err := os.ReadFile(os.Args[1]) //nolint:gosec // the user names the file
	if err == nil {
		err = check(content, strings.Split(strings.TrimSpace(quickRows), "\n"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "rowcheck:", err)
		os.Exit(exitFailed)
	}
}

// check wants the rows with those names, in any order. The error names all that is
// wrong.
func check(content []byte, names []string) error {
	var rows []measure.Row
	if err := json.Unmarshal(content, &rows); err != nil {
		return err
	}
	var faults []error
	fault := func(format string, arguments ...any) { faults = append(faults, fmt.Errorf(format, arguments...)) }
	for _, name := range measure.Twice(rows) {
		fault("more than one row is %q", name)
	}
	missing := slices.Clone(names)
	for _, r := range rows {
		if at := slices.Index(missing, r.Name); at >= 0 {
			missing = slices.Delete(missing, at, at+1)
		} else if !slices.Contains(names, r.Name) {
			fault("the row %q isn't in quick.txt", r.Name)
		}
		switch {
		case math.IsNaN(r.Figure) || math.IsInf(r.Figure, 0) || r.Rounds < 1:
			fault("the row %q has the figure %v of %d rounds", r.Name, r.Figure, r.Rounds)
		case (r.Target == "") != (r.Met == nil):
			fault("the row %q has the target %q, and whether it is met says the opposite", r.Name, r.Target)
		case r.Promise == measure.FewClaims && !*r.Met:
			fault("the row %q is %v, want %s", r.Name, r.Figure, r.Target)
		}
	}
	for _, name := range missing {
		fault("the row %q is missing", name)
	}
	return errors.Join(faults...)
}
