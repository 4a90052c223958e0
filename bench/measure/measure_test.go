package measure_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/seqlease/seqlease/bench/measure"
)

// TestExperiment: ratios are taken within a round, and contenders take turns to
// begin.
func TestExperiment(t *testing.T) {
	t.Parallel()
	var order strings.Builder
	runs := map[string][]float64{"ours": {10, 40, 30}, "floor": {20, 40, 40}}
	contender := func(name string) measure.Contender {
		return measure.Contender{Name: name, Run: func(context.Context, *measure.Bench) (measure.Sample, error) {
			order.WriteString(name[:1])
			v := runs[name][0]
			runs[name] = runs[name][1:]
			return measure.Sample{measure.Rate: v}, nil
		}}
	}
	e := measure.Experiment{Name: "e", Contenders: []measure.Contender{contender("ours"), contender("floor")}}
	r, err := e.Run(t.Context(), &measure.Bench{Tell: t.Logf}, 3)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := order.String(), "offoof"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
	if got, want := r.Ratio("ours", "floor", measure.Rate), (measure.Spread{Figure: 0.75, Low: 0.5, High: 1, Rounds: 3}); got != want {
		t.Errorf("ratio %+v, want %+v", got, want)
	}
	if got, want := r.Of("ours", measure.Rate).Figure, 30.0; got != want {
		t.Errorf("median %v, want %v", got, want)
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	one := measure.Spread{Figure: 0.4, Low: 0.3, High: 0.5, Rounds: 3}
	rows := []measure.Row{
		measure.AtLeast("a", one, 0.35, 0.5, "×", ""), measure.AtLeast("b", one, 0.4, 0.4, "×", ""), measure.Below("c", one, 0.4, 0, "s", "why"),
		measure.AtMost("d", one, 0.4, 0, "", ""), measure.Inform("e", one, "B", ""), measure.AtMost("f", one.Longest(), 0.4, 0, "", ""),
	}
	var b strings.Builder
	if err := measure.WriteTable(&b, rows); err != nil {
		t.Fatal(err)
	}
	for i, verdict := range []string{"yes", "yes, and the aim", "NO", "yes", "", "NO"} {
		cells := strings.Split(strings.Split(b.String(), "\n")[i+2], "|")
		if got := strings.TrimSpace(cells[6]); got != verdict {
			t.Errorf("row %d: %q, want %q", i, got, verdict)
		}
	}
}

// TestSummary: a promise is kept if all its targets are met.
func TestSummary(t *testing.T) {
	t.Parallel()
	one := measure.Spread{Figure: 0.4, Low: 0.3, High: 0.5, Rounds: 3}
	same := measure.Spread{Figure: 0.4, Low: 0.4, High: 0.4, Rounds: 3}
	rows := []measure.Row{
		measure.AtLeast("a", one, 0.35, 0, "×", "").Of(measure.Depth), measure.AtLeast("b", same, 0.5, 0, "×", "").Of(measure.Depth),
		measure.AtLeast("c", same, 0.5, 0, "×", "").Of(measure.Peers), measure.AtLeast("d", same, 0.1, 0, "×", "").Of(measure.Peers),
		measure.AtMost("e", same, 1, 0, "", "").Of(measure.FewClaims), measure.Inform("f", one, "", ""),
	}
	const want = "3 of 5 targets are met. Of the 13 promises of the design 1 are kept, not kept: 5, 8, not measured here: 2, 3, 4, 6, 7, 9, 10, 11, 12, 13.\n" +
		"Some rounds met the target and others didn't: a.\n"
	if got := measure.Summary(rows); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := measure.Twice(append(rows, rows[1], rows[1])); len(got) != 1 || got[0] != "b" {
		t.Errorf("%q are there twice, want b", got)
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 50_000: "50,000", 1_000_000: "1,000,000"} {
		if got := measure.Count(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

// TestJSON: a row without a target is neither met nor not.
func TestJSON(t *testing.T) {
	t.Parallel()
	one := measure.Spread{Figure: 0.5, Low: 0.5, High: 0.5, Rounds: 1}
	for _, c := range []struct {
		row  measure.Row
		want string
	}{
		{measure.Inform("a", one, "s", ""), `{"row":"a","target":"","figure":0.5,"met":null,"unit":"s","low":0.5,"high":0.5,"rounds":1}`},
		{measure.Below("b", one, 0.5, 0, "s", ""), `{"row":"b","target":"< 0.50 s","figure":0.5,"met":false,"unit":"s","low":0.5,"high":0.5,"rounds":1}`},
	} {
		if got, err := json.Marshal(c.row); err != nil || string(got) != c.want {
			t.Errorf("got %s and %v, want %s", got, err, c.want)
		}
	}
}

// TestCommit: what git says of a directory, if the program has no note; nothing of one that
// isn't under version control.
func TestCommit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if got := measure.Commit(t.Context(), "none", dir); got != "unknown" {
		t.Errorf("outside of any repository: %q", got)
	}
	git := func(arguments ...string) string {
		c := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.org"}, arguments...)...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", arguments, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "--quiet")
	git("commit", "--quiet", "--allow-empty", "--message", "first")
	head := git("rev-parse", "HEAD")
	if got := measure.Commit(t.Context(), "none", dir); got != head {
		t.Errorf("got %q, want %q", got, head)
	}
	if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := measure.Commit(t.Context(), "none", dir); got != head+"+changes" {
		t.Errorf("with a file that isn't committed: %q, want %q", got, head+"+changes")
	}
}
