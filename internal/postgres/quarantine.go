package postgres

import (
	"context"
	_ "embed"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

//go:embed sql/spent_tickets.sql
var spentTicketsSQL string

//go:embed sql/take_spent.sql
var takeSpentSQL string

//go:embed sql/put_in_quarantine.sql
var putInQuarantineSQL string

// Spent returns tickets whose attempts or hand-outs are used up (L9), as
// [queue.KeeperStore] says.
func (s *Store) Spent(ctx context.Context, limit int) ([]queue.SpentTicket, error) {
	var list []queue.SpentTicket
	err := s.repeat(ctx, func() error {
		return s.change(ctx, func(tx pgx.Tx) error {
			rows, err := tx.Query(ctx, spentTicketsSQL, pgx.StrictNamedArgs{"limit": limit})
			if err != nil {
				return err
			}
			list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (t queue.SpentTicket, err error) {
				err = row.Scan(&t.Organism, &t.PipelineVersion, &t.Accession, &t.Version, &t.EntryID, &t.Revision, &t.Attempts, &t.HandOuts)
				return t, err
			})
			if err != nil || len(list) == 0 {
				return err
			}
			ids, versions, revisions := make([]int64, len(list)), make([]int64, len(list)), make([]int32, len(list))
			for i, t := range list {
				ids[i], versions[i], revisions[i] = t.EntryID, int64(t.PipelineVersion), int32(t.Revision)
			}
			failures, err := failuresOf(ctx, tx, ids, versions, revisions)
			for i := range list {
				list[i].Failures = failures[i]
			}
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list spent tickets: %w", err)
	}
	return list, nil
}

// Quarantine replaces spent tickets by their verdicts (L9), as
// [queue.KeeperStore] says. Each organism is a transaction of its own.
func (s *Store) Quarantine(ctx context.Context, verdicts []queue.Verdict) (int, error) {
	byOrganism := map[seqlease.Organism][]queue.Verdict{}
	for _, v := range verdicts {
		byOrganism[v.Organism] = append(byOrganism[v.Organism], v)
	}
	quarantined := 0
	for key, list := range byOrganism {
		o, err := s.organism(ctx, key)
		if err != nil {
			return quarantined, err
		}
		n, err := s.quarantineSpent(ctx, o.id, list)
		if err != nil {
			return quarantined, fmt.Errorf("quarantine %d entries of %s: %w", len(list), key, err)
		}
		quarantined += n
	}
	return quarantined, nil
}

func (s *Store) quarantineSpent(ctx context.Context, organismID int32, verdicts []queue.Verdict) (n int, err error) {
	var c candidates
	var versions []int64
	var attempts, handOuts []int32
	verdictOf := make(map[queuePlace]queue.Verdict, len(verdicts))
	for _, v := range verdicts {
		p := queuePlace{v.EntryID, int64(v.PipelineVersion), int32(v.Attempts), int32(v.HandOuts)}
		verdictOf[queuePlace{id: p.id, version: p.version}] = v
		c.ids, c.revisions = append(c.ids, p.id), append(c.revisions, int32(v.Revision))
		versions, attempts, handOuts = append(versions, p.version), append(attempts, p.attempts), append(handOuts, p.handOuts)
	}
	err = s.retry(ctx, func() error {
		return s.change(ctx, func(tx pgx.Tx) error {
			locked, err := c.lock(ctx, tx)
			if err != nil {
				return err
			}
			ids := slices.Clone(c.ids)
			for i, id := range ids {
				if _, found := slices.BinarySearch(locked, id); !found {
					ids[i] = 0 // no entry's
				}
			}
			rows, err := tx.Query(ctx, takeSpentSQL, pgx.StrictNamedArgs{
				"organism": organismID, "ids": ids, "versions": versions, "attempts": attempts, "hand_outs": handOuts,
			})
			if err != nil {
				return err
			}
			var b quarantineRows
			var p queuePlace
			_, err = pgx.ForEachRow(rows, []any{&p.version, &p.id}, func() error {
				v := verdictOf[p]
				b.add(queuePlace{p.id, p.version, int32(v.Attempts), int32(v.HandOuts)}, v.Reason, v.Result)
				return nil
			})
			if err != nil {
				return err
			}
			n = len(b.ids)
			return b.store(ctx, tx, organismID, "")
		})
	})
	return n, err
}

// quarantineRows are verdicts on entries that are locked and out of the queue.
// The slices are parallel.
type quarantineRows struct {
	ids, versions      []int64
	attempts, handOuts []int32
	attemptIDs         []pgtype.UUID // of the system's results
	reasons            []string
	dictionaries       []int64
	digests, bodies    [][]byte
}

func (r *quarantineRows) add(p queuePlace, reason string, result queue.PackedResult) {
	r.ids, r.versions = append(r.ids, p.id), append(r.versions, p.version)
	r.attempts, r.handOuts = append(r.attempts, p.attempts), append(r.handOuts, p.handOuts)
	r.attemptIDs = append(r.attemptIDs, uuid(seqlease.NewAttemptID()))
	r.reasons, r.dictionaries = append(r.reasons, reason), append(r.dictionaries, result.Dictionary)
	r.digests, r.bodies = append(r.digests, result.Digest[:]), append(r.bodies, result.Bytes)
}

// store writes them. What is released changes only if a released entry gets one
// under the current version.
func (r *quarantineRows) store(ctx context.Context, tx pgx.Tx, organismID int32, operator string) error {
	if len(r.ids) == 0 {
		return nil
	}
	var released bool
	err := tx.QueryRow(ctx, putInQuarantineSQL, pgx.StrictNamedArgs{
		"organism": organismID, "operator": operator, "ids": r.ids, "versions": r.versions, "attempts": r.attempts, "hand_outs": r.handOuts,
		"attempt_ids": r.attemptIDs, "reasons": r.reasons, "dictionaries": r.dictionaries, "digests": r.digests, "bodies": r.bodies,
	}).Scan(&released)
	if err != nil || !released {
		return err
	}
	_, err = tx.Exec(ctx, bumpSQL, pgx.StrictNamedArgs{"organism": organismID, "queues": false, "released": true})
	return err
}
