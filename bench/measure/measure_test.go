package measure_test

import (
	"context"
	"strings"
	"testing"

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
	if got, want := r.Ratio("ours", "floor", measure.Rate), (measure.Spread{Median: 0.75, Low: 0.5, High: 1, Rounds: 3}); got != want {
		t.Errorf("ratio %+v, want %+v", got, want)
	}
	if got, want := r.Of("ours", measure.Rate).Median, 30.0; got != want {
		t.Errorf("median %v, want %v", got, want)
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	one := measure.Spread{Median: 0.4, Low: 0.3, High: 0.5, Rounds: 3}
	rows := []measure.Row{
		measure.AtLeast("a", one, 0.35, 0.5, "×", ""), measure.AtLeast("b", one, 0.4, 0.4, "×", ""), measure.Below("c", one, 0.4, 0, "s", "why"),
		measure.AtMost("d", one, 0.4, 0, "", ""), measure.Inform("e", one, "B", ""),
	}
	var b strings.Builder
	if err := measure.WriteTable(&b, rows); err != nil {
		t.Fatal(err)
	}
	for i, verdict := range []string{"yes", "yes, and the aim", "NO", "yes", ""} {
		cells := strings.Split(strings.Split(b.String(), "\n")[i+2], "|")
		if got := strings.TrimSpace(cells[6]); got != verdict {
			t.Errorf("row %d: %q, want %q", i, got, verdict)
		}
	}
}
