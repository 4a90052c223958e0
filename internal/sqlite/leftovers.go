package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// removeLeftovers removes the uploads that were under way when the process
// before this one ended (L1), ends deletions and approvals that were, one way or the other (L10), and
// removes places in leases that somebody deleted by hand (B010): then the reconciler
// finds their entries (V4).
func (s *Store) removeLeftovers(ctx context.Context) error {
	var places int64
	err := s.write(ctx, func(ctx context.Context, t *tx) (err error) {
		places, err = t.exec(ctx, "leftover_leased")
		return err
	})
	if err != nil {
		return fmt.Errorf("remove places in leases that aren't there: %w", err)
	}
	if places > 0 {
		s.logger.WarnContext(ctx, "entries were in leases that aren't there", "rows", places)
	}
	var uploads []int64
	err = s.readOnce().rows(ctx, "uploads", nil, func(scan func(...any) error) error {
		var id int64
		err := scan(&id)
		uploads = append(uploads, id)
		return err
	})
	if err != nil {
		return err
	}
	for _, id := range uploads {
		if err := s.removeUpload(ctx, id); err != nil {
			return err
		}
		s.logger.InfoContext(ctx, "unfinished upload removed", "upload", id)
	}
	if err := s.finishDeletions(ctx, 0); err != nil {
		return err
	}
	return s.finishApprovals(ctx, 0)
}

// finishDeletions ends deletions of an organism, or with 0 of all, that aren't under
// way any more: what was decided goes on, anything else comes to nothing.
func (s *Store) finishDeletions(ctx context.Context, organismID int64) error {
	type leftover struct {
		id, organismID int64
		decided        bool
	}
	var list []leftover
	err := s.readOnce().rows(ctx, "deletions", named("organism_id", organismID), func(scan func(...any) error) error {
		var l leftover
		err := scan(&l.id, &l.organismID, &l.decided)
		list = append(list, l)
		return err
	})
	if err != nil {
		return storeError(err)
	}
	for _, l := range list {
		if l.decided {
			err = s.removeDeleted(ctx, l.id, l.organismID)
		} else {
			err = s.callOff(ctx, l.id)
		}
		if err != nil {
			return fmt.Errorf("finish deletion %d: %w", l.id, err)
		}
		s.logger.InfoContext(ctx, "unfinished deletion ended", "upload", l.id, "decided", l.decided)
	}
	return nil
}

// removeUpload removes an unpublished upload part by part, so that claims don't
// wait for long. Its accessions are never given out again.
func (s *Store) removeUpload(ctx context.Context, id int64) error {
	for more := true; more; {
		err := s.write(ctx, func(ctx context.Context, t *tx) (err error) {
			more, err = removePart(ctx, t, id)
			return err
		})
		if err != nil {
			return fmt.Errorf("remove unfinished upload %d: %w", id, err)
		}
	}
	return nil
}

// removePart removes one part, or the upload itself once it has none.
func removePart(ctx context.Context, t *tx, id int64) (more bool, err error) {
	upload := named("upload_id", id)
	var first, last int64
	err = t.row(ctx, "leftover_run", append(named("entries", int64(partEntries)), upload...), &first, &last)
	if errors.Is(err, sql.ErrNoRows) {
		_, err = t.exec(ctx, "submit_end", upload...)
		return false, err
	}
	if err != nil {
		return false, err
	}
	run := named("first_entry_id", first, "last_entry_id", last)
	for _, statement := range []string{"leftover_terms", "leftover_data", "leftover_entries"} {
		if _, err := t.exec(ctx, statement, run...); err != nil {
			return false, err
		}
	}
	if _, err := t.exec(ctx, "leftover_cut_run", append(upload, run...)...); err != nil {
		return false, err
	}
	_, err = t.exec(ctx, "leftover_drop_run", upload...)
	return true, err
}
