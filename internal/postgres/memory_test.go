package postgres

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease/internal/queue"
)

// took is what a claim of 3 entries found in lane 0, in rank 1.
func took(ahead, behind int64, entries int) *scanned {
	f := &scanned{mark: "m", shares: [][]queue.ClaimedEntry{make([]queue.ClaimedEntry, entries)}, now: time.Unix(1000, 0)}
	f.reached[queue.LaneFresh] = reached{at(ahead), at(behind)}
	return f
}

func at(id int64) spot {
	if id == 0 {
		return spot{}
	}
	return spot{1, id}
}

func TestMemory_BoundFollowsWhatIsFound(t *testing.T) {
	t.Parallel()
	bounded, whole := look{after: bounds{at(100)}}, look{whole: true}
	for _, c := range []struct {
		name  string
		after int64
		at    look
		found *scanned
		want  int64
	}{
		{"claims move it up", 100, bounded, took(103, 0, 3), 103},
		{"a claim that comes late doesn't move it down", 200, bounded, took(103, 0, 3), 200},
		{"rows behind move it back", 100, bounded, took(103, 7, 3), 7},
		{"all rows behind were found: it stays", 100, bounded, took(103, 7, 2), 103},
		{"a whole look moves it back", 100, whole, took(9, 0, 3), 9},
		{"an empty whole look leaves it", 100, whole, took(0, 0, 0), 100},
		{"a claim begun before it was moved back doesn't move it up", 20, bounded, took(103, 0, 3), 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := &memory{after: bounds{at(c.after)}}
			m.note(c.at, 3, c.found)
			if m.after[queue.LaneFresh] != at(c.want) {
				t.Errorf("got %v, want %v", m.after[queue.LaneFresh], at(c.want))
			}
		})
	}
}

func TestMemory_L9_SurplusMovesTheBoundsOfSuspectsBack(t *testing.T) {
	t.Parallel()
	m := &memory{after: bounds{{900, 1}, {900, 1}, {900, 1}, {300, 1}}}
	found, rank := took(0, 0, 0), int64(500)
	found.surplusRank = &rank
	m.note(look{after: m.after}, 3, found)
	if want := (bounds{{900, 1}, {900, 1}, {499, math.MaxInt64}, {300, 1}}); m.after != want {
		t.Errorf("got %v, want %v", m.after, want)
	}
}

// L9: neither fresh entries nor suspects starve the others.
func TestMemory_L9_EveryFourthLookBeginsWithSuspects(t *testing.T) {
	t.Parallel()
	m := &memory{}
	var turns []queue.Lane
	for range 16 {
		turns = append(turns, m.look(false, time.Unix(1000, 0)).turn)
	}
	if diff := cmp.Diff([]queue.Lane{0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0}, turns); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
}

// L9: a lane of suspects that was found empty has no turns, as long as nothing was
// added, but for one look at all of it a second.
func TestMemory_L9_NoTurnWhereTheMarkProvesThatThereAreNoSuspects(t *testing.T) {
	t.Parallel()
	m, now := &memory{}, time.Unix(1000, 0)
	turns := func() (count int) {
		for range 2 * turnInterval {
			l := m.look(false, now)
			found := took(0, 0, 3)
			found.mark = m.newestMark
			if l.turn != 0 {
				count++
			}
			m.note(l, 3, found)
		}
		return count
	}
	m.newestMark = "m"
	if first, more := turns()+turns(), turns(); first < 2 || more != 0 {
		t.Errorf("%d turns at first and %d then, want each lane to be looked at and no more", first, more)
	}
	now = now.Add(scanInterval)
	if due := turns(); due != 2 {
		t.Errorf("%d turns after a second, want one of each lane", due)
	}
	m.newestMark = "n"
	if changed := turns(); changed != 0 {
		t.Errorf("%d turns right after something was added, want none", changed)
	}
	now = now.Add(changedInterval)
	if changed := turns(); changed != 2 {
		t.Errorf("%d turns a while after something was added, want one of each lane", changed)
	}
	for _, mark := range []string{"o", "p", "q"} {
		if m.newestMark = mark; turns() != 0 {
			t.Errorf("turns at mark %s, though a tenth of a second hasn't passed, want none", mark)
		}
	}
	m.noneAt = [claimableLanes]string{"q", "q", "q", "q"}
	m.moveBack(queue.LaneSuspect, 7)
	if own := turns(); own != 1 {
		t.Errorf("%d turns after this process put suspects there, want one of their lane", own)
	}
}

// L9: where a turn found suspects, every fourth look is a turn.
func TestMemory_L9_TurnsGoOnWhereThereAreSuspects(t *testing.T) {
	t.Parallel()
	m, now := &memory{newestMark: "m"}, time.Unix(1000, 0)
	for i := range 8 * turnInterval {
		l := m.look(false, now)
		if isTurn := i > 0 && i%turnInterval == 0; isTurn != (l.turn != 0) {
			t.Errorf("look %d: a turn at lane %d, want a turn: %t", i, l.turn, isTurn)
		}
		found := took(0, 0, 3)
		found.reached[l.turn] = reached{ahead: at(7)}
		m.note(l, 3, found)
	}
}

// L4, L14: one look answers for all who found nothing fresh before it began.
func TestMemory_L14_OneLookIsShared(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		found        *scanned
		empty, fresh bool
	}{
		{"nothing", took(0, 0, 0), true, false},
		{"something fresh", took(7, 0, 1), false, true},
		{"a suspect", func() *scanned {
			f := took(0, 0, 1)
			f.reached[queue.LaneSuspect] = reached{ahead: at(7)}
			return f
		}(), false, false},
		{"it failed", nil, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := &memory{}
			arrived := m.arrive()
			first, second := m.share(look{}), m.share(look{})
			if first.lead == nil || second.wait != first.lead || first.lead.number <= arrived {
				t.Fatalf("got %+v and %+v, want the second to wait for the first", first, second)
			}
			var found *claimed
			if c.found != nil {
				found = &claimed{c.found, c.found.shares[0]}
			}
			m.end(first.lead, found)
			<-second.wait.done
			if second.wait.empty != c.empty || second.wait.fresh != c.fresh {
				t.Errorf("empty %t, fresh %t, want %t and %t", second.wait.empty, second.wait.fresh, c.empty, c.fresh)
			}
			if third := m.share(look{}); third.lead == nil || third.lead.number <= m.arrive()-1 {
				t.Errorf("got %+v, want a look of its own", third)
			}
		})
	}
}

// L9: suspects may lie behind the bound, and looks at the whole queue that find
// something fresh never come to them, whatever the rhythm of the claims.
func TestMemory_L9_SuspectsBehindTheBoundHaveTheirTurnsAtAnyPace(t *testing.T) {
	t.Parallel()
	for _, pace := range []time.Duration{0, 90 * time.Millisecond, 127 * time.Millisecond, 250 * time.Millisecond, time.Second} {
		for _, every := range []int{1, 2, 4, 8} { // every so many looks are at the whole queue
			m, now := &memory{}, time.Unix(1000, 0)
			last := map[queue.Lane]int{}
			for i := range 400 {
				at := m.look(i%every == 1, now)
				if at.wholeTurn || at.whole && at.turn != 0 {
					last[at.turn] = i
				}
				for _, lane := range []queue.Lane{queue.LaneSuspect, queue.LaneAlone} {
					if waited := i - last[lane]; waited > 2*turnInterval && time.Duration(waited-2*turnInterval)*pace > scanInterval {
						t.Fatalf("claims %s apart, every %d. at the whole queue: lane %d had no look at all of it for %d claims", pace, every, lane, waited)
					}
				}
				now = now.Add(pace)
			}
			if last[queue.LaneSuspect] == 0 || last[queue.LaneAlone] == 0 {
				t.Errorf("claims %s apart: whole looks at lanes %v, want both", pace, last)
			}
		}
	}
}

func TestLook_L9_WholeTurnBeginsAtTheFirstTicket(t *testing.T) {
	t.Parallel()
	far := bounds{{900, 1}, {900, 1}, {900, 1}, {900, 1}}
	for _, whole := range []bool{false, true} {
		arguments := look{after: far, turn: queue.LaneSuspect, wholeTurn: whole}.arguments(8)
		want := far[queue.LaneSuspect].rank
		if whole {
			want = math.MinInt64
		}
		if got := arguments["from_ranks"].([]int64)[0]; got != want {
			t.Errorf("whole %t: the turn begins behind rank %d, want %d", whole, got, want)
		}
	}
}

// L17: what another server added may lie behind the bound.
func TestMemory_L17_ChangedMarkMakesClaimsLookAtTheWholeQueue(t *testing.T) {
	t.Parallel()
	m := &memory{}
	m.note(m.next(false).look, 3, took(30, 0, 3))
	changed := took(33, 0, 3)
	changed.mark = "n"
	m.note(m.next(false).look, 3, changed)
	if early := m.next(false); early.look.whole {
		t.Error("the next claim looks at the whole queue, want it to wait")
	}
	m.scannedAt = m.scannedAt.Add(-changedInterval)
	if late := m.next(false); !late.look.whole {
		t.Errorf("after %s a claim looks at %+v, want the whole queue", changedInterval, late)
	}
	m.note(look{whole: true}, 3, changed)
	m.scannedAt = m.scannedAt.Add(-changedInterval)
	if again := m.next(false); again.look.whole {
		t.Error("a claim looks at the whole queue though the mark is the same")
	}
}

func TestMemory_WholeLookOnceASecondWhateverIsRemembered(t *testing.T) {
	t.Parallel()
	m := &memory{}
	if first := m.next(false); !first.look.whole || first.lead != nil {
		t.Fatalf("the first claim looks at %+v, want the whole queue", first)
	}
	m.note(look{whole: true}, 3, took(30, 0, 3))
	if diff := cmp.Diff(look{after: bounds{at(30)}, probeFrom: m.probeFrom}, m.next(false).look, cmp.AllowUnexported(look{}, spot{})); diff != "" {
		t.Errorf("the next claim (-want +got):\n%s", diff)
	}
	m.scannedAt = m.scannedAt.Add(-scanInterval)
	if again := m.next(false); !again.look.whole {
		t.Errorf("after a second a claim looks at %+v, want the whole queue", again)
	}
	if next := m.next(false); next.look.whole {
		t.Error("the claim after that looks at the whole queue, too")
	}
}

// While an old transaction keeps dead tickets, a look at the whole queue takes long:
// looks take a twentieth of the time, and at least one happens in five seconds. Ended
// leases (L4) are looked for once a second all the same.
func TestMemory_L4_WholeLooksThatTakeLongRest(t *testing.T) {
	t.Parallel()
	m := &memory{}
	slow := took(30, 0, 3)
	slow.took = 200 * time.Millisecond
	m.note(m.next(false).look, 3, slow)
	m.scannedAt, m.probedAt = m.scannedAt.Add(-3*time.Second), m.probedAt.Add(-3*time.Second)
	changed := took(33, 0, 3)
	changed.mark = "n"
	if l := m.next(false).look; l.whole || !l.probe || l.onlyFresh(3) {
		t.Errorf("after 3 s a claim looks at %+v, want ended leases and what is ahead", l)
	}
	if l := m.next(false).look; l.whole || l.probe {
		t.Errorf("the claim after that looks at %+v, want only what is ahead", l)
	}
	m.note(look{after: m.after}, 3, changed)
	if l := m.next(false).look; l.whole {
		t.Error("a changed mark ends the rest")
	}
	m.scannedAt = m.scannedAt.Add(-time.Second)
	if l := m.next(false).look; !l.whole {
		t.Errorf("after 4 s a claim looks at %+v, want the whole queue", l)
	}
	slow.took = time.Minute
	m.note(look{whole: true}, 3, slow)
	m.scannedAt = m.scannedAt.Add(-longestRest)
	if l := m.next(false).look; !l.whole {
		t.Errorf("after %s a claim looks at %+v, want the whole queue", longestRest, l)
	}
}

// What lies behind the bounds is left out only at the mark at which a claim found
// nothing fresh.
func TestMemory_L14_TheEndIsRememberedWithItsMark(t *testing.T) {
	t.Parallel()
	rank := int64(5)
	surplus, paused := took(30, 0, 1), took(0, 0, 0)
	surplus.surplusRank, paused.paused = &rank, true
	for _, c := range []struct {
		name  string
		at    look
		found *scanned
		want  string
	}{
		{"as many as asked for", look{}, took(30, 0, 3), ""},
		{"fewer, which may be for tickets without an entry", look{}, took(30, 0, 2), ""},
		{"none", look{whole: true}, took(0, 0, 0), "m"},
		{"a turn of suspects, which may have been all", look{turn: queue.LaneSuspect}, took(0, 0, 1), ""},
		{"entries of ended leases were put back", look{}, surplus, ""},
		{"paused: nothing was looked at", look{}, paused, ""},
	} {
		m, l := &memory{}, look{}
		m.noteEnd(c.at, c.found)
		if m.catchUp(&l); l.exhausted != c.want {
			t.Errorf("%s: the mark of the end is %q, want %q", c.name, l.exhausted, c.want)
		}
		m.moveBack(queue.LaneBulk, 7)
		if m.catchUp(&l); l.exhausted != "" {
			t.Errorf("%s: an end is remembered after this process put something there", c.name)
		}
	}
}

func TestMemory_L14_EmptyQueueIsLookedAtTogether(t *testing.T) {
	t.Parallel()
	m := &memory{}
	m.next(false)
	m.note(look{whole: true}, 3, took(0, 0, 0))
	peek := m.next(false)
	if peek.peek == nil || !peek.peek.holds("m", time.Now()) || peek.peek.holds("other", time.Now()) {
		t.Fatalf("got %+v, want a comparison with the mark of the empty answer", peek)
	}
	early := m.arrive()
	leader := m.next(true)
	if leader.lead == nil || !leader.look.whole {
		t.Fatalf("got %+v, want a shared look at the whole queue", leader)
	}
	late := m.arrive()
	waiter := m.next(true)
	if waiter.wait != leader.lead {
		t.Fatalf("got %+v, want to wait for the shared look", waiter)
	}
	m.note(leader.look, 3, took(0, 0, 0))
	m.end(leader.lead, &claimed{took(0, 0, 0), nil})
	<-waiter.wait.done
	if !waiter.wait.empty || waiter.wait.number <= early || waiter.wait.number > late {
		t.Errorf("the look has number %d, want it to answer who came at %d and not who came at %d", waiter.wait.number, early, late)
	}
	m.scannedAt = m.scannedAt.Add(-scanInterval)
	if due := m.next(false); due.lead == nil {
		t.Errorf("after a second got %+v, want a shared look though the mark may be the same", due)
	}
}

func TestMemory_V9_ReplacingIsExpectedForASecond(t *testing.T) {
	t.Parallel()
	m := &memory{}
	if m.replacing() {
		t.Error("nothing was replaced yet")
	}
	m.replaced()
	if !m.replacing() {
		t.Error("results were replaced just now, want more of that to be expected")
	}
	m.replacedAt = m.replacedAt.Add(-replacingInterval)
	if m.replacing() {
		t.Error("none was replaced for a second, want none to be expected")
	}
}

func TestEmptiness_L4_EndsWithTheFirstLease(t *testing.T) {
	t.Parallel()
	end := time.Unix(2000, 0)
	e := &emptiness{mark: "m", earliestEnd: &end}
	if !e.holds("m", end.Add(-time.Microsecond)) || e.holds("m", end) {
		t.Error("it must hold until the first lease ends, and not at that instant")
	}
	if (*emptiness)(nil).holds("m", end) {
		t.Error("nothing is known, so nothing holds")
	}
}
