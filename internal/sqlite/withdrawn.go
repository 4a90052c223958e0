package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
)

// idRun is a run of entry ids.
type idRun struct{ first, last int64 }

func (r idRun) size() int { return int(r.last - r.first + 1) }

// runsOf are the runs of the entries, which are in order of id.
func runsOf(entries []namedEntry) []idRun {
	var runs []idRun
	for _, e := range entries {
		if n := len(runs); n > 0 && runs[n-1].last == e.id-1 {
			runs[n-1].last = e.id
		} else {
			runs = append(runs, idRun{e.id, e.id})
		}
	}
	return runs
}

// withinPart is the last entry of the first runs that are no more than a part together.
func withinPart(runs []idRun) (last int64) {
	entries := 0
	for _, r := range runs {
		if entries += r.size(); entries > partEntries && last > 0 {
			break
		}
		last = r.last
	}
	return last
}

// nextRuns reads the first runs of what is under way: as many as a part has at most.
func nextRuns(ctx context.Context, t *tx, statement string, of []any) (runs []idRun, err error) {
	err = t.rows(ctx, statement, append(of, named("runs", int64(partEntries))...), func(scan func(...any) error) error {
		var r idRun
		err := scan(&r.first, &r.last)
		runs = append(runs, r)
		return err
	})
	return runs, err
}

// untilNone carries out transactions until one says that there are no more.
func (s *Store) untilNone(ctx context.Context, one func(ctx context.Context, t *tx) (more bool, err error)) error {
	for more := true; more; {
		err := s.writeLosing(ctx, func(ctx context.Context, t *tx) (err error) {
			more, err = one(ctx, t)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// jsonRuns writes [[first,last],…].
func jsonRuns(runs []idRun) string {
	return jsonList(runs, func(b []byte, r idRun) []byte {
		b = strconv.AppendInt(append(b, '['), r.first, 10)
		return append(strconv.AppendInt(append(b, ','), r.last, 10), ']')
	})
}

// ticketRunOf is a run of tickets of a pipeline version that aren't written out.
type ticketRunOf struct {
	version int64
	idRun
	rank int64 // of the first
}

// jsonTicketRuns writes [[version,first,last,rank],…].
func jsonTicketRuns(runs []ticketRunOf) string {
	return jsonList(runs, func(b []byte, r ticketRunOf) []byte {
		b = strconv.AppendInt(append(b, '['), r.version, 10)
		for _, v := range []int64{r.first, r.last, r.rank} {
			b = strconv.AppendInt(append(b, ','), v, 10)
		}
		return append(b, ']')
	})
}

// piece is the part of the run between two ids.
func (r ticketRunOf) piece(first, last int64) ticketRunOf {
	return ticketRunOf{version: r.version, idRun: idRun{first, last}, rank: r.rank + first - r.first}
}

// cut divides the run into what lies in the others, which are in order, and the rest.
func (r ticketRunOf) cut(others []idRun) (inside, outside []ticketRunOf) {
	next := r.first
	for _, o := range others {
		first, last := max(o.first, next), min(o.last, r.last)
		if first > last {
			continue
		}
		if first > next {
			outside = append(outside, r.piece(next, first-1))
		}
		inside = append(inside, r.piece(first, last))
		next = last + 1
	}
	if next <= r.last {
		outside = append(outside, r.piece(next, r.last))
	}
	return inside, outside
}

// cutTicketRuns puts aside what the runs of tickets have of the deletion's runs.
func (del *largeDeletion) cutTicketRuns(ctx context.Context, t *tx, runs []idRun) (cut bool, err error) {
	organism := named("organism_id", del.organism.id)
	bounds := named("first_entry_id", runs[0].first, "last_entry_id", runs[len(runs)-1].last)
	var before, inside, outside []ticketRunOf
	err = t.rows(ctx, "deletion_ticket_runs", append(bounds, organism...), func(scan func(...any) error) error {
		var r ticketRunOf
		err := scan(&r.version, &r.first, &r.last, &r.rank)
		if in, out := r.cut(runs); len(in) > 0 {
			before, inside, outside = append(before, r), append(inside, in...), append(outside, out...)
		}
		return err
	})
	if err != nil || len(before) == 0 {
		return false, err
	}
	if _, err := t.exec(ctx, "deletion_cut_runs", named("ticket_runs", jsonTicketRuns(before))...); err != nil {
		return false, err
	}
	if _, err := t.exec(ctx, "deletion_keep_runs", append(named("ticket_runs", jsonTicketRuns(outside)), organism...)...); err != nil {
		return false, err
	}
	_, err = t.exec(ctx, "deletion_withdraw_runs", append(named("ticket_runs", jsonTicketRuns(inside), "upload_id", del.id), organism...)...)
	return true, err
}

// callOff puts back, part by part, what a deletion that came to nothing withdrew.
func (s *Store) callOff(ctx context.Context, id int64) error {
	if id == 0 {
		return nil // it never began
	}
	for more := true; more; {
		err := s.ringAfter(ctx, s.writeLosing, func(ctx context.Context, t *tx, a *added) (err error) {
			more, err = restorePart(ctx, t, a, id)
			return err
		})
		if err != nil {
			return fmt.Errorf("call off deletion %d: %w", id, err)
		}
	}
	return nil
}

// restorePart restores the tickets of one part; without any it lets go some runs, and
// at the end it forgets the deletion.
func restorePart(ctx context.Context, t *tx, a *added, id int64) (more bool, err error) {
	upload := named("upload_id", id)
	var first int64
	err = t.row(ctx, "deletion_withdrawn", upload, &first)
	if err == nil {
		return true, restoreTickets(ctx, t, a, id, first)
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}
	queues := map[queueKey]int{}
	err = t.rows(ctx, "deletion_restore_runs", upload, func(scan func(...any) error) error {
		var key queueKey
		err := scan(&key.organismID, &key.version)
		queues[key]++
		return err
	})
	if err != nil {
		return false, err
	}
	for _, statement := range []string{"deletion_restore_turns", "deletion_end_runs"} {
		if _, err := t.exec(ctx, statement, upload...); err != nil {
			return false, err
		}
	}
	if err := a.toAll(ctx, t, queues); err != nil {
		return false, err
	}
	let, err := t.exec(ctx, "deletion_let_go_some", append(upload, named("runs", int64(heldEntries))...)...)
	if err != nil || let == heldEntries {
		return true, err
	}
	return false, endDeletion(ctx, t, id)
}

// restoreTickets restores the tickets of the part that begins with an entry.
func restoreTickets(ctx context.Context, t *tx, a *added, id, first int64) error {
	part := named("upload_id", id, "first_entry_id", first)
	var ids []int64
	queues := map[queueKey]int{}
	err := t.rows(ctx, "deletion_restore", part, func(scan func(...any) error) error {
		var key queueKey
		var entry int64
		err := scan(&key.organismID, &key.version, &entry)
		ids = append(ids, entry)
		queues[key]++
		return err
	})
	if err != nil {
		return err
	}
	if _, err := t.exec(ctx, "note_turns", named("entry_ids", jsonIDs(ids))...); err != nil {
		return err
	}
	if _, err := t.exec(ctx, "deletion_forget_tickets", named("upload_id", id, "last_entry_id", first)...); err != nil {
		return err
	}
	return a.toAll(ctx, t, queues)
}
