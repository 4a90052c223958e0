package postgres

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease/internal/queue"
)

// look says where a claim looks.
type look struct {
	whole     bool       // at all tickets and all ended leases
	after     bounds     // beyond these first
	turn      queue.Lane // of suspects, to look at first; 0: none
	wholeTurn bool       // the turn is a look at all of them
	probe     bool       // at ended leases, too, even if tickets abound
	probeFrom time.Time  // zero: at ended leases of any age
	exhausted string     // the mark at which nothing fresh is behind the bounds; empty: not known
}

// The rounds of a claim: each is looked at only if those before it found nothing.
const (
	roundTurn    = 1 // suspects whose turn it is
	roundFresh   = 2
	roundSuspect = 3
	roundAlone   = 4
)

// stretches are parts of lanes, in the order in which a claim looks at them. The
// slices are parallel: from is exclusive, to inclusive.
type stretches struct {
	rounds, lanes                      []int16
	behind                             []bool
	fromRanks, fromIDs, toRanks, toIDs []int64
}

func (s *stretches) add(round int16, lane queue.Lane, behind bool, from, to spot) {
	s.rounds, s.lanes, s.behind = append(s.rounds, round), append(s.lanes, int16(lane)), append(s.behind, behind)
	s.fromRanks, s.fromIDs = append(s.fromRanks, from.rank), append(s.fromIDs, from.id)
	s.toRanks, s.toIDs = append(s.toRanks, to.rank), append(s.toIDs, to.id)
}

// round adds the lanes, all of them or from their bounds on, and what lies behind
// the bounds only after that.
func (s *stretches) round(round int16, l look, lanes ...queue.Lane) {
	for _, lane := range lanes {
		from := l.after[lane]
		if l.whole || round == roundTurn && l.wholeTurn {
			from = firstSpot
		}
		s.add(round, lane, false, from, lastSpot)
	}
	for _, lane := range lanes {
		if !l.whole && round != roundTurn {
			s.add(round, lane, true, firstSpot, l.after[lane])
		}
	}
}

// arguments are those of the claim statement that say where to look.
func (l look) arguments(n int) pgx.StrictNamedArgs {
	var s stretches
	turnLimit := 0
	if l.turn != 0 {
		turnLimit = limitOf(l.turn, n)
		s.round(roundTurn, l, l.turn)
	}
	s.round(roundFresh, l, queue.LaneFresh, queue.LaneBulk)
	s.round(roundSuspect, l, queue.LaneSuspect)
	s.round(roundAlone, l, queue.LaneAlone)
	return pgx.StrictNamedArgs{
		"rounds": s.rounds, "lanes": s.lanes, "behind": s.behind, "exhausted": l.exhausted, "from_ranks": s.fromRanks, "from_ids": s.fromIDs, "to_ranks": s.toRanks, "to_ids": s.toIDs,
		"n": n, "turn_limit": turnLimit, "suspects": queue.SuspectBatch(n), "ended_limit": endedLimit(n), "probe": l.probe,
	}
}

// onlyFresh says that a claim of n that finds anything fresh needn't look at
// anything else.
func (l look) onlyFresh(n int) bool {
	return !l.whole && !l.probe && l.turn == 0 && n <= queue.PayloadLimit
}

// freshArguments say where claims look that take fresh entries alone.
func (l look) freshArguments() pgx.StrictNamedArgs {
	var s stretches
	s.round(roundFresh, l, queue.LaneFresh, queue.LaneBulk)
	return pgx.StrictNamedArgs{
		"lanes": s.lanes, "behind": s.behind, "exhausted": l.exhausted,
		"from_ranks": s.fromRanks, "from_ids": s.fromIDs, "to_ranks": s.toRanks, "to_ids": s.toIDs,
	}
}

// The bounds of how many ended leases one claim takes over: a lease has up to
// 1,000 entries, most of which become tickets.
const (
	minEndedLimit = 4
	maxEndedLimit = 100
)

// endedLimit is how many ended leases a claim of n takes over that finds nothing
// else: in the worst case each has one entry.
func endedLimit(n int) int { return min(max(queue.SuspectBatch(n), minEndedLimit), maxEndedLimit) }

// reached says how far a claim came in a lane; the zero spot is no ticket's.
type reached struct{ ahead, behind spot }

// note takes in a ticket that was claimed.
func (r *reached) note(l look, lane queue.Lane, p spot) {
	last := &r.ahead
	if !l.whole && !l.after[lane].before(p) {
		last = &r.behind
	}
	if last.before(p) {
		*last = p
	}
}
