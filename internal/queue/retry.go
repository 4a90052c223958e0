package queue

import (
	"errors"
	"fmt"
)

// Retry bounds how often an entry is handed out before it is quarantined (L9).
type Retry struct {
	// Attempts is how many claims that count an entry gets, 2 to 100.
	Attempts int
	// HandOuts is how many claims that cost no attempt it gets beside them, 2 to
	// 10,000: batches that were never delivered or that were handed back.
	HandOuts int
}

// DefaultRetry is what the design asks for.
var DefaultRetry = Retry{Attempts: 5, HandOuts: 50}

// Check says what is wrong with the bounds.
func (r Retry) Check() error {
	var problems []error
	if r.Attempts < 2 || r.Attempts > 100 {
		problems = append(problems, fmt.Errorf("attempts must be from 2 to 100, not %d", r.Attempts))
	}
	if r.HandOuts < 2 || r.HandOuts > 10_000 {
		problems = append(problems, fmt.Errorf("handOuts must be from 2 to 10000, not %d", r.HandOuts))
	}
	return errors.Join(problems...)
}

// Lane is where a ticket waits. Stores write the numbers.
type Lane int16

// The lanes. A claim hands out fresh entries and bulk work together, in this
// order, but suspects only among themselves, so that a bad entry takes no
// healthy one down (L9).
const (
	// LaneFresh: entries without an attempt, in fair order of their groups (L17).
	LaneFresh Lane = 0
	// LaneBulk: backfill and reprocessing, after what a person just submitted.
	LaneBulk Lane = 1
	// LaneSuspect: entries that cost one or two attempts, in batches of at most ⌈n/8⌉.
	LaneSuspect Lane = 2
	// LaneAlone: entries with three attempts and more, with only one attempt left, or
	// with half of their uncounted hand-outs used up: one at a time.
	LaneAlone Lane = 3
	// LaneSpent: entries whose attempts or hand-outs are used up. They wait for
	// quarantine and are never claimed.
	LaneSpent Lane = 4
)

// The share of a claim that suspects get, and from how many attempts on they go alone.
const (
	SuspectShare  = 8
	AloneAttempts = 3
)

// Lane returns where an entry waits that was handed out handOuts times in all, of
// which attempts count; bulk says that it was backfilled or reprocessed. The
// statements of the stores compute the same.
func (r Retry) Lane(attempts, handOuts int, bulk bool) Lane {
	uncounted := handOuts - attempts
	switch {
	case attempts >= r.Attempts || uncounted >= r.HandOuts:
		return LaneSpent
	case attempts >= AloneAttempts || attempts >= r.Attempts-1 || uncounted >= (r.HandOuts+1)/2:
		return LaneAlone
	case attempts > 0:
		return LaneSuspect
	case bulk:
		return LaneBulk
	default:
		return LaneFresh
	}
}

// SuspectBatch is how many suspects a claim of n entries gets at most: ⌈n/8⌉.
func SuspectBatch(n int) int { return (n + SuspectShare - 1) / SuspectShare }
