package postgres

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

//go:embed sql/give_back.sql
var giveBackSQL string

// returned is what give_back answers.
type returned struct {
	Held, Entries          int
	OrganismID             int32
	Version                seqlease.PipelineVersion
	FreshRank, SuspectRank *int64 // least ones of the tickets; nil: none
}

// GiveBack ends the attempt's lease, or cuts entries from it, and makes them wait
// again (L8), as [queue.Store] says. A lease that has run out is left to whoever
// takes it over, unless it wasn't delivered.
func (s *Store) GiveBack(ctx context.Context, g queue.GiveBack) (int, error) {
	arguments, err := s.giveBackArguments(ctx, g)
	if err != nil {
		return 0, err
	}
	var r returned
	tries := 0
	// Given back twice is given back once, so it may be repeated after a lost answer;
	// the count is then that of the last try.
	err = s.repeat(ctx, func() error {
		tries++
		return s.with(ctx, func(c *pgxpool.Conn) error {
			return withSettings(ctx, c, planSettingsSQL, giveBackSQL, arguments, func(rows pgx.Rows) (err error) {
				r, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[returned])
				return err
			})
		})
	})
	if err != nil {
		return 0, fmt.Errorf("give back %s: %w", g.AttemptID, err)
	}
	if r.Held == 0 && !g.Undelivered && !g.Damaged && tries == 1 {
		return 0, queue.GiveBackLost(g)
	}
	if r.FreshRank != nil {
		s.moveBack(r.OrganismID, r.Version, queue.LaneFresh, *r.FreshRank)
	}
	if r.SuspectRank != nil {
		s.moveSuspectsBack(r.OrganismID, r.Version, *r.SuspectRank)
	}
	if r.Entries > 0 {
		s.ringFor(r.OrganismID)
	}
	return r.Entries, nil
}

func (s *Store) giveBackArguments(ctx context.Context, g queue.GiveBack) (pgx.StrictNamedArgs, error) {
	var organismID int32 // undelivered batches are found by their attempt alone
	if !g.Undelivered {
		o, err := s.organism(ctx, g.Organism)
		if err != nil {
			return nil, err
		}
		organismID = o.id
	}
	b := s.knownBounds(organismID)
	accessions, versions := columns(g.Entries)
	kind := queue.FailureGivenBack
	switch {
	case g.Damaged:
		kind = queue.FailureDamaged
	case g.Undelivered:
		kind = queue.FailureUndelivered
	}
	return pgx.StrictNamedArgs{
		"attempt": uuid(g.AttemptID), "organism": organismID, "claimed_by": g.ClaimedBy, "any_user": g.Undelivered || g.Damaged,
		"undelivered": g.Undelivered, "whole": g.Entries == nil, "accessions": accessions, "versions": versions,
		"counts": g.CountsAsAttempt, "kind": kindNumber(kind), "reason": g.Reason,
		"max_attempts": s.limits.Attempts, "max_hand_outs": s.limits.HandOuts,
		"bound_organisms": b.organisms, "bound_versions": b.versions, "bound_ranks": b.ranks, "bound_ids": b.ids,
	}, nil
}

// ringFor rings the bell for an organism that this process knows; nobody waits here for another.
func (s *Store) ringFor(organismID int32) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for key, o := range s.organisms {
		if o.id == organismID {
			s.bell.Ring(key)
		}
	}
}
