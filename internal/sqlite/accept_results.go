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

// maxBodies bounds the bytes that one statement takes: SQLite allows 1 GB.
const maxBodies = 64 << 20

// lineSet is a run of lines as two arguments: a JSON list with one list for each
// line, and the bodies one after the other.
type lineSet struct {
	lines  string
	bodies []byte
}

// AcceptResults stores the results of entries that the attempts hold (L3, L5,
// L10), or nothing. A repetition of what is stored is no fault (L6). The error
// is a [*seqlease.RefusedError] with every refused line in line order.
func (s *Store) AcceptResults(ctx context.Context, r queue.Submission) error {
	sets := lineSets(r.Lines)
	refused := append(slices.Clone(r.Invalid), duplicates(r.Lines)...)
	err := s.write(ctx, func(ctx context.Context, t *tx) error { return acceptResults(ctx, t, r, sets, refused) })
	if err != nil {
		return fmt.Errorf("accept results for %s v%d: %w", r.Organism, r.PipelineVersion, err)
	}
	return nil
}

func acceptResults(ctx context.Context, t *tx, r queue.Submission, sets []lineSet, refused []seqlease.Refusal) error {
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
		if stored, err = storeResults(ctx, t, sets, fence); err != nil {
			return err
		}
	}
	if len(refused) > 0 || stored < int64(len(r.Lines)) {
		judged, err := judge(ctx, t, r, sets, fence)
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
	attempts := attemptIDs(r.Lines)
	if _, err := t.exec(ctx, "cut_accepted", named("attempt_ids", jsonTexts(attempts))...); err != nil {
		return err
	}
	if err := dropEmptyLeases(ctx, t, attempts); err != nil {
		return err
	}
	if r.PipelineVersion != o.current {
		return nil
	}
	for _, set := range sets {
		bumped, err := t.exec(ctx, "bump_released_by_results", sql.Named("organism_id", o.id), sql.Named("lines", set.lines))
		if err != nil || bumped > 0 {
			return err
		}
	}
	return nil
}

// storeResults returns how many lines were held and are stored by now.
func storeResults(ctx context.Context, t *tx, sets []lineSet, fence []any) (int64, error) {
	var stored int64
	for _, set := range sets {
		n, err := t.exec(ctx, "accept_results", append(slices.Clone(fence),
			sql.Named("lines", set.lines), sql.Named("bodies", set.bodies))...)
		if err != nil {
			return 0, err
		}
		stored += n
	}
	return stored, nil
}

// judge returns the lines that are neither held nor stored, with reasons.
func judge(ctx context.Context, t *tx, r queue.Submission, sets []lineSet, fence []any) ([]seqlease.Refusal, error) {
	var refused []seqlease.Refusal
	for _, set := range sets {
		args := append(slices.Clone(fence), sql.Named("lines", set.lines))
		err := t.rows(ctx, "judge_results", args, func(scan func(...any) error) error {
			var f seqlease.Refusal
			var of seqlease.Organism
			if err := scan(&f.Line, &f.Accession, &f.Version, &of, &f.Reason); err != nil {
				return err
			}
			f.Detail = refusalDetail(f, r.Organism, of)
			refused = append(refused, f)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return refused, nil
}

// refusalDetail says what is wrong and what to do.
func refusalDetail(f seqlease.Refusal, asked, of seqlease.Organism) string {
	switch f.Reason {
	case seqlease.RefusedNotFound:
		return fmt.Sprintf("there is no entry version %s; it may have been deleted: drop the result", f.AccessionVersion)
	case seqlease.RefusedWrongOrganism:
		return fmt.Sprintf("%s is of organism %s, not %s: send the result there", f.AccessionVersion, of, asked)
	case seqlease.RefusedEdited:
		return fmt.Sprintf("%s was edited after it was claimed: drop the result, the entry is handed out again", f.AccessionVersion)
	case seqlease.RefusedDifferentResults:
		return fmt.Sprintf("this attempt has sent another result for %s already, which stays", f.AccessionVersion)
	default:
		return fmt.Sprintf("%s is not held by this attempt: its lease has ended or was given back, or the attempt id or "+
			"the user isn't the claim's; drop the result, the entry is handed out again", f.AccessionVersion)
	}
}

// duplicates refuses every line for an entry that an earlier line is for.
func duplicates(lines []queue.Line) []seqlease.Refusal {
	var refused []seqlease.Refusal
	first := make(map[seqlease.AccessionVersion]int, len(lines))
	for _, l := range lines {
		number, repeated := first[l.AccessionVersion]
		if !repeated {
			first[l.AccessionVersion] = l.Number
			continue
		}
		refused = append(refused, seqlease.Refusal{
			AccessionVersion: l.AccessionVersion, Line: l.Number, Reason: seqlease.RefusedDuplicate,
			Detail: fmt.Sprintf("line %d has a result for %s already: send one", number, l.AccessionVersion),
		})
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

// lineSets makes arguments of the lines. The statements name the positions:
// number, accession, version, attempt id, outcome, digest, dictionary, start of
// the body (from 1), length of the body.
func lineSets(lines []queue.Line) []lineSet {
	var sets []lineSet
	for rest := lines; len(rest) > 0; {
		size, n := 0, 0
		for n < len(rest) && (n == 0 || size+len(rest[n].Packed.Bytes) <= maxBodies) {
			size += len(rest[n].Packed.Bytes)
			n++
		}
		bodies := make([]byte, 0, size)
		list := make([]byte, 0, 160*n)
		for i, l := range rest[:n] {
			list = appendLine(append(list, separator(i)), l, len(bodies)+1)
			bodies = append(bodies, l.Packed.Bytes...)
		}
		sets = append(sets, lineSet{lines: string(append(list, ']')), bodies: bodies})
		rest = rest[n:]
	}
	return sets
}

func appendLine(b []byte, l queue.Line, start int) []byte {
	b = strconv.AppendInt(append(b, '['), int64(l.Number), 10)
	b = appendText(append(b, ','), string(l.Accession))
	b = strconv.AppendInt(append(b, ','), int64(l.Version), 10)
	b = append(hex.AppendEncode(append(b, ',', '"'), l.AttemptID[:]), '"')
	b = appendText(append(b, ','), string(l.Result))
	b = append(hex.AppendEncode(append(b, ',', '"'), l.Digest[:]), '"')
	b = strconv.AppendInt(append(b, ','), l.Packed.Dictionary, 10)
	b = strconv.AppendInt(append(b, ','), int64(start), 10)
	return append(strconv.AppendInt(append(b, ','), int64(len(l.Packed.Bytes)), 10), ']')
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
