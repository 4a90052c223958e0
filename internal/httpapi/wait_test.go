package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

func waitForm(n, seconds int) string {
	return fmt.Sprintf("numberOfSequenceEntries=%d&pipelineVersion=1&waitSeconds=%d", n, seconds)
}

// waiting starts a claim that waits, and returns a channel of its answer.
func (d *door) waiting(t *testing.T, form string, header ...string) <-chan answer {
	t.Helper()
	answers := make(chan answer, 1)
	header = append([]string{"Content-Type", "application/x-www-form-urlencoded"}, header...)
	go func() {
		defer close(answers)
		if a, err := d.try(t, "POST", "/zika/extract-unprocessed-data", pipe, strings.NewReader(form), header...); err == nil {
			answers <- a
		} else if t.Context().Err() == nil {
			t.Errorf("claim: %v", err)
		}
	}()
	return answers
}

// countingStore counts what is asked of the store.
type countingStore struct {
	store
	claims, looks atomic.Int64
}

func (c *countingStore) Claim(ctx context.Context, claim queue.Claim) (queue.Lease, error) {
	defer c.claims.Add(1)
	return c.store.Claim(ctx, claim)
}

func (c *countingStore) Stirred(ctx context.Context, awaited []queue.Awaited) ([]bool, error) {
	c.looks.Add(1)
	return c.store.Stirred(ctx, awaited)
}

func TestClaim_WaitsUntilWorkComes(t *testing.T) {
	t.Parallel()
	withBothStores(t, doorOptions{}, func(t *testing.T, o doorOptions) {
		counting := &countingStore{}
		o.wrap = func(s store) store { counting.store = s; return counting }
		d := newDoor(t, o)
		group := d.newGroup(t, anna)
		began := time.Now()
		answers := d.waiting(t, waitForm(5, 30))
		eventually(t, "the claim has found nothing", func() bool { return counting.claims.Load() == 1 })
		d.submit(t, group, 2, 20)
		a := <-answers
		if got := entriesOf(t, a.want(t, 200).body); len(got) != 2 {
			t.Errorf("%d entries came, want 2", len(got))
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

// TestClaim_SendsNothingWhileItWaits looks at the connection itself; the client
// then leaves, which ends the wait, and holds nothing of what comes later (L8).
func TestClaim_SendsNothingWhileItWaits(t *testing.T) {
	t.Parallel()
	counting := &countingStore{}
	d := newDoor(t, doorOptions{wrap: func(s store) store { counting.store = s; return counting }})
	group := d.newGroup(t, anna)
	for _, form := range []string{waitForm(5, 30), waitForm(5, 30) + "&x=" + strings.Repeat("x", 50<<10)} {
		before := counting.claims.Load()
		conn := d.openClaim(t, form)
		eventually(t, "the claim has found nothing", func() bool { return counting.claims.Load() == before+1 })
		if err := conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if n, err := conn.Read(make([]byte, 1)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read %d bytes, %v, while the claim waits", n, err)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the server is done with the connection", func() bool {
			_, done := d.ended.Load(conn.LocalAddr().String())
			return done
		})
	}
	d.submit(t, group, 2, 20)
	if got := d.claim(t, pipe, 5); len(got) != 2 || got[0].Attempt != 1 {
		t.Errorf("claimed %+v, want both entries in their first attempt", got)
	}
}

func TestClaim_AStoppingServerAnswersWhoWaits(t *testing.T) {
	t.Parallel()
	withBothStores(t, doorOptions{}, func(t *testing.T, o doorOptions) {
		counting := &countingStore{}
		o.wrap = func(s store) store { counting.store = s; return counting }
		d := newDoor(t, o)
		answers := d.waiting(t, waitForm(5, 30))
		eventually(t, "the claim has found nothing", func() bool { return counting.claims.Load() == 1 })
		d.stopWaiting()
		a := (<-answers).want(t, 200)
		if len(a.body) != 0 || a.Header.Get("ETag") == "" {
			t.Errorf("body %q, ETag %q; want an empty answer with its tag", a.body, a.Header.Get("ETag"))
		}
		d.submit(t, d.newGroup(t, anna), 1, 20)
		if got := entriesOf(t, (<-d.waiting(t, waitForm(5, 30))).want(t, 200).body); len(got) != 1 {
			t.Errorf("claimed %d entries while the server stops, want 1", len(got))
		}
	})
}

// TestClaim_L14_B050_ATagNeverHidesWork polls with the tag of an empty answer. It is on
// SQLite alone, see [door.ageLeases].
func TestClaim_L14_B050_ATagNeverHidesWork(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	d.submit(t, d.newGroup(t, anna), 3, 20)
	held := d.claim(t, pipe2, 3)
	poll := func(form string, header ...string) answer { return <-d.waiting(t, form, header...) }
	tag := poll(waitForm(5, 0)).want(t, 200).Header.Get("ETag")
	began := time.Now()
	if a := poll(waitForm(5, 1), "If-None-Match", tag).want(t, 304); a.Header.Get("ETag") != tag || time.Since(began) < time.Second {
		t.Errorf("304 with ETag %q after %s, want %q after 1 s", a.Header.Get("ETag"), time.Since(began), tag)
	}
	for _, other := range []string{"*", tag + `, "x"`, `""`} {
		if a := poll(waitForm(5, 0), "If-None-Match", other); a.StatusCode != http.StatusOK {
			t.Errorf("If-None-Match %s: %d", other, a.StatusCode)
		}
	}
	elsewhere := d.call(t, "POST", "/cchf/extract-unprocessed-data?numberOfSequenceEntries=1&pipelineVersion=1", pipe, nil, "If-None-Match", tag)
	elsewhere.want(t, 200)

	answers := d.waiting(t, waitForm(1, 30), "If-None-Match", tag)
	d.ageLeases(t) // the worker has died, and nothing else happens
	if got := entriesOf(t, (<-answers).want(t, 200).body); len(got) != 1 || got[0].Attempt != 2 {
		t.Errorf("got %+v, want an entry of the lease that has ended", got)
	}
	d.post(t, "pause", root, `{}`).want(t, 200)
	paused := poll(waitForm(5, 0)).want(t, 200)
	if len(paused.body) != 0 {
		t.Errorf("paused, but got %s", paused.body)
	}
	answers = d.waiting(t, waitForm(1, 30), "If-None-Match", paused.Header.Get("ETag"))
	d.post(t, "resume", root, `{}`).want(t, 200)
	if got := entriesOf(t, (<-answers).want(t, 200).body); len(got) != 1 {
		t.Errorf("got %d of %d entries after the resumption", len(got), len(held))
	}
}

// TestClaim_B031_OneEntryWakesOneClaim has many that wait.
func TestClaim_B031_OneEntryWakesOneClaim(t *testing.T) {
	t.Parallel()
	const waiters = 64
	withBothStores(t, doorOptions{}, func(t *testing.T, o doorOptions) {
		counting := &countingStore{}
		o.wrap = func(s store) store { counting.store = s; return counting }
		d := newDoor(t, o)
		group := d.newGroup(t, anna)
		var answers errgroup.Group
		var served atomic.Int64
		for range waiters {
			answer := d.waiting(t, waitForm(5, 30))
			answers.Go(func() error {
				if a := <-answer; len(a.body) > 0 {
					served.Add(1)
				}
				return nil
			})
		}
		eventually(t, "all wait", func() bool { return counting.claims.Load() == waiters })
		before, looks := time.Now(), counting.looks.Load()
		d.submit(t, group, 1, 20)
		eventually(t, "one is served", func() bool { return served.Load() == 1 })
		if n := counting.claims.Load(); n > waiters+4 {
			t.Errorf("one entry cost %d claims", n-waiters)
		}
		if n := counting.looks.Load() - looks; n > int64(time.Since(before)/time.Second)+2 {
			t.Errorf("%d looks at the counters within %s", n, time.Since(before))
		}
		d.stopWaiting() // the others are answered, with nothing
		if err := answers.Wait(); err != nil || served.Load() != 1 {
			t.Errorf("%d were served, %v", served.Load(), err)
		}
	})
}

// TestPostgres_L12_WaitingHoldsNoConnection has more that wait than connections.
func TestPostgres_L12_WaitingHoldsNoConnection(t *testing.T) {
	t.Parallel()
	const waiters = 16
	counting := &countingStore{}
	d := newDoor(t, doorOptions{open: openPostgres(newPostgres(t), 2), wrap: func(s store) store { counting.store = s; return counting }})
	group := d.newGroup(t, anna)
	var done sync.WaitGroup
	var entries atomic.Int64
	for range waiters {
		answer := d.waiting(t, waitForm(1, 30))
		done.Go(func() {
			a := <-answer
			entries.Add(int64(strings.Count(string(a.body), "\n")))
		})
	}
	eventually(t, "all wait", func() bool { return counting.claims.Load() >= waiters })
	d.submit(t, group, waiters, 20)
	done.Wait()
	if entries.Load() != waiters {
		t.Errorf("%d entries were claimed by those who waited, want %d", entries.Load(), waiters)
	}
}

// TestClaim_B011_ClientsThatLeaveHoldNothing has clients that reset the connection
// at every moment, many times: the entries wait again, and none of it counts.
func TestClaim_B011_ClientsThatLeaveHoldNothing(t *testing.T) {
	t.Parallel()
	const entries, repetitions = 24, 60
	d := newDoor(t, doorOptions{})
	d.submit(t, d.newGroup(t, anna), entries, 1<<20) // more than sockets buffer
	for i := range repetitions {
		conn := d.openClaim(t, "numberOfSequenceEntries=6&pipelineVersion=1")
		var err error
		switch i % 4 {
		case 1: // after the status line
			_, err = conn.Read(make([]byte, 10))
		case 2: // in mid-body
			_, err = io.CopyN(io.Discard, conn, 600<<10)
		case 3: // in the request
			_ = conn.(*net.TCPConn).CloseWrite()
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the server is done with the connection", func() bool {
			_, done := d.ended.Load(conn.LocalAddr().String())
			return done
		})
	}
	d.allWaitAgain(t, entries)
	got := map[seqlease.AccessionVersion]bool{}
	for len(got) < entries {
		claimed := d.claim(t, pipe, entries)
		if len(claimed) == 0 {
			t.Fatalf("only %d of %d entries are claimable", len(got), entries)
		}
		for _, e := range claimed {
			if e.Attempt != 1 || got[e.AccessionVersion] {
				t.Errorf("%s: attempt %d, claimed before: %t", e.AccessionVersion, e.Attempt, got[e.AccessionVersion])
			}
			got[e.AccessionVersion] = true
		}
	}
	if n := d.statusCounts(t, "zika")[seqlease.InProcessing]; n != entries {
		t.Errorf("%d in processing: what was delivered is not given back", n)
	}
}
