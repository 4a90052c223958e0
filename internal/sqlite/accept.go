package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// AcceptResults stores the results of entries that the attempts hold (L3, L5,
// L10), or nothing. A repetition of what is stored is no fault (L6). The error
// is a [*seqlease.RefusedError] with every refused line in line order.
func (s *Store) AcceptResults(ctx context.Context, r queue.Submission) (queue.Accepted, error) {
	refused := append(slices.Clone(r.Invalid), duplicates(r.Lines)...)
	err := s.write(ctx, func(ctx context.Context, t *tx) error { return acceptResults(ctx, t, r, refused) })
	if err != nil {
		return queue.Accepted{}, fmt.Errorf("accept results for %s v%d: %w", r.Organism, r.PipelineVersion, err)
	}
	return queue.Accepted{Stored: len(r.Lines)}, nil
}

func acceptResults(ctx context.Context, t *tx, r queue.Submission, refused []seqlease.Refusal) error {
	o, err := organismState(ctx, t, r.Organism)
	if err != nil {
		return err
	}
	fence := []any{
		sql.Named("organism_id", o.id), sql.Named("pipeline_version", int64(r.PipelineVersion)),
		sql.Named("claimed_by", r.ClaimedBy), sql.Named("now", o.now),
	}
	stored := int64(0)
	if len(refused) == 0 {
		if stored, err = storeResults(ctx, t, r.Lines, fence); err != nil {
			return err
		}
	}
	if len(refused) > 0 || stored < int64(len(r.Lines)) {
		judged, err := judge(ctx, t, r, fence)
		if err != nil {
			return err
		}
		if refused = mergeRefusals(refused, judged); len(refused) > 0 {
			return &seqlease.RefusedError{Refused: refused}
		}
	}
	if stored == 0 {
		return nil
	}
	attempts := jsonTexts(attemptIDs(r.Lines))
	if r.PipelineVersion == o.current {
		if _, err := t.exec(ctx, "bump_released_by_results", named("organism_id", o.id, "attempt_ids", attempts)...); err != nil {
			return err
		}
	}
	for _, statement := range []string{"cut_accepted", "drop_empty_leases"} {
		if _, err := t.exec(ctx, statement, named("attempt_ids", attempts)...); err != nil {
			return err
		}
	}
	return nil
}

// storeResults returns how many lines were held and are stored by now.
func storeResults(ctx context.Context, t *tx, lines []queue.Line, fence []any) (int64, error) {
	return t.execRows(ctx, "accept_results", len(lines), func(values []any, i int) []any {
		l := &lines[i]
		return append(values, string(l.Accession), int64(l.Version), l.AttemptID[:], string(l.Result), l.Digest[:],
			l.Packed.Dictionary, l.Packed.Bytes)
	}, fence...)
}

// judge returns the lines that are neither held nor stored, with reasons.
func judge(ctx context.Context, t *tx, r queue.Submission, fence []any) ([]seqlease.Refusal, error) {
	var refused []seqlease.Refusal
	args := append(slices.Clone(fence), sql.Named("lines", jsonLines(r.Lines)))
	err := t.rows(ctx, "judge_results", args, func(scan func(...any) error) error {
		var place int
		var of seqlease.Organism
		var reason seqlease.RefusalReason
		var endedAt, claimedVersion sql.NullInt64
		if err := scan(&place, &of, &reason, &endedAt, &claimedVersion); err != nil {
			return err
		}
		line := r.Lines[place]
		switch reason {
		case seqlease.RefusedNotFound:
			refused = append(refused, queue.RefuseNotFound(line))
		case seqlease.RefusedWrongOrganism:
			refused = append(refused, queue.RefuseWrongOrganism(line, r.Organism, of))
		case seqlease.RefusedEdited:
			refused = append(refused, queue.RefuseEdited(line))
		case seqlease.RefusedDifferentResults:
			refused = append(refused, queue.RefuseDifferent(line))
		default:
			lost := queue.LostLease{ClaimedVersion: seqlease.PipelineVersion(claimedVersion.Int64)}
			if endedAt.Valid {
				lost.EndedAt = instant(endedAt.Int64)
			}
			refused = append(refused, queue.RefuseLost(line, r.PipelineVersion, lost))
		}
		return nil
	})
	return refused, err
}

// duplicates refuses every line for an entry that an earlier line is for.
func duplicates(lines []queue.Line) []seqlease.Refusal {
	var refused []seqlease.Refusal
	first := make(map[seqlease.AccessionVersion]int, len(lines))
	for _, l := range lines {
		if number, repeated := first[l.AccessionVersion]; repeated {
			refused = append(refused, queue.RefuseDuplicate(l.AccessionVersion, l.Number, number))
			continue
		}
		first[l.AccessionVersion] = l.Number
	}
	return refused
}

// mergeRefusals puts the refusals in line order. A line that was refused before
// it was judged keeps its first reason.
func mergeRefusals(before, judged []seqlease.Refusal) []seqlease.Refusal {
	all := slices.Concat(before, judged)
	slices.SortStableFunc(all, func(a, b seqlease.Refusal) int { return cmp.Compare(a.Line, b.Line) })
	return slices.CompactFunc(all, func(a, b seqlease.Refusal) bool { return a.Line == b.Line })
}

// jsonLines writes what it takes to judge the lines, in their order:
// [["ACC",version,"attempt id","digest"],…], the last two in hexadecimal.
func jsonLines(lines []queue.Line) string {
	return jsonList(lines, func(b []byte, l queue.Line) []byte {
		b = appendText(append(b, '['), l.Accession)
		b = strconv.AppendInt(append(b, ','), int64(l.Version), 10)
		b = append(hex.AppendEncode(append(b, ',', '"'), l.AttemptID[:]), '"')
		return append(hex.AppendEncode(append(b, ',', '"'), l.Digest[:]), '"', ']')
	})
}

// attemptIDs lists the attempts of the lines once each, in hexadecimal.
func attemptIDs(lines []queue.Line) []string {
	var ids []string
	seen := map[seqlease.AttemptID]bool{}
	for _, l := range lines {
		if !seen[l.AttemptID] {
			seen[l.AttemptID] = true
			ids = append(ids, hex.EncodeToString(l.AttemptID[:]))
		}
	}
	return ids
}
