package drain

import (
	"fmt"
	"slices"

	"github.com/seqlease/seqlease/bench/measure"
)

// The contenders, as they are told and looked up.
const (
	nameStore         = "seqlease"
	nameFloor         = "storage floor"
	nameRowLease      = "row lease"
	nameRowLeaseAlone = "row lease at its best"
	nameInsertRace    = "insert race"
	nameMessages      = "pgmq-like"
)

// Experiments are all of this package.
func Experiments() []measure.Experiment {
	return slices.Concat(drains(), []measure.Experiment{insertRace(), depth(), snapshot(), flat()})
}

// drains are those of each size of results beside the designs that drain in seconds.
func drains() []measure.Experiment {
	small := Work{Entries: 100_000, Entry: 200, Result: 200}
	peers := Work{Entries: 60_000, Entry: 1000, Result: 1000}
	large := Work{Entries: 40_000, Entry: 200, Result: 6000}
	return []measure.Experiment{
		{
			Name:       "store drain, 200 B",
			Contenders: []measure.Contender{Store(small), Floor(small.times(4)), RowLease(small), RowLeaseAlone(small), Messages(small)},
			Rows: func(r *measure.Results) []measure.Row {
				return slices.Concat(rows(r, small), rowLeaseRows(r, small, 3, 5))
			},
		},
		{
			Name:       "store drain, 1 kB",
			Contenders: []measure.Contender{Store(peers), Floor(peers.times(2)), Messages(peers)},
			Rows:       func(r *measure.Results) []measure.Row { return rows(r, peers) },
		},
		{
			Name:       "store drain, 6 kB",
			Contenders: []measure.Contender{Store(large), Floor(large), RowLease(large), RowLeaseAlone(large), Messages(large)},
			Rows: func(r *measure.Results) []measure.Row {
				return slices.Concat(rows(r, large), rowLeaseRows(r, large, 2.2, 3))
			},
		},
	}
}

// times is the work for more entries: a floor is done so soon that little of it
// would be an uncertain figure. Rates are compared.
func (w Work) times(n int) Work {
	w.Entries *= n
	return w
}

// size says how large the documents are.
func (w Work) size() string {
	return fmt.Sprintf("entries of %d B, results of %d B", w.Entry, w.Result)
}

// against is the note of a ratio of rates: what the other one is, and the ratio of
// what they take of the processors, which the machine's other work disturbs less.
func against(r *measure.Results, other, note string) string {
	if r.Of(nameStore, figureServer).Figure == 0 {
		return note // nobody tells what was taken
	}
	server, client := r.Ratio(other, nameStore, figureServer), r.Ratio(other, nameStore, figureClient)
	return fmt.Sprintf("%s; by the server's processor time %.2f ×, by the clients' %.2f ×", note, server.Figure, client.Figure)
}

// rows are those of every size.
func rows(r *measure.Results, w Work) []measure.Row {
	of := "; " + w.size()
	n := fmt.Sprintf("%s entries, %d claimers; each was answered once, and its result is there", measure.Count(w.quickly(r.Bench).Entries), Claimers)
	return []measure.Row{
		measure.Inform("store drain"+of, r.Of(nameStore, measure.Rate), "entries/s", n),
		measure.AtLeast("store drain / storage floor"+of, r.Ratio(nameStore, nameFloor, measure.Rate), 0.35, 0.5, "×", against(r, nameFloor, "COPY of results of the same size, 100 per commit, 16 connections")).Of(measure.StorageFloor),
		measure.AtLeast("store drain / pgmq-like SQL"+of, r.Ratio(nameStore, nameMessages, measure.Rate), 1.5, 0, "×", against(r, nameMessages, "no fence, no attempts")).Of(measure.Peers),
		measure.AtMost("store: claims that returned entries / least possible"+of, r.Of(nameStore, figureClaims), 1.02, 0, "×", ""),
		measure.AtLeast("last tenth / first tenth of a drain"+of, r.Of(nameStore, figureTenths), 0.9, 0, "×", n).Of(measure.Depth),
		measure.Below("WAL bytes per entry beyond the result, claim to result"+of, r.Of(nameStore, figureWAL), 450, 300, "B", "no checkpoint between, so few full pages").Of(measure.WALBytes),
		measure.Inform("WAL bytes per entry beyond the document, enqueue"+of, r.Of(nameStore, figureEnqueue), "B", "entry, terms and ticket with their indexes"),
	}
}

func rowLeaseRows(r *measure.Results, w Work, target, aim float64) []measure.Row {
	of := "; " + w.size()
	return []measure.Row{
		measure.AtLeast("store drain / row leases"+of, r.Ratio(nameStore, nameRowLease, measure.Rate), target, aim, "×", against(r, nameRowLease, "as published: in the order of accessions, with the shared row of last changes")).Of(measure.RowLeases),
		measure.Inform("store drain / row leases at their best"+of, r.Ratio(nameStore, nameRowLeaseAlone, measure.Rate), "×", against(r, nameRowLeaseAlone, "an order that only the partial index has, no shared row, no foreign key")),
		measure.Inform("row leases: WAL bytes per entry beyond the result"+of, r.Of(nameRowLease, figureWAL), "B", ""),
	}
}

// insertRace gives the race fewer entries than ours, since it is slow; that
// favours it, as each of its claims passes over all entries that were had before.
func insertRace() measure.Experiment {
	ours, theirs := Work{Entries: 40_000, Entry: 200, Result: 6000}, Work{Entries: 20_000, Entry: 200, Result: 6000}
	return measure.Experiment{
		Name:       "store drain, insert race",
		Contenders: []measure.Contender{Store(ours), InsertRace(theirs)},
		Rows: func(r *measure.Results) []measure.Row {
			return []measure.Row{
				measure.AtLeast("store drain / insert race with the shared row; "+ours.size(), r.Ratio(nameStore, nameInsertRace, measure.Rate), 15, 0, "×",
					against(r, nameInsertRace, fmt.Sprintf("rates over %s and %s entries", measure.Count(ours.quickly(r.Bench).Entries), measure.Count(theirs.quickly(r.Bench).Entries)))).
					Of(measure.InsertRace),
				measure.Inform("insert race: claims that got nothing / claims that got something", r.Of(nameInsertRace, figureEmpty), "", ""),
			}
		},
	}
}
