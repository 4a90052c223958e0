package upload

import (
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
		const note = "100,000 entries of 1 kB as FASTA and TSV over HTTP in one upload, to PostgreSQL; COPY: one transaction, entries and tickets with their primary keys"
		return []measure.Row{
			measure.AtLeast("upload / COPY of the stored rows", r.Ratio(ours.Name, stored.Name, measure.Rate), 0.3, 0, "×", note),
			measure.Inform("the same in processor time", r.Ratio(stored.Name, ours.Name, wire.AllCPU), "×",
				"the floor's time per entry / that of server, client and PostgreSQL: hardly depends on what else runs on the machine"),
			measure.Inform("upload / COPY of the sequences as uploaded", r.Ratio(ours.Name, raw.Name, measure.Rate), "×", "the same, sequences not compressed"),
			measure.Inform("upload: processor time of the server for an entry", r.Of(ours.Name, wire.ServerCPU), "µs", "reading, checking and compressing"),
			measure.Inform("upload: processor time of PostgreSQL for an entry", r.Of(ours.Name, wire.DatabaseCPU), "µs", "entry with its indexes, terms of use, ticket"),
			measure.Inform("upload", r.Of(ours.Name, measure.Rate), "entries/s", ""),
			measure.Below("server memory: upload of 100,000 entries", r.Of(ours.Name, peakFigure), 256, 0, "MiB", "VmHWM"),
		}
	}}
}

func pair() measure.Experiment {
	atOnce, inTurn := two(true), two(false)
	return measure.Experiment{Name: "upload-pair", Contenders: []measure.Contender{atOnce, inTurn}, Rows: func(r *measure.Results) []measure.Row {
		return []measure.Row{
			measure.AtMost("two uploads to an organism at once / one after the other", r.Ratio(atOnce.Name, inTurn.Name, wallFigure), 1.1, 0, "×",
				"until both are done; 50,000 entries of 1 kB each, two groups, PostgreSQL"),
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
			const note = "one worker that claims 10 entries at a time beside an upload of 50,000 of 1 kB; request to last byte, on cores that all share"
			return []measure.Row{
				measure.Inform("PostgreSQL: longest claim beside an upload", r.Of(beside.Name, longestFigure), "ms", note),
				measure.Inform("PostgreSQL: longest claim without an upload", r.Of(alone.Name, longestFigure), "ms", ""),
				measure.Inform("PostgreSQL: 99 % of claims beside an upload within", r.Of(beside.Name, p99Figure), "ms", ""),
				measure.AtMost("SQLite: longest claim beside an upload", r.Of(besideEmbedded.Name, longestFigure), 50, 0, "ms", note),
				measure.Inform("SQLite: longest claim without an upload", r.Of(aloneEmbedded.Name, longestFigure), "ms", ""),
				measure.Inform("SQLite: 99 % of claims beside an upload within", r.Of(besideEmbedded.Name, p99Figure), "ms", ""),
			}
		},
	}
}
