package sqlite

import (
	"context"

	"github.com/seqlease/seqlease"
)

// added notes in a write transaction what it adds to queues (L13, L14).
type added struct {
	organisms map[seqlease.Organism]bool // whose waiting claims are told
}

// to notes that something became claimable in the queue of a pipeline version,
// other than by a lease running out.
func (a *added) to(ctx context.Context, t *tx, organismID, version int64) error {
	o, err := bump(ctx, t, organismID, version)
	a.organisms[o] = true
	return err
}

// toLive notes that something became claimable in every live version of the organism.
func (a *added) toLive(ctx context.Context, t *tx, organismID int64, o seqlease.Organism) error {
	a.organisms[o] = true
	_, err := t.exec(ctx, "bump_live", named("organism_id", organismID)...)
	return err
}

// toAll notes it for each of the queues.
func (a *added) toAll(ctx context.Context, t *tx, queues map[queueKey]int) error {
	for key := range queues {
		if err := a.to(ctx, t, key.organismID, key.version); err != nil {
			return err
		}
	}
	return nil
}

// releasedScope counts the changes of what is released.
const releasedScope = 0

// bump notes a change of the scope and returns whose it is.
func bump(ctx context.Context, t *tx, organismID, scope int64) (seqlease.Organism, error) {
	var o seqlease.Organism
	err := t.row(ctx, "bump", named("organism_id", organismID, "scope", scope), &o)
	return o, err
}

// writeAndRing writes as [Store.write] does, and rings the bell after the commit
// for what was added.
func (s *Store) writeAndRing(ctx context.Context, fn func(ctx context.Context, t *tx, a *added) error) error {
	return s.ringAfter(ctx, s.write, fn)
}

// ringAfter rings the bell for what was added by fn after writing it.
func (s *Store) ringAfter(ctx context.Context, write func(ctx context.Context, fn func(ctx context.Context, t *tx) error) error,
	fn func(ctx context.Context, t *tx, a *added) error,
) error {
	var a *added
	err := write(ctx, func(ctx context.Context, t *tx) error {
		a = &added{organisms: map[seqlease.Organism]bool{}}
		return fn(ctx, t, a)
	})
	if err != nil {
		return err
	}
	for o := range a.organisms {
		s.bell.Ring(o)
	}
	return nil
}
