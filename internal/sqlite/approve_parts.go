package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// A large approval is decided first and written then:
//
//  1. begin: from here on it is noted which entries change ([changes]).
//  2. look: what the approval takes is found in a snapshot, while others write.
//  3. hold: the runs of its entries are noted, page by page. They are approved
//     by nobody yet: everything may happen to them, and is noted.
//  4. decide: what changed is looked at again, a part at a time. Once there is no
//     more, one short transaction releases all entries for everybody.
//  5. write: the rows follow, part by part. Nobody sees a difference.
//
// What ends before 4 comes to nothing; what ends after it goes on, in either case when
// the store is opened next if the process ended.

// heldRuns is how many runs are noted or let go in one transaction.
const heldRuns = 2 * partEntries

// largeApproval is an approval that goes part by part.
type largeApproval struct {
	submission.Approval
	organism organismRow
	id       int64
	parts    [][]namedEntry // in order of id
	ids      map[seqlease.AccessionVersion]int64
	named    map[seqlease.AccessionVersion]bool // in the request
	seen     int                                // so many changes were looked at
	decided  bool
}

// approveMany releases what the approval takes part by part.
func (s *Store) approveMany(ctx context.Context, a submission.Approval) ([]seqlease.AccessionVersion, error) {
	release, err := s.deciding.take(ctx, a.Organism)
	if err != nil {
		return nil, err
	}
	defer release()
	for {
		ap := &largeApproval{Approval: a}
		switch err := s.settleApproval(ctx, ap); {
		case errors.Is(err, errVersionMoved):
			continue
		case err != nil:
			return nil, err
		}
		if !ap.decided {
			return nil, nil
		}
		if err := s.writeApproval(context.WithoutCancel(ctx), ap.id); err != nil {
			// Everybody sees the entries as released, so they are.
			s.logger.ErrorContext(ctx, "rows of released entries are written when the store is opened next", "organism", string(a.Organism), "error", err)
		}
		return ap.approved(), nil
	}
}

// errVersionMoved says that another pipeline version became the current one, so that
// other results decide.
var errVersionMoved = errors.New("the current pipeline version changed")

// errApprovalLost says that somebody removed an approval under way by hand.
var errApprovalLost = seqlease.Explain(seqlease.ErrBusy, "the approval was undone while it was under way: send it again")

// approved are the entries that it takes.
func (ap *largeApproval) approved() []seqlease.AccessionVersion {
	return namesOf(slices.Concat(ap.parts...))
}

// settleApproval goes as far as the decision. If it fails, or there is nothing to
// release, the approval leaves no trace.
func (s *Store) settleApproval(ctx context.Context, ap *largeApproval) (err error) {
	o, err := organismState(ctx, s.readOnce(), ap.Organism)
	if err != nil {
		return storeError(err)
	}
	if err := s.finishApprovals(ctx, o.id); err != nil { // what a full disk has left, say
		return err
	}
	defer s.changes.end(ap.Organism)
	for _, step := range []func(context.Context, *largeApproval) error{s.beginApproval, s.lookForApproval, s.holdApproved, s.decideApproval} {
		if err = step(ctx, ap); err != nil {
			break
		}
	}
	if ap.decided || ap.id == 0 {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leftoverTime)
	defer cancel()
	return errors.Join(err, s.callOffApproval(ctx, ap.id))
}

func (s *Store) beginApproval(ctx context.Context, ap *largeApproval) error {
	// Nothing needs to be durable before the decision: the log brings it to the disk with
	// that, or both are lost.
	return s.writeLosing(ctx, func(ctx context.Context, t *tx) error {
		o, err := organismState(ctx, t, ap.Organism)
		if err != nil {
			return err
		}
		s.changes.begin(ap.Organism)
		return t.row(ctx, "approval_begin", named("organism_id", o.id, "approver", ap.Approver), &ap.id)
	})
}

// lookForApproval finds what the approval takes. Entries that it names must all be fit.
func (s *Store) lookForApproval(ctx context.Context, ap *largeApproval) error {
	return s.readLong(ctx, func(t *tx) (err error) {
		if ap.organism, err = organismState(ctx, t, ap.Organism); err != nil {
			return err
		}
		statement, args := "approvable_all", append(approvalArgs(ap.organism, ap.Approval), named("limit", int64(-1))...)
		if ap.Entries != nil {
			if err := checkApproved(ctx, t, ap.Approval, ap.Entries, ap.organism.now); err != nil {
				return err
			}
			statement, args = "approvable_listed", ap.listed(ap.organism, ap.Entries)
		}
		found, err := readEntries(ctx, t, statement, args)
		ap.take(found)
		return err
	})
}

func (ap *largeApproval) listed(o organismRow, entries []seqlease.AccessionVersion) []any {
	return append(approvalArgs(o, ap.Approval), named("entries", jsonEntries(entries))...)
}

func (ap *largeApproval) take(found []namedEntry) {
	slices.SortFunc(found, func(a, b namedEntry) int { return cmp.Compare(a.id, b.id) })
	found = slices.Compact(found) // entries may be listed twice
	ap.parts = slices.Collect(slices.Chunk(found, partEntries))
	ap.ids = make(map[seqlease.AccessionVersion]int64, len(found))
	for _, e := range found {
		ap.ids[e.AccessionVersion] = e.id
	}
	ap.named = make(map[seqlease.AccessionVersion]bool, len(ap.Entries))
	for _, av := range ap.Entries {
		ap.named[av] = true
	}
}

// holdApproved notes the runs of the entries.
func (s *Store) holdApproved(ctx context.Context, ap *largeApproval) error {
	var runs []idRun
	for _, part := range ap.parts { // no run reaches from part to part
		runs = append(runs, runsOf(part)...)
	}
	for page := range slices.Chunk(runs, heldRuns) {
		if err := s.writeLosing(ctx, func(ctx context.Context, t *tx) error { return ap.hold(ctx, t, page) }); err != nil {
			return err
		}
	}
	return nil
}

func (ap *largeApproval) hold(ctx context.Context, t *tx, runs []idRun) error {
	_, err := t.exec(ctx, "approval_hold", named("approval_id", ap.id, "runs", jsonRuns(runs))...)
	return err
}

// decideApproval looks at what changed until that is few, and releases all then.
func (s *Store) decideApproval(ctx context.Context, ap *largeApproval) error {
	for !ap.decided && len(ap.parts) > 0 {
		var committed func()
		note := ap.Note(ap.approved()) // takes longer than all else, so not under the writer
		err := s.write(ctx, func(ctx context.Context, t *tx) (err error) {
			committed, err = ap.decide(ctx, t, s.changes.since(ap.Organism, ap.seen), note)
			return err
		})
		if err != nil {
			return err
		}
		committed()
	}
	return nil
}

// decide looks again at the entries that changed. If they are no more than a part, it
// releases everything. The note is that of all that the approval took until then. It may
// be carried out anew; what it returns is done once it is committed.
func (ap *largeApproval) decide(ctx context.Context, t *tx, changed []seqlease.AccessionVersion, note seqlease.AuditNote) (committed func(), err error) {
	o, err := organismState(ctx, t, ap.Organism)
	if err != nil {
		return nil, err
	}
	if o.current != ap.organism.current {
		return nil, errVersionMoved
	}
	some := changed[:min(len(changed), partEntries)]
	kept, err := ap.testAgain(ctx, t, o, some)
	if err != nil {
		return nil, err
	}
	if len(some) < len(changed) || len(kept) == 0 {
		return func() { ap.parts, ap.seen = kept, ap.seen+len(some) }, nil
	}
	decided, err := t.exec(ctx, "approval_decide", named("approval_id", ap.id, "now", o.now)...)
	if err != nil {
		return nil, err
	}
	if decided != 1 {
		return nil, errApprovalLost
	}
	if entriesIn(kept) < entriesIn(ap.parts) {
		note = ap.Note(namesOf(slices.Concat(kept...)))
	}
	return func() { ap.parts, ap.decided = kept, true }, noteApproved(ctx, t, o, note)
}

func entriesIn(parts [][]namedEntry) (n int) {
	for _, part := range parts {
		n += len(part)
	}
	return n
}

// testAgain returns the parts without those of the changed entries that aren't fit any
// more, which it lets go. If the approval named one of them, that is the error.
func (ap *largeApproval) testAgain(ctx context.Context, t *tx, o organismRow, changed []seqlease.AccessionVersion) ([][]namedEntry, error) {
	var listed, taken []seqlease.AccessionVersion
	for _, av := range changed {
		if ap.named[av] {
			listed = append(listed, av)
		}
		if ap.ids[av] != 0 {
			taken = append(taken, av)
		}
	}
	if len(listed) > 0 {
		if err := checkApproved(ctx, t, ap.Approval, listed, o.now); err != nil {
			return nil, err
		}
	}
	if len(taken) == 0 {
		return ap.parts, nil
	}
	fit, err := readEntries(ctx, t, "approvable_listed", ap.listed(o, taken))
	if err != nil {
		return nil, err
	}
	still, gone := setOf(idsOf(fit)), map[int64]bool{}
	for _, av := range taken {
		if id := ap.ids[av]; !still[id] {
			gone[id] = true
		}
	}
	return ap.without(ctx, t, gone)
}

// without returns the parts without these entries, which it lets go.
func (ap *largeApproval) without(ctx context.Context, t *tx, gone map[int64]bool) ([][]namedEntry, error) {
	isGone := func(e namedEntry) bool { return gone[e.id] }
	var left [][]namedEntry
	for _, part := range ap.parts {
		if len(gone) == 0 || !slices.ContainsFunc(part, isGone) {
			left = append(left, part)
			continue
		}
		of := named("approval_id", ap.id, "first_entry_id", part[0].id, "last_entry_id", part[len(part)-1].id)
		if _, err := t.exec(ctx, "approval_let_go", of...); err != nil {
			return nil, err
		}
		kept := slices.DeleteFunc(slices.Clone(part), isGone)
		if len(kept) == 0 {
			continue
		}
		if err := ap.hold(ctx, t, runsOf(kept)); err != nil {
			return nil, err
		}
		left = append(left, kept)
	}
	return left, nil
}

// writeApproval writes to the rows what was decided, part by part.
func (s *Store) writeApproval(ctx context.Context, id int64) error {
	return s.untilNone(ctx, func(ctx context.Context, t *tx) (more bool, err error) { return writeApprovedPart(ctx, t, id) })
}

// callOffApproval forgets an approval that wasn't decided.
func (s *Store) callOffApproval(ctx context.Context, id int64) error {
	return s.untilNone(ctx, func(ctx context.Context, t *tx) (more bool, err error) {
		n, err := t.exec(ctx, "approval_let_go_some", named("approval_id", id, "runs", int64(heldRuns))...)
		if err != nil || n > 0 {
			return true, err
		}
		_, err = t.exec(ctx, "approval_end", named("approval_id", id)...)
		return false, err
	})
}

// writeApprovedPart writes one part, or ends the approval once it has none.
func writeApprovedPart(ctx context.Context, t *tx, id int64) (more bool, err error) {
	approval := named("approval_id", id)
	runs, err := nextRuns(ctx, t, "approval_runs", approval)
	if err != nil {
		return false, err
	}
	if len(runs) == 0 {
		_, err := t.exec(ctx, "approval_end", approval...)
		return false, err
	}
	last := withinPart(runs)
	of := named("approval_id", id, "first_entry_id", runs[0].first, "last_entry_id", last)
	for _, statement := range []string{"approval_write", "approval_let_go"} {
		if _, err := t.exec(ctx, statement, of...); err != nil {
			return false, err
		}
	}
	return true, nil
}

// finishApprovals ends approvals of an organism, or with 0 of all, that aren't under
// way any more: what was decided goes on, anything else comes to nothing.
func (s *Store) finishApprovals(ctx context.Context, organismID int64) error {
	type leftover struct {
		id      int64
		decided bool
	}
	var list []leftover
	err := s.readOnce().rows(ctx, "approvals", named("organism_id", organismID), func(scan func(...any) error) error {
		var l leftover
		err := scan(&l.id, &l.decided)
		list = append(list, l)
		return err
	})
	if err != nil {
		return storeError(err)
	}
	for _, l := range list {
		end := s.callOffApproval
		if l.decided {
			end = s.writeApproval
		}
		if err := end(ctx, l.id); err != nil {
			return fmt.Errorf("finish approval %d: %w", l.id, err)
		}
		s.logger.InfoContext(ctx, "unfinished approval ended", "approval", l.id, "decided", l.decided)
	}
	return nil
}
