package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// Revise stores new versions of entries, all or nothing (L1), as [submission.ReviseStore]
// says: part by part as [Store.Submit] does. Until they are published nobody else
// revises or revokes what they revise.
func (s *Store) Revise(ctx context.Context, r submission.Revision) ([]seqlease.SubmissionIDMapping, error) {
	made, err := s.keyed(ctx, r.Submitter, r.Key, func() ([]seqlease.SubmissionIDMapping, error) { return s.revise(ctx, r) })
	if err != nil {
		return nil, fmt.Errorf("revise entries of %s: %w", r.Organism, err)
	}
	return made, nil
}

func (s *Store) revise(ctx context.Context, r submission.Revision) ([]seqlease.SubmissionIDMapping, error) {
	release, err := s.growing.take(ctx, r.Accessions...)
	if err != nil {
		return nil, err
	}
	defer release()
	rev := &revision{Revision: r}
	if err := s.look(ctx, rev); err != nil {
		return nil, err
	}
	return s.storeUpload(ctx, rev, keptKey{user: r.Submitter, key: r.Key})
}

// revision is an upload of new versions under way. The entries of each group have a
// run of ids, so that their tickets are one run, too.
type revision struct {
	submission.Revision
	underWay
	next   []seqlease.Version // of the entries, in their order
	of     []int64            // their groups
	groups []groupRun         // in order of id
	ids    []int64            // of the entries, in their order
}

// groupRun are the entries of a group.
type groupRun struct{ group, first, last, entries int64 }

// look reads what is revised. It stays as it is: who adds a version waits for us, and
// what is released is never changed or deleted.
func (s *Store) look(ctx context.Context, rev *revision) error {
	if _, err := organismState(ctx, s.readOnce(), rev.Organism); err != nil {
		return storeError(err)
	}
	check := submission.NewVersionCheck{Organism: rev.Organism}
	entries := map[int64]int64{}
	for page := range slices.Chunk(rev.Accessions, submission.NewestAtOnce) {
		found, err := standings(ctx, s.readOnce(), jsonNewest(page))
		if err != nil {
			return storeError(err)
		}
		check.Add(page, found)
		for _, st := range submission.InOrderOf(page, found) {
			rev.next, rev.of = append(rev.next, st.Version+1), append(rev.of, st.GroupID)
			entries[st.GroupID]++
		}
	}
	for group, n := range entries {
		rev.groups = append(rev.groups, groupRun{group: group, entries: n})
	}
	slices.SortFunc(rev.groups, func(a, b groupRun) int { return cmp.Compare(a.group, b.group) })
	return check.Err()
}

func (rev *revision) entries() iter.Seq2[submission.PackedEntry, error] { return rev.Entries }

// begin gives the entries their ids, and hides them before they are there.
func (rev *revision) begin(ctx context.Context, t *tx) error {
	o, err := organismState(ctx, t, rev.Organism)
	if err != nil {
		return err
	}
	rev.organismID = o.id
	if err := t.row(ctx, "submit_begin", named("organism_id", o.id), &rev.id, &rev.startedAt); err != nil {
		return err
	}
	n := int64(len(rev.Accessions))
	if n == 0 {
		return nil
	}
	var last int64
	if err := t.row(ctx, "revise_count", named("entries", n), &last); err != nil {
		return err
	}
	rev.number(last - n + 1)
	_, err = t.exec(ctx, "submit_insert_run", named("upload_id", rev.id, "first_entry_id", last-n+1, "last_entry_id", last)...)
	return err
}

// number gives out ids from the first on, group by group.
func (rev *revision) number(first int64) {
	free := make(map[int64]int64, len(rev.groups))
	for i, g := range rev.groups {
		rev.groups[i].first, rev.groups[i].last = first, first+g.entries-1
		free[g.group] = first
		first += g.entries
	}
	rev.ids = make([]int64, len(rev.of))
	for i, group := range rev.of {
		rev.ids[i] = free[group]
		free[group]++
	}
}

// errRevisions says that a revision doesn't have an accession for each entry.
var errRevisions = errors.New("there are not as many accessions as entries")

// store writes a part and returns what its entries are called.
func (rev *revision) store(ctx context.Context, t *tx, p part) ([]seqlease.AccessionVersion, error) {
	start, n := len(rev.mapping), len(p.data)
	if start+n > len(rev.Accessions) {
		return nil, errRevisions
	}
	ids, accessions := rev.ids[start:start+n], rev.Accessions[start:start+n]
	stored, err := t.execRows(ctx, "revise_entries", n, func(values []any, i int) []any {
		return append(values, ids[i], string(accessions[i]), p.submissionIDs[i])
	}, named("organism_id", rev.organismID, "submitter", rev.Submitter, "started_at", rev.startedAt)...)
	if err != nil {
		return nil, err
	}
	if stored != int64(n) {
		return nil, rev.fault(ctx, t, accessions)
	}
	_, err = t.execRows(ctx, "submit_data", n, func(values []any, i int) []any {
		return append(values, ids[i], p.data[i].Dictionary, p.data[i].Bytes)
	})
	if err != nil {
		return nil, err
	}
	made := make([]seqlease.AccessionVersion, n)
	for i := range made {
		made[i] = seqlease.AccessionVersion{Accession: accessions[i], Version: rev.next[start+i]}
	}
	return made, nil
}

// fault says why not all of the accessions got a version.
func (rev *revision) fault(ctx context.Context, t *tx, accessions []seqlease.Accession) error {
	found, err := standings(ctx, t, jsonNewest(accessions))
	if err != nil {
		return err
	}
	check := submission.NewVersionCheck{Organism: rev.Organism}
	check.Add(accessions, found)
	if err := check.Err(); err != nil {
		return err
	}
	return fmt.Errorf("%w: what is left of a revision of the same entries, which came to nothing, is removed when the server starts", seqlease.ErrBusy)
}

// publish makes all entries visible and claimable at once.
func (rev *revision) publish(ctx context.Context, t *tx, a *added) error {
	if len(rev.mapping) != len(rev.Accessions) {
		return errRevisions
	}
	if err := rev.enqueue(ctx, t, a); err != nil {
		return err
	}
	var group int64
	if len(rev.groups) == 1 {
		group = rev.groups[0].group
	}
	return rev.show(ctx, t, rev.Note(rev.mapping, group))
}

// enqueue gives each group its ranks and its tickets (L17).
func (rev *revision) enqueue(ctx context.Context, t *tx, a *added) error {
	if len(rev.mapping) == 0 {
		return nil
	}
	groups := named("organism_id", rev.organismID, "groups", jsonList(rev.groups, func(b []byte, g groupRun) []byte {
		b = strconv.AppendInt(append(b, '['), g.group, 10)
		b = strconv.AppendInt(append(b, ','), g.first, 10)
		return append(strconv.AppendInt(append(b, ','), g.last, 10), ']')
	}))
	statements := []string{"revise_turns", "revise_last_turns", "revise_tickets"}
	if len(rev.mapping) > partEntries {
		statements[2] = "revise_ticket_runs"
	}
	for _, statement := range statements {
		if _, err := t.exec(ctx, statement, groups...); err != nil {
			return err
		}
	}
	return a.toLive(ctx, t, rev.organismID, rev.Organism)
}
