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
			contender(byClaimers, func(ctx context.Context, s *site) (measure.Sample, error) {
				return backfillWith(ctx, s, claimers)
			}),
			contender(quiet, func(ctx context.Context, _ *site) (measure.Sample, error) {
				return measure.Sample{}, wait(ctx, quietTime)
			}),
		},
		Rows: rows,
	}}
}

func rows(r *measure.Results) []measure.Row {
	const entries = "1,000,000 entries, nine of ten processed, three of five released"
	beside := fmt.Sprintf("a submission of %d and an edit every %s through another server", uploadEntries, pace)
	both := func(figure string) string {
		return fmt.Sprintf("%s; %.3f s with %d claimers that never pause, %.3f s without a backfill", beside,
			r.Of(byClaimers, figure).Median, claimers, r.Of(quiet, figure).Median)
	}
	whole := r.Of(byClaimers, figureWhole)
	return []measure.Row{
		measure.Below("new version: first claim", r.Of(byFiller, figureFirst), 0.2, 0, "s", entries+"; registration and first chunk included"),
		measure.Below("new version: longest wait of a submit", r.Of(byFiller, figureSubmit), 0.1, 0, "s", both(figureSubmit)),
		measure.Below("new version: longest wait of an edit", r.Of(byFiller, figureEdit), 0.1, 0, "s", both(figureEdit)),
		measure.Below("new version: whole backfill", r.Of(byFiller, figureWhole), 5, 0, "s",
			fmt.Sprintf("%s; %.1f s beside %d claimers that never pause", byFiller, whole.Median, claimers)),
		measure.Inform("new version: longest claim meanwhile", r.Of(byFiller, figureClaim), "s",
			fmt.Sprintf("of %d entries; %.3f s of %d claimers that never pause", batch, r.Of(byClaimers, figureClaim).Median, claimers)),
	}
}
