package main

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	const (
		timed   = `{"row":"a","target":"≥ 1 ×","figure":0.1,"met":false,"rounds":1}`
		counted = `{"row":"b","target":"≤ 0","figure":0,"met":true,"promise":1,"rounds":1}`
		informs = `{"row":"c","target":"","figure":7,"met":null,"rounds":1}`
	)
	for _, c := range []struct {
		name string
		rows []string
		want string // in the error; empty: none
	}{
		{"all are there, and times don't count", []string{informs, timed, counted}, ""},
		{"one is missing", []string{timed, counted}, `"c" is missing`},
		{"one is there twice", []string{timed, counted, informs, timed}, `more than one row is "a"`},
		{"one that nobody knows", []string{timed, counted, informs, strings.Replace(informs, `"c"`, `"d"`, 1)}, `"d" isn't`},
		{"something was counted", []string{timed, strings.NewReplacer("true", "false", `"figure":0`, `"figure":2`).Replace(counted), informs}, `"b" is 2`},
		{"a target that says nothing", []string{timed, counted, strings.Replace(informs, "null", "true", 1)}, `"c" has the target`},
		{"no rounds", []string{timed, counted, strings.Replace(informs, `"rounds":1`, `"rounds":0`, 1)}, `"c" has the figure`},
		{"no list", []string{`]`}, "jsontext"},
	} {
		err := check([]byte("["+strings.Join(c.rows, ",")+"]"), []string{"a", "b", "c"})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
