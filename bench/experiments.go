package main

import (
	"slices"

	"github.com/seqlease/seqlease/bench/backfill"
	"github.com/seqlease/seqlease/bench/drain"
	"github.com/seqlease/seqlease/bench/measure"
	"github.com/seqlease/seqlease/bench/peer"
	"github.com/seqlease/seqlease/bench/stored"
	"github.com/seqlease/seqlease/bench/upload"
	"github.com/seqlease/seqlease/bench/wire"
)

// experiments are all of them, in the order of the table.
func experiments() []measure.Experiment {
	return slices.Concat(
		drain.Experiments(),
		backfill.Experiments(),
		wire.Experiments(),
		upload.Experiments(),
		stored.Experiments(),
		peer.Experiments(),
	)
}
