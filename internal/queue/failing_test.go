package queue

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seqlease/seqlease"
)

func TestFailingWorkers_L9_PausesGrow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, w := newFailingWorkers(), worker{"pipeline", "w1"}
		for range patience - 1 {
			f.leaseEnded(w)
		}
		if got := f.pause(w); got != 0 {
			t.Errorf("after %d failures: got a pause of %s, want none", patience-1, got)
		}
		for _, seconds := range []int{2, 4, 8, 16, 32, 60, 60, 60} {
			want := time.Duration(seconds) * time.Second
			f.leaseEnded(w)
			if got := f.pause(w); got != want {
				t.Errorf("got a pause of %s, want %s", got, want)
			}
			<-time.After(time.Millisecond)
			if got := f.pause(w); got != want {
				t.Errorf("got %s left, want whole seconds", got)
			}
			<-time.After(want)
			if got := f.pause(w); got != 0 {
				t.Errorf("got %s left after the pause", got)
			}
		}
	})
}

func TestFailingWorkers_L9_AStoredResultResets(t *testing.T) {
	t.Parallel()
	f, w, id := newFailingWorkers(), worker{"pipeline", "w1"}, seqlease.NewAttemptID()
	f.claimed(id, w)
	for range 3 {
		for range patience - 1 {
			f.judged("pipeline", []seqlease.AttemptID{id}, nil)
		}
		f.judged("pipeline", nil, []seqlease.AttemptID{id})
	}
	if got := f.pause(w); got != 0 {
		t.Errorf("got a pause of %s, want none: results were stored in between", got)
	}
	for range patience {
		f.judged("pipeline", []seqlease.AttemptID{id}, nil)
	}
	if got := f.pause(w); got == 0 {
		t.Error("no pause after failures in a row")
	}
	for _, other := range []worker{{"pipeline", "w2"}, {"somebody", "w1"}} {
		if got := f.pause(other); got != 0 {
			t.Errorf("%v waits %s for another's failures", other, got)
		}
	}
	f.judged("pipeline", nil, []seqlease.AttemptID{id})
	if got := f.pause(w); got != 0 {
		t.Errorf("got a pause of %s after a stored result", got)
	}
}

func TestFailingWorkers_L9_B095_AnotherUsersSubmissionsSayNothing(t *testing.T) {
	t.Parallel()
	f, w, id := newFailingWorkers(), worker{"pipeline", "w1"}, seqlease.NewAttemptID()
	f.claimed(id, w)
	for range 2 * patience {
		f.judged("stranger", []seqlease.AttemptID{id}, nil)
	}
	if got := f.pause(w); got != 0 {
		t.Errorf("got a pause of %s for what a stranger sent", got)
	}
	for range patience {
		f.judged("pipeline", []seqlease.AttemptID{id}, nil)
	}
	f.judged("stranger", nil, []seqlease.AttemptID{id})
	if got := f.pause(w); got == 0 {
		t.Error("a stranger's results ended the pause")
	}
}

func TestFailingWorkers_L9_ASubmissionIsOneFailure(t *testing.T) {
	t.Parallel()
	f, w := newFailingWorkers(), worker{"pipeline", "w1"}
	var attempts []seqlease.AttemptID
	for range 2 * patience {
		id := seqlease.NewAttemptID()
		f.claimed(id, w)
		attempts = append(attempts, id)
	}
	f.judged("pipeline", attempts, nil)
	if got := f.streaks.values[w].failures; got != 1 {
		t.Errorf("got %d failures, want one for a submission, however many attempts it is of", got)
	}
}

func TestFailingWorkers_L9_WithoutAWorkerIDNobodyIsTracked(t *testing.T) {
	t.Parallel()
	f, id := newFailingWorkers(), seqlease.NewAttemptID()
	f.claimed(id, worker{"pipeline", ""})
	for range 2 * patience {
		f.leaseEnded(worker{"pipeline", ""})
		f.judged("pipeline", []seqlease.AttemptID{id}, nil)
		f.judged("pipeline", []seqlease.AttemptID{seqlease.NewAttemptID()}, nil) // of another server
	}
	if got := f.pause(worker{"pipeline", ""}); got != 0 {
		t.Errorf("got a pause of %s", got)
	}
}

func TestFailingWorkers_MemoryIsBounded(t *testing.T) {
	t.Parallel()
	f := newFailingWorkers()
	for i := range 2*maxRemembered + 1 {
		f.leaseEnded(worker{"pipeline", strconv.Itoa(i)})
		f.claimed(seqlease.NewAttemptID(), worker{"pipeline", strconv.Itoa(i)})
	}
	if n, m := len(f.streaks.values), len(f.attempts.values); n != maxRemembered || m != maxRemembered {
		t.Errorf("remembers %d workers and %d attempts, want %d", n, m, maxRemembered)
	}
	newest, first := worker{"pipeline", strconv.Itoa(2 * maxRemembered)}, worker{"pipeline", "0"}
	if f.streaks.values[newest].failures != 1 || f.streaks.values[first].failures != 0 {
		t.Error("the newest was forgotten, or the oldest was kept")
	}
}
