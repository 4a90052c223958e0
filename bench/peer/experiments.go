package peer

import (
	"fmt"

	"github.com/seqlease/seqlease/bench/drain"
	"github.com/seqlease/seqlease/bench/measure"
	"github.com/seqlease/seqlease/bench/wire"
)

// The targets: how many times as fast as a peer.
const (
	targetRiver    = 5
	targetHTTP     = 2 // as River, though over HTTP
	targetPgboss   = 3
	targetGraphile = 5
)

// How many work at once, and the pool of whoever needs no more: as seqlease has them.
const (
	workers     = drain.Claimers
	connections = drain.Connections
)

// More clients of River fetch and complete beside each other, as more processes
// would; more workers let each of them do more at once. seqlease's claimers hold
// workers × 100 entries at most.
const (
	riverClients = 4
	manyWorkers  = 250
)

// Experiments are all of this package.
func Experiments() []measure.Experiment {
	return []measure.Experiment{riverExperiment(), pgbossExperiment(), graphileExperiment()}
}

// storeDrain is seqlease's store, called directly as peers are.
func storeDrain() measure.Contender {
	return withProcessor(drain.Store(drain.Work{Entries: storeEntries, Entry: documentBytes, Result: documentBytes}))
}

func riverExperiment() measure.Experiment {
	store, opaque, packed := storeDrain(), wire.DrainOpaque(), wire.Drain1kB()
	modes := []measure.Contender{
		riverMode{clients: 1, workers: workers, pool: connections}.contender(),
		riverMode{clients: 1, workers: workers, pool: workers + 2}.contender(),
		riverMode{clients: riverClients, workers: workers, pool: connections}.contender(),
		riverMode{clients: riverClients, workers: manyWorkers, pool: connections}.contender(),
		riverMode{clients: 1, workers: workers, pool: connections, transactional: true}.contender(),
		riverMode{clients: 1, workers: workers, pool: workers + 2, transactional: true}.contender(),
	}
	return measure.Experiment{
		Name: "peer River", Contenders: append([]measure.Contender{store, opaque, packed}, modes...),
		Rows: func(r *measure.Results) []measure.Row {
			best := fastest(r, modes)
			list := against(r, "River", store.Name, modes, targetRiver)
			return append(list,
				measure.AtLeast("HTTP drain of entries that take 1 kB / River used directly", r.Ratio(opaque.Name, best, measure.Rate), targetHTTP, 0, "×",
					rates(r, opaque.Name, best)+"; text that hardly compresses, so that each entry and each result takes a kilobyte, as River's do").Of(measure.HTTPPeer),
				measure.Inform("HTTP drain of 1 kB entries that are compressed / River used directly", r.Ratio(packed.Name, best, measure.Rate), "×",
					rates(r, packed.Name, best)+"; genomes of 600 bases, 1 % from their reference"),
			)
		},
	}
}

func pgbossExperiment() measure.Experiment {
	store := storeDrain()
	modes := []measure.Contender{
		nodeMode{program: pgbossProgram, workers: workers, pool: connections}.contender("pg-boss, 64 workers"),
		nodeMode{program: pgbossProgram, workers: workers / 4, pool: connections}.contender("pg-boss, 16 workers"),
	}
	return measure.Experiment{
		Name: "peer pg-boss", Skip: skipNode, Contenders: append([]measure.Contender{store}, modes...),
		Rows: func(r *measure.Results) []measure.Row { return against(r, "pg-boss", store.Name, modes, targetPgboss) },
	}
}

// graphileExperiment has the target against tasks that store their results as the
// documentation shows. Tasks that share a statement are another program, which
// says how much of the difference are the commits of single results.
func graphileExperiment() measure.Experiment {
	store := storeDrain()
	single := nodeMode{program: graphileProgram, workers: workers, pool: connections}.contender("graphile-worker")
	sharing := nodeMode{program: graphileProgram, workers: workers, pool: connections, sharing: true}.contender("graphile-worker, tasks share a statement")
	return measure.Experiment{
		Name: "peer graphile-worker", Skip: skipNode, Contenders: []measure.Contender{store, single, sharing},
		Rows: func(r *measure.Results) []measure.Row {
			list := against(r, single.Name, store.Name, []measure.Contender{single}, targetGraphile)
			return append(list, inform(r, store.Name, sharing.Name))
		},
	}
}

// against compares the store with a peer. The fastest way to use it has the target,
// whichever that is in this run; where there are several, each has a row, too.
func against(r *measure.Results, peer, store string, modes []measure.Contender, target float64) []measure.Row {
	best := fastest(r, modes)
	list := []measure.Row{measure.AtLeast("store drain / "+peer, r.Ratio(store, best, measure.Rate), target, 0, "×", rates(r, store, best)+byProcessor(r, store, best)).Of(measure.Peers)}
	if len(modes) > 1 {
		for _, m := range modes {
			list = append(list, inform(r, store, m.Name))
		}
	}
	return list
}

func inform(r *measure.Results, store, peer string) measure.Row {
	return measure.Inform("store drain / "+peer, r.Ratio(store, peer, measure.Rate), "×", rates(r, store, peer)+byProcessor(r, store, peer))
}

// rates is a note: the medians of both.
func rates(r *measure.Results, ours, theirs string) string {
	return fmt.Sprintf("%s: %.0f/s, %s: %.0f/s", ours, r.Of(ours, measure.Rate).Figure, theirs, r.Of(theirs, measure.Rate).Figure)
}

// fastest is the name of the contender with the highest median.
func fastest(r *measure.Results, contenders []measure.Contender) string {
	best := contenders[0].Name
	for _, c := range contenders[1:] {
		if r.Of(c.Name, measure.Rate).Figure > r.Of(best, measure.Rate).Figure {
			best = c.Name
		}
	}
	return best
}
