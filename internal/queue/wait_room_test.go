package queue

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// scripted answers looks as a function says.
type scripted func(awaited []Awaited) ([]bool, error)

func (s scripted) Stirred(_ context.Context, awaited []Awaited) ([]bool, error) { return s(awaited) }

// isWoken says whether it is the waiter's turn.
func isWoken(w *waiter) bool {
	select {
	case <-w.woken:
		return true
	default:
		return false
	}
}

func TestWaitingRoom_ABellWakesOneOfEachVersion(t *testing.T) {
	t.Parallel()
	room := newWaitingRoom()
	enter := func(key queueKey) *waiter { return room.enter(key, "mark", room.heard(key)) }
	one, two, other := queueKey{"fern", 1}, queueKey{"fern", 2}, queueKey{"moss", 1}
	first, second, newer, moss := enter(one), enter(one), enter(two), enter(other)
	room.ring("fern")
	if !isWoken(first) || isWoken(second) || !isWoken(newer) || isWoken(moss) {
		t.Error("want the first of each version of the organism woken, and nobody else")
	}
	room.ring("fern") // while the first has its turn
	if isWoken(second) {
		t.Error("two have their turn at once")
	}
	again := room.enterAgain(one, "mark") // it found nothing; it may have looked before the second ring
	if !isWoken(second) || isWoken(again) {
		t.Error("the second ring was lost")
	}
	room.report(one, true)
	if !isWoken(again) {
		t.Error("who got entries didn't wake the next")
	}
	room.report(one, false)
	room.report(two, false)
	room.leave(moss)
	if len(room.lines) != 0 {
		t.Errorf("lines of nobody are kept: %v", room.lines)
	}
}

func TestWaitingRoom_ARingDuringTheFirstClaimIsHeard(t *testing.T) {
	t.Parallel()
	room, key := newWaitingRoom(), queueKey{"fern", 1}
	rang := room.heard(key)
	room.ring("fern") // the claim may have looked before
	if w := room.enter(key, "mark", rang); !isWoken(w) {
		t.Error("the ring was lost")
	}
}

func TestWaitingRoom_ATurnOfOneThatLeavesGoesToTheNext(t *testing.T) {
	t.Parallel()
	room, key := newWaitingRoom(), queueKey{"fern", 1}
	first, second, third := room.enter(key, "m", 0), room.enter(key, "m", 0), room.enter(key, "m", 0)
	room.ring("fern")
	room.leave(second)
	room.leave(first) // its turn and its timeout came together
	if !isWoken(third) {
		t.Error("the turn was lost")
	}
}

func TestWaitingRoom_LooksWakeOnlyWhatStirred(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		room := newWaitingRoom()
		one, two := queueKey{"fern", 1}, queueKey{"fern", 2}
		still, stirred := room.enter(one, "m1", 0), room.enter(two, "m2", 0)
		looks := 0
		store := scripted(func(awaited []Awaited) ([]bool, error) {
			answers := make([]bool, len(awaited))
			for i, a := range awaited {
				if a.PipelineVersion == 1 && a.Mark != "m1" || a.PipelineVersion == 2 && a.Mark != "m2" {
					t.Errorf("asked for version %d with the mark %q", a.PipelineVersion, a.Mark)
				}
				answers[i] = a.PipelineVersion == 2
			}
			looks++
			return answers, nil
		})
		run(t, room, store, nil, 5*time.Second)
		if isWoken(still) || !isWoken(stirred) || looks < 4 {
			t.Errorf("woken: %t and %t, want the second alone; %d looks", isWoken(still), isWoken(stirred), looks)
		}
	})
}

// run runs the looks for d.
func run(t *testing.T, room *waitingRoom, store WaitStore, logger *slog.Logger, d time.Duration) {
	t.Helper()
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := room.run(ctx, store, logger); err != nil {
		t.Error(err)
	}
}

func TestWaitingRoom_LooksThatFailAreLoggedOnceAMinuteAndGoOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		room, key := newWaitingRoom(), queueKey{"fern", 1}
		w := room.enter(key, "m", 0)
		began := time.Now()
		store := scripted(func(awaited []Awaited) ([]bool, error) {
			if time.Since(began) < 150*time.Second {
				return nil, errors.New("no connection")
			}
			return []bool{true}, nil
		})
		var log bytes.Buffer
		run(t, room, store, slog.New(slog.NewTextHandler(&log, nil)), 200*time.Second)
		if n := strings.Count(log.String(), "no connection"); n != 3 {
			t.Errorf("%d messages in 150 s, want 3:\n%s", n, log.String())
		}
		if !strings.Contains(log.String(), "unlogged=59") {
			t.Errorf("the log doesn't say how many there were:\n%s", log.String())
		}
		if !isWoken(w) {
			t.Error("nobody was woken when the store was back")
		}
	})
}
