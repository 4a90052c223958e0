package sqlite

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/seqlease/seqlease"
)

// A large deletion goes as a large upload does, the other way round: the rows of its
// entries are removed in parts that nobody sees any more, and one short transaction
// before them takes all entries from everybody's sight at once. What it takes is
// settled before, part by part, too:
//
//  1. hold: the runs of the entries are noted, which keeps tickets from them. Their
//     runs of tickets are cut out.
//  2. withdraw: each part is tested again, and its tickets are put aside. From then on
//     no claim gets at the entries, so that they stay as they are, but for what is
//     leased by now or changed by people: those are tested once more.
//  3. decide: everybody has lost sight of the entries, leases on them are over.
//  4. remove.
//
// What ends before 3 comes to nothing and puts everything back; what ends after it
// goes on, in either case when the store is opened next if the process ended.

// heldEntries is how many entries are held in one transaction, which is one row for each
// run of them, and few statements.
const heldEntries = 5 * partEntries

// largeDeletion is a deletion that goes part by part.
type largeDeletion struct {
	*deletion
	id      int64          // of the upload
	parts   [][]namedEntry // that were withdrawn, in order of id
	leased  []int64        // entries of theirs that were in leases then, in order
	cut     bool           // runs of tickets were cut
	decided bool
}

// deleteMany deletes what was found part by part.
func (s *Store) deleteMany(ctx context.Context, del *deletion) ([]seqlease.AccessionVersion, error) {
	if err := s.finishDeletions(ctx, del.organism.id); err != nil { // what a full disk has left, say
		return nil, err
	}
	large := newLargeDeletion(del)
	release, err := s.settle(ctx, large)
	defer release()
	ctx = context.WithoutCancel(ctx) // from here on it ends, whether the client is still there or not
	if err != nil {
		ctx, cancel := context.WithTimeout(ctx, leftoverTime)
		defer cancel()
		return nil, errors.Join(err, s.callOff(ctx, large.id))
	}
	if err := s.removeDeleted(ctx, large.id, del.organism.id); err != nil {
		// Nobody sees the entries any more, so they are deleted.
		s.logger.ErrorContext(ctx, "rows of deleted entries are removed when the store is opened next", "organism", string(del.Organism), "error", err)
	}
	return large.deleted(), nil
}

func newLargeDeletion(del *deletion) *largeDeletion {
	slices.SortFunc(del.found, func(a, b namedEntry) int { return cmp.Compare(a.id, b.id) })
	return &largeDeletion{deletion: del}
}

// deleted are the entries that it takes, in order.
func (del *largeDeletion) deleted() []seqlease.AccessionVersion {
	deleted := namesOf(slices.Concat(del.parts...))
	slices.SortFunc(deleted, seqlease.AccessionVersion.Compare)
	return deleted
}

// turn is one transaction of a deletion. It may be carried out anew; what it returns is
// done once it is committed.
type turn func(ctx context.Context, t *tx, a *added) (committed func(), err error)

func (s *Store) carryOut(ctx context.Context, one turn, write func(context.Context, func(context.Context, *tx) error) error) error {
	var committed func()
	err := s.ringAfter(ctx, write, func(ctx context.Context, t *tx, a *added) (err error) {
		committed, err = one(ctx, t, a)
		return err
	})
	if err == nil {
		committed()
	}
	return err
}

// settle goes as far as the decision. Until release nobody adds versions to what is
// deleted: a row of it may have the next number still.
func (s *Store) settle(ctx context.Context, del *largeDeletion) (release func(), err error) {
	release = func() {}
	for one := range del.preparation() {
		// It needn't be durable by itself: the log brings it to the disk with the
		// decision, or both are lost.
		if err := s.carryOut(ctx, one, s.writeLosing); err != nil {
			return release, err
		}
	}
	if names := del.revised(); len(names) > 0 {
		held, err := s.growing.take(ctx, names...)
		if err != nil {
			return release, err
		}
		release = held
	}
	for !del.decided {
		if err := s.carryOut(ctx, del.decide, s.write); err != nil {
			return release, err
		}
	}
	return release, nil
}

// preparation is what comes before the decision.
func (del *largeDeletion) preparation() iter.Seq[turn] {
	return func(yield func(turn) bool) {
		if !yield(del.begin) {
			return
		}
		for page := range slices.Chunk(del.found, heldEntries) {
			if !yield(func(ctx context.Context, t *tx, _ *added) (func(), error) { return del.hold(ctx, t, page) }) {
				return
			}
		}
		for part := range slices.Chunk(del.found, partEntries) {
			if !yield(func(ctx context.Context, t *tx, a *added) (func(), error) { return del.withdraw(ctx, t, a, part) }) {
				return
			}
		}
	}
}

func (del *largeDeletion) begin(ctx context.Context, t *tx, _ *added) (func(), error) {
	return func() {}, t.row(ctx, "deletion_begin", named("organism_id", del.organism.id, "user", del.User), &del.id)
}

// drop leaves out entries that the deletion doesn't take any more.
func (del *largeDeletion) drop(gone map[int64]bool) {
	if len(gone) == 0 {
		return
	}
	for i, part := range del.parts {
		del.parts[i] = slices.DeleteFunc(part, func(e namedEntry) bool { return gone[e.id] })
	}
	del.parts = slices.DeleteFunc(del.parts, func(part []namedEntry) bool { return len(part) == 0 })
	del.leased = slices.DeleteFunc(del.leased, func(id int64) bool { return gone[id] })
}

// revised are the accessions of which other versions stay.
func (del *largeDeletion) revised() []seqlease.Accession {
	var list []seqlease.Accession
	for _, part := range del.parts {
		for _, e := range part {
			if e.Version > 1 {
				list = append(list, e.Accession)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// hold keeps tickets from the entries, and cuts the runs of tickets that they are in.
func (del *largeDeletion) hold(ctx context.Context, t *tx, entries []namedEntry) (func(), error) {
	var runs []idRun
	for part := range slices.Chunk(entries, partEntries) { // no run reaches from part to part
		runs = append(runs, runsOf(part)...)
	}
	if _, err := t.exec(ctx, "deletion_hold", named("upload_id", del.id, "runs", jsonRuns(runs))...); err != nil {
		return nil, err
	}
	cut, err := del.cutTicketRuns(ctx, t, runs)
	return func() { del.cut = del.cut || cut }, err
}

// of are the arguments of statements for the runs of a part.
func (del *largeDeletion) of(part []namedEntry) []any {
	return named("upload_id", del.id, "first_entry_id", part[0].id, "last_entry_id", part[len(part)-1].id)
}

// withdraw tests a part again and puts its tickets aside.
func (del *largeDeletion) withdraw(ctx context.Context, t *tx, a *added, part []namedEntry) (func(), error) {
	kept, err := del.test(ctx, t, a, part)
	if err != nil || len(kept) == 0 {
		return func() {}, err
	}
	of := append(named("organism_id", del.organism.id), del.of(part)...)
	leased, err := readIDs(ctx, t, "deletion_leased", of)
	if err != nil {
		return nil, err
	}
	committed := func() {
		del.parts = append(del.parts, kept)
		del.leased = append(del.leased, leased...)
	}
	n, err := t.exec(ctx, "deletion_withdraw", of...)
	if err != nil || n == 0 && !del.cut {
		return committed, err
	}
	for _, statement := range []string{"deletion_turns", "deletion_cut_tickets"} {
		if _, err := t.exec(ctx, statement, of...); err != nil {
			return nil, err
		}
	}
	return committed, nil
}

// test returns what the deletion still takes of a part, and lets go the others. If it
// named one that may not be deleted any more, that is the error.
func (del *largeDeletion) test(ctx context.Context, t *tx, a *added, part []namedEntry) ([]namedEntry, error) {
	o, err := organismState(ctx, t, del.Organism)
	if err != nil {
		return nil, err
	}
	ids, err := readIDs(ctx, t, "deletion_still", append(del.args(o), del.of(part)...))
	if err != nil || len(ids) == len(part) {
		return part, err
	}
	still := setOf(ids)
	if err := del.check(ctx, t, part, still, o.now); err != nil {
		return nil, err
	}
	kept := slices.DeleteFunc(slices.Clone(part), func(e namedEntry) bool { return !still[e.id] })
	return kept, del.spare(ctx, t, a, part, kept)
}

// spare lets go those of a part that aren't kept. They wait again if they have to.
func (del *largeDeletion) spare(ctx context.Context, t *tx, a *added, part, kept []namedEntry) error {
	if _, err := t.exec(ctx, "deletion_let_go", del.of(part)...); err != nil {
		return err
	}
	if _, err := t.exec(ctx, "deletion_hold", named("upload_id", del.id, "runs", jsonRuns(runsOf(kept)))...); err != nil {
		return err
	}
	stay := setOf(idsOf(kept))
	others := slices.DeleteFunc(idsOf(part), func(id int64) bool { return stay[id] })
	_, err := makeWait(ctx, t, a, "reconcile_tickets", others)
	return err
}

// decide tests again what was leased or changed since it was withdrawn. Then it takes
// everything from everybody, unless there is more to look at than fits into one
// transaction.
func (del *largeDeletion) decide(ctx context.Context, t *tx, a *added) (func(), error) {
	upload := named("upload_id", del.id)
	suspects, err := readIDs(ctx, t, "deletion_changed", append(upload, named("limit", int64(partEntries))...))
	if err != nil {
		return nil, err
	}
	if n := len(suspects); n > 0 {
		if _, err := t.exec(ctx, "deletion_seen", append(upload, named("last_entry_id", suspects[n-1])...)...); err != nil {
			return nil, err
		}
		if n == partEntries {
			gone, err := del.testAgain(ctx, t, a, suspects)
			return func() { del.drop(gone) }, err
		}
	}
	gone, err := del.testAgain(ctx, t, a, slices.Concat(suspects, del.leased))
	if err != nil {
		return nil, err
	}
	leased := slices.DeleteFunc(slices.Clone(del.leased), func(id int64) bool { return gone[id] })
	if err := del.endLeases(ctx, t, leased); err != nil {
		return nil, err
	}
	hidden, err := t.exec(ctx, "deletion_decide", upload...)
	if err == nil && hidden != 1 {
		err = errDeletionLost
	}
	return func() { del.drop(gone); del.decided = true }, err
}

// errDeletionLost says that somebody removed a deletion under way by hand.
var errDeletionLost = seqlease.Explain(seqlease.ErrBusy, "the deletion was undone while it was under way: send it again")

// testAgain tests entries, and returns which of them the deletion doesn't take any more.
func (del *largeDeletion) testAgain(ctx context.Context, t *tx, a *added, ids []int64) (gone map[int64]bool, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	suspects := setOf(ids)
	gone = map[int64]bool{}
	for _, part := range del.parts {
		if !slices.ContainsFunc(part, func(e namedEntry) bool { return suspects[e.id] }) {
			continue
		}
		kept, err := del.test(ctx, t, a, part)
		if err != nil {
			return nil, err
		}
		for _, e := range part {
			gone[e.id] = true
		}
		for _, e := range kept {
			delete(gone, e.id)
		}
	}
	return gone, nil
}

// endLeases ends the leases on entries (L10), which may have been given back since:
// then there are tickets.
func (del *largeDeletion) endLeases(ctx context.Context, t *tx, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	if err := returnTurns(ctx, t, 0, ids); err != nil {
		return err
	}
	args := named("organism_id", del.organism.id, "entry_ids", jsonIDs(ids))
	if _, err := t.exec(ctx, "delete_tickets", args...); err != nil {
		return err
	}
	return deletePlaces(ctx, t, args)
}

// removeDeleted removes the rows of a deletion that is decided, part by part.
func (s *Store) removeDeleted(ctx context.Context, id, organismID int64) error {
	return s.untilNone(ctx, func(ctx context.Context, t *tx) (more bool, err error) {
		return removeDeletedPart(ctx, t, id, organismID)
	})
}

// removeDeletedPart removes one part, or the deletion itself once it has none. The
// audit log is told of each part with its removal.
func removeDeletedPart(ctx context.Context, t *tx, id, organismID int64) (more bool, err error) {
	upload := named("upload_id", id)
	runs, err := nextRuns(ctx, t, "deletion_runs", upload)
	if err != nil {
		return false, err
	}
	if len(runs) == 0 {
		return false, endDeletion(ctx, t, id)
	}
	of := append(named("first_entry_id", runs[0].first), upload...)
	last := withinPart(runs)
	of = append(of, named("last_entry_id", last)...)
	if _, err := t.exec(ctx, "deletion_note", append(of, named("action", string(seqlease.ActionDelete))...)...); err != nil {
		return false, err
	}
	organism := named("organism_id", organismID)
	for _, statement := range []string{"deletion_results", "deletion_quarantine"} {
		if _, err := t.exec(ctx, statement, append(of, organism...)...); err != nil {
			return false, err
		}
	}
	for _, statement := range []string{"deletion_data", "deletion_edited", "deletion_failures", "deletion_entries", "deletion_let_go"} {
		if _, err := t.exec(ctx, statement, of...); err != nil {
			return false, err
		}
	}
	if _, err := t.exec(ctx, "deletion_forget_tickets", append(upload, named("last_entry_id", last)...)...); err != nil {
		return false, err
	}
	_, err = t.exec(ctx, "deletion_forget_runs", append(named("first_entry_id", runs[0].first, "last_entry_id", last), organism...)...)
	return true, err
}

// endDeletion forgets the deletion, which has nothing left.
func endDeletion(ctx context.Context, t *tx, id int64) error {
	for _, statement := range []string{"deletion_end_runs", "deletion_end_changed", "submit_end"} {
		if _, err := t.exec(ctx, statement, named("upload_id", id)...); err != nil {
			return err
		}
	}
	return nil
}
