package queue

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seqlease/seqlease"
)

// chores is a store whose answers are written down, to see how the keeper paces
// itself and what it makes of faults.
type chores struct {
	mu        sync.Mutex // the keeper does several things at once
	fault     error
	sweeps    int
	trims     []time.Duration // when, since the beginning
	chunks    []int64         // after which entries
	entries   int64
	spents    []SpentTicket // all that there are
	ended     []Verdict
	unknown   seqlease.Organism // which can't be packed
	began     time.Time
	leases    int // to sweep
	histories int
	keyTrims  []time.Duration // when, since the beginning
	keys      int
}

func (c *chores) Sweep(_ context.Context, limit int) (int, []EndedLease, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sweeps++
	n := min(limit, c.leases)
	c.leases -= n
	return n, nil, c.fault
}

func (c *chores) Spent(_ context.Context, limit int) ([]SpentTicket, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spents[:min(limit, len(c.spents))], c.fault
}

func (c *chores) Quarantine(_ context.Context, verdicts []Verdict) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = append(c.ended, verdicts...)
	var left []SpentTicket
	for _, t := range c.spents {
		kept := true
		for _, v := range verdicts {
			kept = kept && v.EntryID != t.EntryID
		}
		if kept {
			left = append(left, t)
		}
	}
	n := len(c.spents) - len(left)
	c.spents = left
	return n, nil
}

func (c *chores) TrimHistory(_ context.Context, _ time.Duration, limit int) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trims = append(c.trims, time.Since(c.began))
	n := min(limit, c.histories)
	c.histories -= n
	return n, c.fault
}

func (c *chores) TrimUploadKeys(_ context.Context, keep time.Duration, limit int) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if keep != uploadKeysFor {
		return 0, errors.New("keys are forgotten at another age")
	}
	c.keyTrims = append(c.keyTrims, time.Since(c.began))
	n := min(limit, c.keys)
	c.keys -= n
	return n, c.fault
}

func (c *chores) Reconcile(_ context.Context, after int64, limit int) (added int, last int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.chunks = append(c.chunks, after)
	if c.fault != nil || after >= c.entries {
		return 0, 0, c.fault
	}
	return 1, min(after+int64(limit), c.entries), nil
}

func (c *chores) Pack(o seqlease.Organism, document []byte) (seqlease.Packed, error) {
	if o == c.unknown {
		return seqlease.Packed{}, UnknownOrganism(o)
	}
	return seqlease.Packed{Bytes: document}, nil
}

// keep lets a keeper run for d and returns what it logged.
func (c *chores) keep(t *testing.T, d time.Duration) string {
	t.Helper()
	var log bytes.Buffer
	c.began = time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	keeper := NewKeeper(c, KeeperOptions{HistoryFor: time.Hour, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err := keeper.Run(ctx); err != nil {
		t.Errorf("run: %v", err)
	}
	return log.String()
}

func TestKeeper_PacesItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &chores{entries: 5000, histories: 2 * trimRecords, leases: 3*sweepLeases + 1}
		log := c.keep(t, 50*time.Second)
		if c.leases != 0 || c.sweeps < 16+3 || c.sweeps > 34+3 {
			t.Errorf("%d leases are left after %d sweeps, want none after one every two seconds", c.leases, c.sweeps)
		}
		if want := []int64{0, 2000, 4000, 5000}; len(c.chunks) != len(want) || c.chunks[3] != want[3] {
			t.Errorf("looked behind entries %v, want %v and then a rest of a minute", c.chunks, want)
		}
		if len(c.trims) != 3 {
			t.Errorf("trimmed after %v, want three times and then a rest", c.trims)
		}
		if !strings.Contains(log, "entries had neither ticket, lease nor result") {
			t.Errorf("the log doesn't say that tickets were missing:\n%s", log)
		}
	})
}

// TestKeeper_ForgetsKeysOfUploads takes some at a time and rests for ten minutes when
// none are left; it needs no history to be trimmed.
func TestKeeper_ForgetsKeysOfUploads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &chores{keys: 2*trimKeys + 1}
		log := c.keep(t, 5*time.Minute)
		if c.keys != 0 || len(c.keyTrims) != 3 || c.keyTrims[2] > time.Minute {
			t.Errorf("%d keys are left, forgotten after %v; want none after three times and a rest", c.keys, c.keyTrims)
		}
		if strings.Contains(log, "keys") {
			t.Errorf("the log speaks of faults:\n%s", log)
		}
	})
}

func TestKeeper_FaultsEndNothingAndAreLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &chores{fault: errors.New("no connection"), entries: 10}
		log := c.keep(t, 150*time.Second)
		for _, message := range []string{"sweeping and quarantine", "trimming the history", "looking for entries without a ticket", "forgetting keys of uploads"} {
			if n := strings.Count(log, message); n != 3 {
				t.Errorf("%q is %d times in the log of 150 s, want 3", message, n)
			}
		}
		if c.sweeps < 60 {
			t.Errorf("only %d sweeps were tried", c.sweeps)
		}
	})
}

// TestKeeper_B022_WhatCannotBeEndedHidesNothing: more tickets than any page has are
// of an organism that only another server knows.
func TestKeeper_B022_WhatCannotBeEndedHidesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &chores{unknown: "moss"}
		for i := range int64(2000) {
			c.spents = append(c.spents, SpentTicket{Organism: "moss", EntryID: i, Attempts: 5})
		}
		good := SpentTicket{Organism: "fern", EntryID: 2000, Attempts: 5, HandOuts: 5, PipelineVersion: 2}
		c.spents = append(c.spents, good)
		log := c.keep(t, 5*time.Second)
		if len(c.ended) != 1 || c.ended[0].EntryID != good.EntryID || c.ended[0].Reason != verdictOn(good, DefaultRetry) {
			t.Errorf("got %+v, want a verdict on the one that can be ended", c.ended)
		}
		if !strings.Contains(string(c.ended[0].Result.Bytes), c.ended[0].Reason[:40]) {
			t.Errorf("the document has no reason: %s", c.ended[0].Result.Bytes)
		}
		if !strings.Contains(log, "moss") {
			t.Errorf("the log doesn't say what can't be ended:\n%s", log)
		}
	})
}
