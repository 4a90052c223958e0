package wire

import (
	"github.com/seqlease/seqlease/bench/measure"
)

// Experiments are those of this package.
func Experiments() []measure.Experiment {
	return []measure.Experiment{claims(), genomes(), memory(), embedded()}
}

// claims counts what 64 workers of two servers need to empty a queue.
func claims() measure.Experiment {
	ours := drainOfficial()
	return measure.Experiment{Name: "http-claims", Contenders: []measure.Contender{ours}, Rows: func(r *measure.Results) []measure.Row {
		note := measure.Count(officialDrain(r.Bench)) + " entries of 1 kB, PostgreSQL, two servers, 64 workers with the Go client, batches of 100"
		return []measure.Row{
			measure.AtMost("HTTP: claims that returned entries, per N/100", r.Of(ours.Name, claimsFigure), 1.02, 0, "", note).Of(measure.FewClaims),
			measure.AtMost("HTTP: claims that got nothing while entries waited", r.Of(ours.Name, lostFigure).Longest(), 0, 0, "", note).Of(measure.FewClaims),
			measure.AtMost("HTTP: refused results of live leases", r.Of(ours.Name, refusedFigure).Longest(), 0, 0, "", note).Of(measure.FewClaims),
			measure.Inform("HTTP: drain with the Go client", r.Of(ours.Name, measure.Rate), "/s", note+"; each was stored once"),
		}
	}}
}
