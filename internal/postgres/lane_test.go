package postgres

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease/internal/queue"
)

// took is what a claim of 3 entries found.
func took(ahead, behind int64, entries int) *scanned {
	return &scanned{mark: "m", lastAhead: ahead, lastBehind: behind, entries: make([]queue.ClaimedEntry, entries), now: time.Unix(1000, 0)}
}

func TestLane_BoundFollowsWhatIsFound(t *testing.T) {
	t.Parallel()
	bounded, whole := look{after: 100}, look{whole: true}
	surplus := took(103, 0, 3)
	surplus.firstSurplus = 40
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
		{"what an ended lease leaves over moves it back", 100, bounded, surplus, 39},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := &lane{after: c.after}
			l.note(c.at, 3, c.found)
			if l.after != c.want {
				t.Errorf("got %d, want %d", l.after, c.want)
			}
		})
	}
}

func TestLane_WholeLookOnceASecondWhateverIsRemembered(t *testing.T) {
	t.Parallel()
	l := &lane{}
	if first := l.next(false); !first.look.whole || first.lead != nil {
		t.Fatalf("the first claim looks at %+v, want the whole queue", first)
	}
	l.note(look{whole: true}, 3, took(30, 0, 3))
	if diff := cmp.Diff(look{after: 30, probeFrom: l.probeFrom}, l.next(false).look, cmp.AllowUnexported(look{})); diff != "" {
		t.Errorf("the next claim (-want +got):\n%s", diff)
	}
	l.scannedAt = l.scannedAt.Add(-scanInterval)
	if again := l.next(false); !again.look.whole {
		t.Errorf("after a second a claim looks at %+v, want the whole queue", again)
	}
	if next := l.next(false); next.look.whole {
		t.Error("the claim after that looks at the whole queue, too")
	}
}

func TestLane_L14_EmptyQueueIsLookedAtTogether(t *testing.T) {
	t.Parallel()
	l := &lane{}
	l.next(false)
	l.note(look{whole: true}, 3, took(0, 0, 0))
	peek := l.next(false)
	if peek.peek == nil || !peek.peek.holds("m", time.Now()) || peek.peek.holds("other", time.Now()) {
		t.Fatalf("got %+v, want a comparison with the mark of the empty answer", peek)
	}
	early := l.arrive()
	leader := l.next(true)
	if leader.lead == nil || !leader.look.whole {
		t.Fatalf("got %+v, want a shared look at the whole queue", leader)
	}
	late := l.arrive()
	waiter := l.next(true)
	if waiter.wait != leader.lead {
		t.Fatalf("got %+v, want to wait for the shared look", waiter)
	}
	l.note(leader.look, 3, took(0, 0, 0))
	l.end(leader.lead, took(0, 0, 0))
	<-waiter.wait.done
	if !waiter.wait.empty || waiter.wait.number <= early || waiter.wait.number > late {
		t.Errorf("the look has number %d, want it to answer who came at %d and not who came at %d", waiter.wait.number, early, late)
	}
	l.scannedAt = l.scannedAt.Add(-scanInterval)
	if due := l.next(false); due.lead == nil {
		t.Errorf("after a second got %+v, want a shared look though the mark may be the same", due)
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
