package postgres

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

//go:embed sql/explain_missing.sql
var explainMissingSQL string

//go:embed sql/organisms_of.sql
var organismsOfSQL string

// OrganismsOf returns of which organisms the entries are, as [queue.Store] says.
func (s *Store) OrganismsOf(ctx context.Context, entries []seqlease.AccessionVersion) (map[seqlease.AccessionVersion]seqlease.Organism, error) {
	accessions, versions := columns(entries)
	organisms := make(map[seqlease.AccessionVersion]seqlease.Organism, len(entries))
	err := s.repeat(ctx, func() error {
		return s.with(ctx, func(c *pgxpool.Conn) error {
			arguments := pgx.StrictNamedArgs{"accessions": accessions, "versions": versions}
			return withSettings(ctx, c, planSettingsSQL, organismsOfSQL, arguments, func(rows pgx.Rows) error {
				var av seqlease.AccessionVersion
				var of seqlease.Organism
				_, err := pgx.ForEachRow(rows, []any{&av.Accession, &av.Version, &of}, func() error {
					organisms[av] = of
					return nil
				})
				return err
			})
		})
	})
	if err != nil {
		return nil, fmt.Errorf("organisms of %d entries: %w", len(entries), err)
	}
	return organisms, nil
}

// missingLine is what is known of a result line that no running lease holds.
type missingLine struct {
	Number         int32
	Organism       *string // of the entry; nil: there is no such entry
	Stored, Same   bool    // there is a result of this attempt, the same one
	Edited         bool
	EndedAt        *time.Time
	ClaimedVersion *int64
}

// explainMissing says for each line why it is refused; one that is stored
// already as it is, by the same attempt and user, isn't (L6).
func explainMissing(ctx context.Context, tx pgx.Tx, r queue.Submission, missing []queue.Line) ([]seqlease.Refusal, error) {
	if len(missing) == 0 {
		return nil, nil
	}
	attempts, accessions, versions, digests := lineKeys(missing)
	rows, err := tx.Query(ctx, explainMissingSQL, pgx.StrictNamedArgs{
		"version": int64(r.PipelineVersion), "claimed_by": r.ClaimedBy, "claimed_by_sum": nameSum(r.ClaimedBy),
		"attempts": attempts, "accessions": accessions, "versions": versions, "digests": digests,
	})
	if err != nil {
		return nil, err
	}
	known, err := pgx.CollectRows(rows, pgx.RowToStructByPos[missingLine])
	if err != nil {
		return nil, err
	}
	var refused []seqlease.Refusal
	for _, k := range known {
		if refusal, refuses := k.refuse(r, missing[k.Number-1]); refuses {
			refused = append(refused, refusal)
		}
	}
	return refused, nil
}

// refuse returns the refusal; there is none for a repetition.
func (k missingLine) refuse(r queue.Submission, line queue.Line) (refusal seqlease.Refusal, refuses bool) {
	switch {
	case k.Organism == nil:
		return queue.RefuseNotFound(line), true
	case *k.Organism != string(r.Organism):
		return queue.RefuseWrongOrganism(line, r.Organism, seqlease.Organism(*k.Organism)), true
	case k.Stored && k.Same:
		return seqlease.Refusal{}, false
	case k.Stored:
		return queue.RefuseDifferent(line), true
	case k.Edited:
		return queue.RefuseEdited(line), true
	}
	var lost queue.LostLease
	if k.EndedAt != nil {
		lost.EndedAt = *k.EndedAt
	}
	if k.ClaimedVersion != nil {
		lost.ClaimedVersion = seqlease.PipelineVersion(*k.ClaimedVersion)
	}
	return queue.RefuseLost(line, r.PipelineVersion, lost), true
}
