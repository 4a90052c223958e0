package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/seqlease/seqlease/internal/queue"
)

// GiveBack ends the attempt's lease and makes its entries wait again (L8). It
// returns how many entries were given back: none for an unknown attempt, and
// none for a lease that has ended, whose entries wait already, unless it wasn't
// delivered and nobody has taken it over.
func (s *Store) GiveBack(ctx context.Context, g queue.GiveBack) (int, error) {
	var returned int64
	err := s.write(ctx, func(ctx context.Context, t *tx) (err error) {
		returned, err = giveBack(ctx, t, g)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("give back attempt %s: %w", g.AttemptID, err)
	}
	return int(returned), nil
}

func giveBack(ctx context.Context, t *tx, g queue.GiveBack) (int64, error) {
	var organismID, version int64
	attempt := sql.Named("attempt_id", g.AttemptID[:])
	err := t.row(ctx, "give_back_state", []any{attempt, sql.Named("undelivered", g.Undelivered)}, &organismID, &version)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	uncounted := int64(1)
	if g.CountsAsAttempt {
		uncounted = 0
	}
	returned, err := t.exec(ctx, "give_back", attempt, sql.Named("organism_id", organismID), sql.Named("uncounted", uncounted))
	if err != nil {
		return 0, err
	}
	for _, statement := range []string{"give_back_cut_leased", "give_back_drop_lease"} {
		if _, err := t.exec(ctx, statement, attempt); err != nil {
			return 0, err
		}
	}
	_, err = t.exec(ctx, "bump", named("organism_id", organismID, "scope", version)...)
	return returned, err
}

// dropEmptyLeases drops those of the attempts' leases that hold nothing any
// more. The ids are in hexadecimal.
func dropEmptyLeases(ctx context.Context, t *tx, attempts []string) error {
	_, err := t.exec(ctx, "drop_empty_leases", named("attempt_ids", jsonTexts(attempts))...)
	return err
}
