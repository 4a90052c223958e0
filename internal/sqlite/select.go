package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// selection is a page of what an operator selected.
type selection struct {
	organism organismRow
	ids      []int64
	last     int64 // 0: this is the last page
}

// selectPage reads the next entries that may be meant: those listed, else those
// that the statement yields. It needs no writer; whoever writes tests again what
// matters.
func (s *Store) selectPage(ctx context.Context, sel queue.Selection, statement string, after int64, limit int) (selection, error) {
	var page selection
	err := s.read(ctx, func(t *tx) (err error) {
		if page.organism, err = organismState(ctx, t, sel.Organism); err != nil {
			return err
		}
		args := named("organism_id", page.organism.id, "after", after, "limit", int64(limit),
			"from", orNullTime(sel.SubmittedFrom), "to", orNullTime(sel.SubmittedTo))
		if sel.Entries != nil {
			statement = "select_listed"
			args = append(args, sql.Named("entries", jsonEntries(sel.Entries)))
		}
		page.ids, err = readIDs(ctx, t, statement, args)
		return err
	})
	if n := len(page.ids); n > 0 && n >= limit {
		page.last = page.ids[n-1]
	}
	return page, err
}

// args are the arguments of a statement that takes those of the page that the
// selection means.
func (p selection) args(sel queue.Selection) []any {
	return named("organism_id", p.organism.id, "entry_ids", jsonIDs(p.ids), "pipeline_version", int64(sel.PipelineVersion),
		"contains", sel.ErrorContains, "worker_id", sel.WorkerID)
}

// orNullTime is the instant as it is stored, or NULL for the zero one.
func orNullTime(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return at.UnixMicro()
}

// PutInQuarantine quarantines selected entries that wait or are in processing, as
// [queue.OperatorStore] says.
func (s *Store) PutInQuarantine(ctx context.Context, sel queue.Selection, v queue.OperatorVerdict, after int64, limit int) (int, int64, error) {
	page, err := s.selectPage(ctx, sel, "select_entries", after, limit)
	call := operatorCall{action: seqlease.ActionQuarantine, note: sel.Note}
	n := 0
	if err == nil && len(page.ids) > 0 {
		err = s.write(ctx, func(ctx context.Context, t *tx) (err error) {
			if n, err = putInQuarantine(ctx, t, page, sel, v); err != nil || n == 0 {
				return err
			}
			return call.count(ctx, t, page.organism.id, n)
		})
	}
	if err != nil {
		return 0, 0, fmt.Errorf("quarantine entries of %s: %w", sel.Organism, err)
	}
	call.committed(n)
	return n, page.last, nil
}

func putInQuarantine(ctx context.Context, t *tx, page selection, sel queue.Selection, v queue.OperatorVerdict) (int, error) {
	var now int64
	if err := t.row(ctx, "now", nil, &now); err != nil {
		return 0, err
	}
	args := append(page.args(sel), named("now", now, "by", v.By, "reason", shorten(v.Reason))...)
	put, err := readPlaces(ctx, t, "put_in_quarantine", args)
	if err != nil || len(put) == 0 {
		return 0, err
	}
	for version, ids := range idsByVersion(put) {
		if err := returnTurns(ctx, t, version, ids); err != nil {
			return 0, err
		}
	}
	results := make([]systemResult, len(put))
	for i, p := range put {
		if results[i], err = newSystemResult(p, v.Result); err != nil {
			return 0, err
		}
	}
	if err := storeSystemResults(ctx, t, results); err != nil {
		return 0, err
	}
	leased, err := readPlaces(ctx, t, "places_of", named("places", jsonPlaces(put)))
	if err != nil || len(leased) == 0 {
		return len(put), err
	}
	_, err = cut(ctx, t, leased, true)
	return len(put), err
}

// Requeue takes selected entries out of quarantine, as [queue.OperatorStore] says.
func (s *Store) Requeue(ctx context.Context, sel queue.Selection, after int64, limit int) (int, int64, error) {
	page, err := s.selectPage(ctx, sel, "select_quarantined", after, limit)
	call := operatorCall{action: seqlease.ActionRequeue, note: sel.Note}
	n := 0
	if err == nil && len(page.ids) > 0 {
		err = s.writeAndRing(ctx, func(ctx context.Context, t *tx, a *added) (err error) {
			if n, err = requeue(ctx, t, a, page, sel); err != nil || n == 0 {
				return err
			}
			return call.count(ctx, t, page.organism.id, n)
		})
	}
	if err != nil {
		return 0, 0, fmt.Errorf("requeue entries of %s: %w", sel.Organism, err)
	}
	call.committed(n)
	return n, page.last, nil
}

func requeue(ctx context.Context, t *tx, a *added, page selection, sel queue.Selection) (int, error) {
	places, err := readPlaces(ctx, t, "requeue_find", page.args(sel))
	if err != nil || len(places) == 0 {
		return 0, err
	}
	for version, ids := range idsByVersion(places) {
		if err := returnTurns(ctx, t, version, ids); err != nil {
			return 0, err
		}
	}
	list := named("places", jsonPlaces(places))
	for _, statement := range []string{"requeue_results", "end_quarantine"} {
		if _, err := t.exec(ctx, statement, list...); err != nil {
			return 0, err
		}
	}
	leased, err := readPlaces(ctx, t, "places_of", list) // they are processed again beside the quarantine
	if err != nil {
		return 0, err
	}
	if _, err := cut(ctx, t, leased, true); err != nil {
		return 0, err
	}
	if _, err := t.exec(ctx, "requeue_tickets", append(list, sql.Named("organism_id", page.organism.id))...); err != nil {
		return 0, err
	}
	queues := map[queueKey]int{}
	ids := make([]int64, len(places))
	for i, p := range places {
		queues[queueKey{page.organism.id, p.version}]++
		ids[i] = p.entryID
	}
	if _, err := t.exec(ctx, "note_turns", named("entry_ids", jsonIDs(ids))...); err != nil {
		return 0, err
	}
	if _, err := t.exec(ctx, "bump_released_by_places", list...); err != nil {
		return 0, err
	}
	return len(places), a.toAll(ctx, t, queues)
}

// Reprocess makes selected entries that have a present result wait beside it (V9),
// as [queue.OperatorStore] says.
func (s *Store) Reprocess(ctx context.Context, sel queue.Selection, after int64, limit int) (int, int64, error) {
	err := s.wantLive(ctx, sel.Organism, sel.PipelineVersion)
	if err != nil {
		return 0, 0, fmt.Errorf("reprocess entries of %s: %w", sel.Organism, err)
	}
	page, err := s.selectPage(ctx, sel, "select_entries", after, limit)
	call := operatorCall{action: seqlease.ActionReprocess, note: sel.Note}
	n := 0
	if err == nil && len(page.ids) > 0 {
		version := sel.PipelineVersion
		if version == 0 {
			version = page.organism.current
		}
		note := func(ctx context.Context, t *tx, n int) error { return call.count(ctx, t, page.organism.id, n) }
		n, err = s.enqueue(ctx, "reprocess_tickets", page.ids, note, named("organism_id", page.organism.id, "pipeline_version", int64(version))...)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("reprocess entries of %s: %w", sel.Organism, err)
	}
	call.committed(n)
	return n, page.last, nil
}

// wantLive returns [seqlease.ErrPipelineUnknown] for a version that nobody may claim
// with; 0 stands for the current one.
func (s *Store) wantLive(ctx context.Context, o seqlease.Organism, version seqlease.PipelineVersion) error {
	if version == 0 {
		return nil
	}
	live := false
	err := s.read(ctx, func(t *tx) error {
		row, err := organismState(ctx, t, o)
		if err != nil {
			return err
		}
		return t.row(ctx, "is_live", named("organism_id", row.id, "pipeline_version", int64(version)), &live)
	})
	if err == nil && !live {
		err = notLive(o, version)
	}
	return err
}

func notLive(o seqlease.Organism, version seqlease.PipelineVersion) error {
	return seqlease.Explain(seqlease.ErrPipelineUnknown, "pipeline version %d of %s is not registered, or is outdated", version, o)
}
