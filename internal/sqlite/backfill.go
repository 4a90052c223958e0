package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/reprocess"
)

// backfillEntries is how many entries a chunk looks at at most, so that it doesn't
// keep other writers waiting for long.
const backfillEntries = 2000

// Backfill adds a chunk of tickets (V3), as [reprocess.Store] says. Looking needs
// no writer; what was found is tested again when it is written, and of several at
// once one writes. One pass completes it: whoever writes after the registration
// sees the version.
func (s *Store) Backfill(ctx context.Context, o seqlease.Organism, version seqlease.PipelineVersion, limit int) (reprocess.Chunk, error) {
	var chunk reprocess.Chunk
	page, err := s.backfillPage(ctx, o, version, min(limit, backfillEntries))
	if err == nil && page.unfinished {
		err = s.writeAndRing(ctx, func(ctx context.Context, t *tx, a *added) (err error) {
			chunk, err = page.fill(ctx, t, a)
			return err
		})
	}
	if err != nil {
		return reprocess.Chunk{}, fmt.Errorf("backfill version %d of %s: %w", version, o, storeError(err))
	}
	return chunk, nil
}

// backfillPage is what a chunk looks at.
type backfillPage struct {
	organismID, version int64
	unfinished          bool // else there is nothing to do
	ids                 []int64
	whole               bool // there may be more behind it
	after, last         seqlease.AccessionVersion
}

// backfillPage reads the next page of the version's backfill.
func (s *Store) backfillPage(ctx context.Context, o seqlease.Organism, version seqlease.PipelineVersion, limit int) (backfillPage, error) {
	p := backfillPage{version: int64(version)}
	err := s.read(ctx, func(t *tx) error {
		var accession sql.NullString
		var number sql.NullInt64
		err := t.row(ctx, "backfill_place", named("organism", string(o), "pipeline_version", p.version), &p.organismID, &accession, &number)
		if errors.Is(err, sql.ErrNoRows) {
			return queue.UnknownOrganism(o)
		}
		if err != nil || !accession.Valid {
			return err
		}
		p.unfinished = true
		p.after = seqlease.AccessionVersion{Accession: seqlease.Accession(accession.String), Version: seqlease.Version(number.Int64)}
		p.last = p.after
		args := append(p.args("organism_id", "after_accession", "after_version"), sql.Named("limit", int64(limit)))
		return t.rows(ctx, "backfill_page", args, func(scan func(...any) error) error {
			var id int64
			err := scan(&id, &p.last.Accession, &p.last.Version)
			p.ids = append(p.ids, id)
			return err
		})
	})
	p.whole = len(p.ids) == limit
	return p, err
}

// args are the arguments of these names.
func (p backfillPage) args(names ...string) []any {
	all := map[string]any{
		"organism_id": p.organismID, "pipeline_version": p.version,
		"after_accession": string(p.after.Accession), "after_version": int64(p.after.Version),
		"last_accession": string(p.last.Accession), "last_version": int64(p.last.Version),
	}
	args := make([]any, len(names))
	for i, name := range names {
		args[i] = sql.Named(name, all[name])
	}
	return args
}

// fill writes the tickets of the page that are missing, unless somebody else did.
func (p backfillPage) fill(ctx context.Context, t *tx, a *added) (reprocess.Chunk, error) {
	of := p.args("organism_id", "pipeline_version")
	moved, err := t.exec(ctx, "backfill_move", p.args("organism_id", "pipeline_version", "after_accession", "after_version", "last_accession", "last_version")...)
	if err != nil || moved == 0 {
		return reprocess.Chunk{Progress: reprocess.Busy}, err
	}
	chunk := reprocess.Chunk{Progress: reprocess.More}
	if !p.whole {
		chunk.Progress = reprocess.Complete
		if _, err := t.exec(ctx, "backfill_end", of...); err != nil {
			return chunk, err
		}
	}
	ids := sql.Named("entry_ids", jsonIDs(p.ids))
	n, err := t.exec(ctx, "backfill_tickets", append(of, ids)...)
	if chunk.Tickets = int(n); err != nil || n == 0 {
		return chunk, err
	}
	if _, err := t.exec(ctx, "backfill_turns", append(p.args("pipeline_version"), ids)...); err != nil {
		return chunk, err
	}
	return chunk, a.to(ctx, t, p.organismID, p.version)
}

// Unfinished lists the backfills that aren't complete.
func (s *Store) Unfinished(ctx context.Context) ([]reprocess.Version, error) {
	var list []reprocess.Version
	err := s.readOnce().rows(ctx, "backfill_unfinished", nil, func(scan func(...any) error) error {
		var v reprocess.Version
		err := scan(&v.Organism, &v.PipelineVersion)
		list = append(list, v)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list unfinished backfills: %w", storeError(err))
	}
	return list, nil
}
