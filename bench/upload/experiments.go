package upload

import (
	"fmt"

	"github.com/seqlease/seqlease/bench/measure"
	"github.com/seqlease/seqlease/bench/wire"
)

// Experiments are those of this package.
func Experiments() []measure.Experiment {
	return []measure.Experiment{floor(), pair(), waits()}
}

func floor() measure.Experiment {
	ours, stored, raw := one(), copyFloor(false), copyFloor(true)
	return measure.Experiment{Name: "upload", Contenders: []measure.Contender{ours, stored, raw}, Rows: func(r *measure.Results) []measure.Row {
		n := measure.Count(size(r.Bench))
		note := n + " entries of 1 kB as FASTA and TSV over HTTP in one upload, to PostgreSQL; COPY: one transaction, entries and tickets with their primary keys"
		return []measure.Row{
			measure.AtLeast("upload / COPY of the stored rows", r.Ratio(ours.Name, stored.Name, measure.Rate), 0.3, 0, "×", note),
			measure.Inform("upload / COPY of the stored rows, in processor time", r.Ratio(stored.Name, ours.Name, wire.AllCPU), "×",
				"the floor's time per entry / that of server, client and PostgreSQL: hardly depends on what else runs on the machine"),
			measure.Inform("upload / COPY of the sequences as uploaded", r.Ratio(ours.Name, raw.Name, measure.Rate), "×", "the same, sequences not compressed"),
			measure.Inform("upload: processor time of the server for an entry", r.Of(ours.Name, wire.ServerCPU), "µs", "reading, checking and compressing"),
			measure.Inform("upload: processor time of PostgreSQL for an entry", r.Of(ours.Name, wire.DatabaseCPU), "µs", "entry with its indexes, terms of use, ticket"),
			measure.Inform("upload", r.Of(ours.Name, measure.Rate), "entries/s", ""),
			measure.Below("server memory: upload of "+n+" entries", r.Of(ours.Name, peakFigure).Longest(), 256, 0, "MiB", "VmHWM"),
		}
	}}
}

func pair() measure.Experiment {
	atOnce, inTurn := two(true), two(false)
	return measure.Experiment{Name: "upload-pair", Contenders: []measure.Contender{atOnce, inTurn}, Rows: func(r *measure.Results) []measure.Row {
		return []measure.Row{
			measure.AtMost("two uploads to an organism at once / one after the other", r.Ratio(atOnce.Name, inTurn.Name, wallFigure), 1.1, 0, "×",
				"until both are done; "+measure.Count(size(r.Bench)/2)+" entries of 1 kB each, two groups, PostgreSQL"),
			measure.Inform("share of that time in which both uploads were in progress", r.Of(atOnce.Name, overlapFigure), "", "1: they ended at the same time"),
		}
	}}
}

func waits() measure.Experiment {
	beside, alone := claimsBeside(wire.Postgres, true), claimsBeside(wire.Postgres, false)
	besideEmbedded, aloneEmbedded := claimsBeside(wire.SQLite, true), claimsBeside(wire.SQLite, false)
	return measure.Experiment{
		Name: "upload-claims", Contenders: []measure.Contender{beside, alone, besideEmbedded, aloneEmbedded},
		Rows: func(r *measure.Results) []measure.Row {
			_, more := claimsSize(r.Bench)
			note := func(of measure.Contender) string {
				return fmt.Sprintf("one worker, %.0f claims of 10 entries in a round; request to last byte, on cores that all share", r.Of(of.Name, claimsFigure).Figure)
			}
			longest := func(of measure.Contender) measure.Spread { return r.Of(of.Name, longestFigure).Longest() }
			upload := "; the upload has " + measure.Count(more) + " entries of 1 kB"
			// The worst of all rounds beside an upload, to the worst of all rounds without.
			ratio := measure.Spread{Worst: true, Rounds: longest(beside).Rounds}
			ratio.Figure = longest(beside).Figure / longest(alone).Figure
			ratio.Low, ratio.High = ratio.Figure, ratio.Figure
			return []measure.Row{
				measure.AtMost("PostgreSQL: longest claim beside an upload / longest without", ratio, 2, 0, "×", "worst to worst of all rounds: who waits for an upload waits until it ends, who shares the cores half as long again"),
				measure.AtMost("PostgreSQL: longest claim beside an upload", longest(beside), 50, 0, "ms", note(beside)+upload),
				measure.Inform("PostgreSQL: longest claim without an upload", longest(alone), "ms", note(alone)),
				measure.Inform("PostgreSQL: 99 % of claims beside an upload within", r.Of(beside.Name, p99Figure), "ms", ""),
				measure.Inform("PostgreSQL: 99 % of claims without an upload within", r.Of(alone.Name, p99Figure), "ms", ""),
				measure.AtMost("SQLite: longest claim beside an upload", longest(besideEmbedded), 50, 0, "ms", note(besideEmbedded)+upload),
				measure.Inform("SQLite: longest claim without an upload", longest(aloneEmbedded), "ms", note(aloneEmbedded)),
				measure.Inform("SQLite: 99 % of claims beside an upload within", r.Of(besideEmbedded.Name, p99Figure), "ms", ""),
				measure.Inform("SQLite: 99 % of claims without an upload within", r.Of(aloneEmbedded.Name, p99Figure), "ms", ""),
			}
		},
	}
}
