package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// AcceptResults stores the results of entries that the attempts hold (L3, L5,
// L10): all or nothing, or with r.Skip line by line, as [queue.Store] says. A
// repetition of what is stored is no fault (L6).
func (s *Store) AcceptResults(ctx context.Context, r queue.Submission) (queue.Accepted, error) {
	repeated := duplicates(r.Lines)
	refused := slices.Concat(r.Invalid, repeated)
	lines := r.Lines
	if r.Skip {
		lines = without(r.Lines, repeated)
	}
	var judged []seqlease.Refusal
	err := s.writeMuch(ctx, storedBytes(lines), func(ctx context.Context, t *tx) (err error) {
		judged, err = acceptResults(ctx, t, r, lines, r.Skip || len(refused) == 0)
		if err == nil && s.changes.wanted(r.Organism) {
			for _, l := range lines {
				s.changes.note(r.Organism, l.AccessionVersion)
			}
		}
		return err
	})
	if err == nil || errors.Is(err, errRefused) {
		refused = mergeRefusals(refused, judged)
		s.noteRefusals(ctx, r, refused)
	}
	switch {
	case errors.Is(err, errRefused):
		err = &seqlease.RefusedError{Refused: refused}
	case err == nil && r.Skip:
		return queue.Accepted{Stored: len(lines) - len(judged), Refused: refused}, nil
	case err == nil:
		return queue.Accepted{Stored: len(lines)}, nil
	}
	return queue.Accepted{}, fmt.Errorf("accept results for %s v%d: %w", r.Organism, r.PipelineVersion, err)
}

// rowBytes is about what a row takes beside its document.
const rowBytes = 200

// storedBytes is about how many bytes the lines are in the database.
func storedBytes(lines []queue.Line) int {
	bytes := len(lines) * rowBytes
	for _, l := range lines {
		bytes += len(l.Packed.Bytes)
	}
	return bytes
}

// errRefused undoes a submission of which a line was refused.
var errRefused = errors.New("refused")

// acceptState is the queue of a pipeline version as a submission finds it.
type acceptState struct {
	organismRow
	quarantine bool // an entry of the organism is in quarantine
}

// acceptResults stores the lines that are held and returns the others, with
// [errRefused] if they are a fault. With store false all are a fault and it only
// tells which lines would be refused too.
func acceptResults(ctx context.Context, t *tx, r queue.Submission, lines []queue.Line, store bool) ([]seqlease.Refusal, error) {
	var state acceptState
	err := t.row(ctx, "accept_state", named("organism", string(r.Organism)), &state.id, &state.current, &state.quarantine, &state.now)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, queue.UnknownOrganism(r.Organism)
	}
	if err != nil {
		return nil, err
	}
	fence := []any{
		sql.Named("organism_id", state.id), sql.Named("pipeline_version", int64(r.PipelineVersion)),
		sql.Named("claimed_by", r.ClaimedBy), sql.Named("now", state.now),
	}
	var stored []accepted
	if store {
		if stored, err = storeResults(ctx, t, lines, fence); err != nil {
			return nil, err
		}
	}
	n := 0
	for _, a := range stored {
		n += a.stored
	}
	var judged []seqlease.Refusal
	if n < len(lines) {
		if judged, err = judge(ctx, t, r, lines, fence); err != nil {
			return nil, err
		}
	}
	if !r.Skip && (len(judged) > 0 || !store) {
		return judged, errRefused
	}
	for _, a := range stored {
		if err := a.leave(ctx, t, state, r.PipelineVersion); err != nil {
			return nil, err
		}
	}
	return judged, nil
}

// without leaves out the lines that were refused.
func without(lines []queue.Line, refused []seqlease.Refusal) []queue.Line {
	if len(refused) == 0 {
		return lines
	}
	numbers := make(map[int]bool, len(refused))
	for _, r := range refused {
		numbers[r.Line] = true
	}
	return slices.DeleteFunc(slices.Clone(lines), func(l queue.Line) bool { return numbers[l.Number] })
}

// storeResults stores the lines that are held, those of one attempt at a time.
func storeResults(ctx context.Context, t *tx, lines []queue.Line, fence []any) ([]accepted, error) {
	var all []accepted
	for id, some := range byAttempt(lines) {
		n, err := t.execRows(ctx, "accept_results", len(some), func(values []any, i int) []any {
			l := some[i]
			return append(values, string(l.Accession), int64(l.Version), string(l.Result), l.Digest[:], l.Packed.Dictionary, l.Packed.Bytes)
		}, append(fence[:len(fence):len(fence)], attempt(id))...)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			all = append(all, accepted{attempt: id, lines: some, stored: int(n)})
		}
	}
	return all, nil
}

// judge returns the lines that are neither held nor stored, with reasons. It asks
// for some at a time, which bounds the memory that it takes.
func judge(ctx context.Context, t *tx, r queue.Submission, lines []queue.Line, fence []any) ([]seqlease.Refusal, error) {
	var refused []seqlease.Refusal
	for some := range slices.Chunk(lines, judgedLines) {
		more, err := judgeSome(ctx, t, r, some, fence)
		if err != nil {
			return nil, err
		}
		refused = append(refused, more...)
	}
	return refused, nil
}

// judgedLines is how many lines are judged at a time.
const judgedLines = 5000

func judgeSome(ctx context.Context, t *tx, r queue.Submission, lines []queue.Line, fence []any) ([]seqlease.Refusal, error) {
	var refused []seqlease.Refusal
	args := append(slices.Clone(fence), sql.Named("lines", jsonLines(lines)))
	err := t.rows(ctx, "judge_results", args, func(scan func(...any) error) error {
		var place int
		var of seqlease.Organism
		var reason seqlease.RefusalReason
		var endedAt, claimedVersion sql.NullInt64
		if err := scan(&place, &of, &reason, &endedAt, &claimedVersion); err != nil {
			return err
		}
		line := lines[place]
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
