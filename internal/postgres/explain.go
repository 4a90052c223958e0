package postgres

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

//go:embed sql/explain_missing.sql
var explainMissingSQL string

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
		line := missing[k.Number-1]
		if reason, detail := k.refuse(r, line); reason != "" {
			refused = append(refused, seqlease.Refusal{AccessionVersion: line.AccessionVersion, Line: line.Number, Reason: reason, Detail: detail})
		}
	}
	return refused, nil
}

// refuse returns the reason and what to do, or nothing for a repetition.
func (k missingLine) refuse(r queue.Submission, line queue.Line) (seqlease.RefusalReason, string) {
	switch {
	case k.Organism == nil:
		return seqlease.RefusedNotFound, fmt.Sprintf("%s doesn't exist, or was deleted; drop the result", line.AccessionVersion)
	case *k.Organism != string(r.Organism):
		return seqlease.RefusedWrongOrganism, fmt.Sprintf("%s is of organism %s, not %s; send its result there", line.AccessionVersion, *k.Organism, r.Organism)
	case k.Stored && k.Same:
		return "", ""
	case k.Stored:
		return seqlease.RefusedDifferentResults, fmt.Sprintf("a different result of %s was accepted from this attempt; it stays", line.AccessionVersion)
	case k.Edited:
		return seqlease.RefusedEdited, fmt.Sprintf("%s was edited after it was claimed; drop the result and claim it again", line.AccessionVersion)
	case k.EndedAt != nil:
		return seqlease.RefusedLeaseLost, fmt.Sprintf("the lease of attempt %s ended at %s; claim the entry again, and renew the lease in time",
			line.AttemptID, k.EndedAt.UTC().Format(time.RFC3339))
	case k.ClaimedVersion != nil:
		return seqlease.RefusedLeaseLost, fmt.Sprintf("attempt %s claimed for pipeline version %d, not %d; send the result with that version",
			line.AttemptID, *k.ClaimedVersion, r.PipelineVersion)
	default:
		return seqlease.RefusedLeaseLost, fmt.Sprintf("attempt %s of this user doesn't hold %s any more, or never did; claim the entry again",
			line.AttemptID, line.AccessionVersion)
	}
}
