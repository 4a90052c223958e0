package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// Renew moves the end of a running lease to r.Lease after the database's present
// (L7), as [queue.RenewStore] says.
func (s *Store) Renew(ctx context.Context, r queue.Renew) (queue.Renewed, error) {
	var renewed queue.Renewed
	err := s.write(ctx, func(ctx context.Context, t *tx) (err error) {
		renewed, err = renew(ctx, t, r)
		return err
	})
	if err != nil {
		return queue.Renewed{}, fmt.Errorf("renew attempt %s: %w", r.AttemptID, err)
	}
	return renewed, nil
}

func renew(ctx context.Context, t *tx, r queue.Renew) (queue.Renewed, error) {
	var renewed queue.Renewed
	var until, seconds int64
	args := named("organism", string(r.Organism), "claimed_by", r.ClaimedBy, "lease_seconds", int64(r.Lease/time.Second))
	err := t.row(ctx, "renew", append(args, attempt(r.AttemptID)), &until, &seconds, &renewed.Held)
	if errors.Is(err, sql.ErrNoRows) {
		return renewed, queue.RenewalLost(r)
	}
	if err != nil {
		return renewed, err
	}
	renewed.Until, renewed.Lease = instant(until), time.Duration(seconds)*time.Second
	err = t.rows(ctx, "lost", []any{attempt(r.AttemptID)}, func(scan func(...any) error) error {
		var av seqlease.AccessionVersion
		err := scan(&av.Accession, &av.Version)
		renewed.Lost = append(renewed.Lost, av)
		return err
	})
	return renewed, err
}

// accessionVersions reads [["ACC",1],…].
func accessionVersions(text string) ([]seqlease.AccessionVersion, error) {
	var pairs [][2]json.RawMessage
	if err := json.Unmarshal([]byte(text), &pairs); err != nil {
		return nil, err
	}
	var list []seqlease.AccessionVersion
	for _, pair := range pairs {
		var av seqlease.AccessionVersion
		if err := errors.Join(json.Unmarshal(pair[0], &av.Accession), json.Unmarshal(pair[1], &av.Version)); err != nil {
			return nil, err
		}
		list = append(list, av)
	}
	return list, nil
}
