package backfill

import (
	"context"
	"fmt"

	"github.com/seqlease/seqlease/bench/measure"
)

// The contenders.
const (
	byFiller   = "by the filler, beside one claimer"
	byClaimers = "by 64 claimers and the filler"
	quiet      = "no backfill"
)

const claimers = 64

// Experiments are those of a new pipeline version.
func Experiments() []measure.Experiment {
	contender := func(name string, f func(ctx context.Context, s *site) (measure.Sample, error)) measure.Contender {
		return measure.Contender{Name: name, Run: func(ctx context.Context, b *measure.Bench) (measure.Sample, error) { return measured(ctx, b, f) }}
	}
	return []measure.Experiment{{
		Name: "backfill",
		Contenders: []measure.Contender{
			contender(byFiller, func(ctx context.Context, s *site) (measure.Sample, error) { return backfillWith(ctx, s, 1) }),
			contender(byClaimers, func(ctx context.Context, s *site) (measure.Sample, error) { return backfillWith(ctx, s, claimers) }),
			contender(quiet, func(ctx context.Context, _ *site) (measure.Sample, error) {
				return measure.Sample{}, wait(ctx, quietTime)
			}),
		},
		Rows: rows,
	}}
}

// rows have the targets in both cases. The design's promise is about the first: 64
// workers, instant work. The second shows the backfill itself, without a million
// claims that take the processors from everybody at once.
func rows(r *measure.Results) []measure.Row {
	entries := measure.Count(size(r.Bench)) + " entries, nine of ten processed, three of five released"
	beside := fmt.Sprintf("a submission of %d and an edit every %s through another server; %%.3f s without a backfill", uploadEntries, pace)
	var list []measure.Row
	for _, of := range []struct {
		contender, shown string
		promise          measure.Promise
	}{
		{byClaimers, fmt.Sprintf("%d workers that never pause", claimers), measure.NewVersion},
		{byFiller, fmt.Sprintf("one worker that claims every %s", pace), 0},
	} {
		wait := func(what, figure string) measure.Row {
			return measure.Below("new version, "+of.shown+": longest wait of "+what, r.Of(of.contender, figure).Longest(), 0.1, 0, "s",
				fmt.Sprintf(beside, r.Of(quiet, figure).High)).Of(of.promise)
		}
		name := "new version, " + of.shown
		list = append(list,
			measure.Below(name+": first claim", r.Of(of.contender, figureFirst), 0.2, 0, "s", entries+"; registration and first chunk included").Of(of.promise),
			wait("a submit", figureSubmit),
			wait("an edit", figureEdit),
			measure.Below(name+": whole backfill", r.Of(of.contender, figureWhole), 5, 0, "s", "until every entry waits, is held or has its result; the store and the queue called directly").Of(of.promise),
			measure.Inform(name+": longest claim meanwhile", r.Of(of.contender, figureClaim).Longest(), "s", fmt.Sprintf("of %d entries", batch)),
		)
	}
	return list
}

// size is how many entries there are.
func size(b *measure.Bench) int { return b.Size(1_000_000, 50_000) }
