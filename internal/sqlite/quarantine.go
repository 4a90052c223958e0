package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// Spent returns at most limit tickets whose attempts or hand-outs are used up, as
// [queue.KeeperStore] says. Leases that have ended are swept first, so that those
// in them are found whoever sweeps else (L9).
func (s *Store) Spent(ctx context.Context, limit int) ([]queue.SpentTicket, error) {
	_, _, err := s.sweepOnce(ctx, limit)
	if err != nil {
		return nil, fmt.Errorf("spent tickets: %w", err)
	}
	var list []queue.SpentTicket
	err = s.read(ctx, func(t *tx) error {
		var keys []failuresOf
		err := t.rows(ctx, "spent", named("limit", int64(limit)), func(scan func(...any) error) error {
			var p queue.SpentTicket
			err := scan(&p.Organism, &p.PipelineVersion, &p.Accession, &p.Version, &p.EntryID, &p.Revision, &p.Attempts, &p.HandOuts)
			list = append(list, p)
			keys = append(keys, failuresOf{p.EntryID, p.PipelineVersion, p.Revision})
			return err
		})
		if err != nil || len(list) == 0 {
			return err
		}
		return readFailures(ctx, t, keys, func(place int, f queue.Failure) {
			list[place].Failures = append(list[place].Failures, f)
		})
	})
	if err != nil {
		return nil, fmt.Errorf("spent tickets: %w", err)
	}
	return list, nil
}

// Quarantine replaces those of the tickets that are as they were read by their
// verdicts, as [queue.KeeperStore] says.
func (s *Store) Quarantine(ctx context.Context, verdicts []queue.Verdict) (int, error) {
	n := 0
	err := s.write(ctx, func(ctx context.Context, t *tx) (err error) {
		n, err = quarantine(ctx, t, verdicts)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("quarantine %d entries: %w", len(verdicts), err)
	}
	return n, nil
}

func quarantine(ctx context.Context, t *tx, verdicts []queue.Verdict) (int, error) {
	if len(verdicts) == 0 {
		return 0, nil
	}
	var now int64
	if err := t.row(ctx, "now", nil, &now); err != nil {
		return 0, err
	}
	results := make([]systemResult, len(verdicts))
	for i, v := range verdicts {
		id := seqlease.NewAttemptID()
		results[i] = systemResult{place{int64(v.PipelineVersion), v.EntryID, hex.EncodeToString(id[:])}, id, v.Result}
	}
	n, err := t.execRows(ctx, "quarantine_spent", len(verdicts), func(values []any, i int) []any {
		v := &verdicts[i]
		return append(values, v.EntryID, int64(v.PipelineVersion), int64(v.Revision), int64(v.Attempts), int64(v.HandOuts),
			results[i].attemptID[:], shorten(v.Reason))
	}, sql.Named("now", now))
	if err != nil {
		return 0, err
	}
	return int(n), storeSystemResults(ctx, t, results)
}

// systemResult is the result of an entry that goes to quarantine, with the
// attempt id of its own.
type systemResult struct {
	place
	attemptID seqlease.AttemptID
	result    queue.PackedResult
}

// newSystemResult is the result for a place in quarantine, whose attempt id is that
// of the quarantine.
func newSystemResult(p place, r queue.PackedResult) (systemResult, error) {
	result := systemResult{place: p, result: r}
	_, err := hex.Decode(result.attemptID[:], []byte(p.attemptID))
	return result, err
}

// storeSystemResults ends the tickets of those that went to quarantine under
// their attempt ids, and stores their results unless there is a good one.
func storeSystemResults(ctx context.Context, t *tx, results []systemResult) error {
	_, err := t.execRows(ctx, "quarantine_results", len(results), func(values []any, i int) []any {
		r := &results[i]
		return append(values, r.entryID, r.version, r.attemptID[:], r.result.Digest[:], r.result.Dictionary, r.result.Bytes)
	})
	if err != nil {
		return err
	}
	places := make([]place, len(results))
	for i, r := range results {
		places[i] = r.place
	}
	list := named("places", jsonPlaces(places))
	for _, statement := range []string{"quarantine_cut_tickets", "bump_released_by_places"} {
		if _, err := t.exec(ctx, statement, list...); err != nil {
			return err
		}
	}
	return nil
}
