package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
)

// awaitLeaseEnd returns when the leases that end soon have ended.
func (g *stage) awaitLeaseEnd(t *testing.T) {
	t.Helper()
	g.exec(t, "SELECT pg_sleep(greatest(extract(epoch FROM max(lease_until) - clock_timestamp()), 0) + 0.01) FROM lease")
}

// soon bounds a call that must not wait for what is stopped.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// wantCounts compares what queries count.
func (g *stage) wantCounts(t *testing.T, want map[string]int64) {
	t.Helper()
	for query, n := range want {
		if got := g.ask(t, "SELECT count(*) FROM "+query); got != n {
			t.Errorf("%s: got %d, want %d", query, got, n)
		}
	}
}

// Race 2: what has been decided under the lease's lock holds, though the lease
// ends before it is committed: nobody takes it over or sweeps it meanwhile.
func TestRace_L3_L7_DecidedBeforeTheLeaseEndHolds(t *testing.T) {
	t.Parallel()
	acts := map[string]struct {
		point string
		do    func(g *stage, l queue.Lease) error
	}{
		"renew": {"BEFORE UPDATE ON lease", func(g *stage, l queue.Lease) error {
			_, err := g.Renew(context.Background(), renewal(l, time.Hour))
			return err
		}},
		"accept": {"BEFORE INSERT ON result", func(g *stage, l queue.Lease) error {
			return only(g.AcceptResults(context.Background(), answer(l, []byte("x"))))
		}},
		"give back": {"BEFORE INSERT ON ticket", func(g *stage, l queue.Lease) error {
			_, err := g.GiveBack(context.Background(), returned(l))
			return err
		}},
	}
	rivals := map[string]func(t *testing.T, g *stage) int{
		"takeover": func(t *testing.T, g *stage) int {
			t.Helper()
			l, err := g.Claim(soon(t), askFor(2))
			if err != nil {
				t.Fatal(err)
			}
			return len(l.Entries)
		},
		"sweep": func(t *testing.T, g *stage) int {
			t.Helper()
			n, _, err := g.Sweep(soon(t), 10)
			if err != nil {
				t.Fatal(err)
			}
			return n
		},
	}
	for name, act := range acts {
		for rival, steal := range rivals {
			t.Run(name+" against "+rival, func(t *testing.T) {
				t.Parallel()
				g := newStage(t)
				submitN(t, g.Store, g.group.GroupID, 2)
				lease := g.mustClaim(t, askFor(2))
				g.exec(t, "UPDATE lease SET lease_until = clock_timestamp() + interval '3 seconds'")
				g.stopAt(t, act.point)
				done := later(func() error { return act.do(g, lease) })
				g.awaitStopped(t, 1)
				g.awaitLeaseEnd(t)
				if n := steal(t, g); n != 0 {
					t.Errorf("got %d of what another is deciding on", n)
				}
				g.goOn(t)
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				g.wantCounts(t, map[string]int64{
					"failure WHERE kind = 1": 0,
					"(SELECT entry_id FROM ticket UNION ALL SELECT unnest(entry_ids) FROM lease UNION ALL SELECT entry_id FROM result) AS place": 2,
				})
			})
		}
	}
}

// Race 2, the other way round: who comes to a lease that is being taken over,
// swept or freed waits for its lock and then finds nothing.
func TestRace_L3_B001_WhoComesSecondFindsNothing(t *testing.T) {
	t.Parallel()
	firsts := map[string]func(g *stage) error{
		"takeover": func(g *stage) error { _, err := g.Claim(context.Background(), askFor(2)); return err },
		"sweep":    func(g *stage) error { _, _, err := g.Sweep(context.Background(), 10); return err },
	}
	seconds := map[string]func(g *stage, l queue.Lease) error{
		"accept": func(g *stage, l queue.Lease) error {
			return only(g.AcceptResults(context.Background(), answer(l, []byte("x"))))
		},
		"renew": func(g *stage, l queue.Lease) error {
			_, err := g.Renew(context.Background(), renewal(l, time.Hour))
			return err
		},
		"give back": func(g *stage, l queue.Lease) error {
			_, err := g.GiveBack(context.Background(), returned(l))
			return err
		},
		"give back undelivered": func(g *stage, l queue.Lease) error {
			n, err := g.GiveBack(context.Background(), queue.GiveBack{AttemptID: l.AttemptID, Undelivered: true})
			if err == nil && n == 0 {
				err = seqlease.ErrLeaseLost
			}
			return err
		},
	}
	for first, begin := range firsts {
		for second, act := range seconds {
			t.Run(second+" after "+first, func(t *testing.T) {
				t.Parallel()
				g := newStage(t)
				submitN(t, g.Store, g.group.GroupID, 1)
				lease := g.mustClaim(t, askFor(1))
				g.endLeases(t)
				g.stopAt(t, "BEFORE DELETE ON lease")
				begun := later(func() error { return begin(g) })
				g.awaitStopped(t, 1)
				done := later(func() error { return act(g, lease) })
				g.awaitStopped(t, 2)
				g.goOn(t)
				if err := <-begun; err != nil {
					t.Fatal(err)
				}
				if err := <-done; !errors.Is(err, seqlease.ErrLeaseLost) {
					t.Errorf("got %v, want %v", err, seqlease.ErrLeaseLost)
				}
				g.wantCounts(t, map[string]int64{
					"result": 0, "failure WHERE kind <> 4": 1,
					"(SELECT entry_id FROM ticket UNION ALL SELECT unnest(entry_ids) FROM lease) AS place": 1,
				})
			})
		}
	}
}

// Two servers sweep at once: each lease is ended once, and neither waits.
func TestRace_B001_TwoSweepers(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	submitN(t, g.Store, g.group.GroupID, 2)
	g.mustClaim(t, askFor(2))
	g.endLeases(t)
	g.stopAt(t, "BEFORE DELETE ON lease")
	var first int
	done := later(func() (err error) {
		first, _, err = g.Sweep(context.Background(), 10)
		return err
	})
	g.awaitStopped(t, 1)
	second, _, err := g.Sweep(soon(t), 10)
	if err != nil || second != 0 {
		t.Errorf("the second sweeper ended %d leases, %v, want 0", second, err)
	}
	g.goOn(t)
	if err := <-done; err != nil || first != 1 {
		t.Errorf("the first sweeper ended %d leases, %v, want 1", first, err)
	}
	g.wantCounts(t, map[string]int64{"ticket WHERE lane = 2 AND attempts = 1": 2, "failure": 2, "lease": 0})
}

// An operator frees what is being submitted: whoever has the lease's lock first wins.
func TestRace_L16_FreeAgainstAccept(t *testing.T) {
	t.Parallel()
	free := func(g *stage, freed *int, l queue.Lease) func() error {
		return func() (err error) {
			*freed, _, err = g.FreeLeases(context.Background(), queue.FreeLeases{Organism: storetest.WestNile, AttemptIDs: []seqlease.AttemptID{l.AttemptID}}, 10)
			return err
		}
	}
	accept := func(g *stage, l queue.Lease) func() error {
		return func() error { return only(g.AcceptResults(context.Background(), answer(l, []byte("x")))) }
	}
	t.Run("accept first", func(t *testing.T) {
		t.Parallel()
		g := newStage(t)
		submitN(t, g.Store, g.group.GroupID, 2)
		lease, freed := g.mustClaim(t, askFor(2)), -1
		g.stopAt(t, "BEFORE INSERT ON result")
		accepted := later(accept(g, lease))
		g.awaitStopped(t, 1)
		done := later(free(g, &freed, lease))
		g.awaitStopped(t, 2)
		g.goOn(t)
		if err := errors.Join(<-accepted, <-done); err != nil || freed != 0 {
			t.Errorf("freed %d entries that were processed, %v", freed, err)
		}
		g.wantCounts(t, map[string]int64{"result": 2, "ticket": 0, "lease": 0, "failure": 0})
	})
	t.Run("free first", func(t *testing.T) {
		t.Parallel()
		g := newStage(t)
		submitN(t, g.Store, g.group.GroupID, 2)
		lease, freed := g.mustClaim(t, askFor(2)), -1
		g.stopAt(t, "BEFORE DELETE ON lease")
		done := later(free(g, &freed, lease))
		g.awaitStopped(t, 1)
		accepted := later(accept(g, lease))
		g.awaitStopped(t, 2)
		g.goOn(t)
		if err := <-done; err != nil || freed != 2 {
			t.Errorf("freed %d entries, %v, want 2", freed, err)
		}
		wantReasons(t, <-accepted, seqlease.RefusedLeaseLost, seqlease.RefusedLeaseLost)
		g.wantCounts(t, map[string]int64{"result": 0, "ticket WHERE lane = 2": 2, "lease": 0, "failure WHERE kind = 5": 2})
	})
}

// L5: line by line, an edit that comes in between refuses its line alone.
func TestRace_L5_L10_SkippingSubmissionAgainstEdit(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	versions := g.processed(t, 2)
	g.secondVersion(t)
	lease := g.mustClaim(t, askSecond(2))
	g.stopAt(t, "BEFORE INSERT ON ticket")
	edited := later(g.editLater(versions[0]))
	g.awaitStopped(t, 1)
	s := answerSecond(lease)
	s.Skip = true
	var answered queue.Accepted
	accepted := later(func() (err error) {
		answered, err = g.AcceptResults(context.Background(), s)
		return err
	})
	g.awaitStopped(t, 2)
	g.goOn(t)
	if err := errors.Join(<-edited, <-accepted); err != nil {
		t.Fatal(err)
	}
	if answered.Stored != 1 || len(answered.Refused) != 1 || answered.Refused[0].Reason != seqlease.RefusedEdited {
		t.Errorf("stored %d and refused %v, want 1 and the edited entry", answered.Stored, answered.Refused)
	}
	g.wantEdited(t, 1)
}

// L5, L6: of two equal submissions at once, both are told that all is stored.
func TestRace_L6_TwoEqualSkippingSubmissions(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	submitN(t, g.Store, g.group.GroupID, 2)
	s := answer(g.mustClaim(t, askFor(2)), []byte("x"))
	s.Skip = true
	g.stopAt(t, "BEFORE INSERT ON result")
	var answers [2]queue.Accepted
	submit := func(i int) func() error {
		return func() (err error) {
			answers[i], err = g.AcceptResults(context.Background(), s)
			return err
		}
	}
	first := later(submit(0))
	g.awaitStopped(t, 1)
	second := later(submit(1))
	g.awaitStopped(t, 2)
	g.goOn(t)
	if err := errors.Join(<-first, <-second); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([2]queue.Accepted{{Stored: 2}, {Stored: 2}}, answers); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	g.wantCounts(t, map[string]int64{"result": 2, "failure": 0, "lease": 0})
}

// L7: an entry that is cut while a renewal waits for the lease is told as lost.
func TestRace_L7_RenewalTellsWhatWasCutWhileItWaited(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	versions := g.processed(t, 2)
	g.secondVersion(t)
	lease := g.mustClaim(t, askSecond(2))
	g.stopAt(t, "BEFORE INSERT ON ticket")
	edited := later(g.editLater(versions[0]))
	g.awaitStopped(t, 1)
	var renewed queue.Renewed
	done := later(func() (err error) {
		renewed, err = g.Renew(context.Background(), renewal(lease, time.Minute))
		return err
	})
	g.awaitStopped(t, 2)
	g.goOn(t)
	if err := errors.Join(<-edited, <-done); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(versions[:1], renewed.Lost); diff != "" || renewed.Held != 1 {
		t.Errorf("holds %d entries, want 1; lost (-want +got):\n%s", renewed.Held, diff)
	}
}
