package postgres_test

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

// tally is a database with a table of changes that are noted by the counters of
// what is released, as the changes of the store are.
type tally struct {
	*stage
	organism int32
}

func newTally(t *testing.T) *tally {
	t.Helper()
	k := &tally{stage: newStage(t)}
	k.exec(t, "CREATE TABLE changed (name text NOT NULL)")
	k.organism = int32(k.ask(t, fmt.Sprintf("SELECT id FROM organism WHERE key = '%s'", storetest.WestNile)))
	return k
}

// writers returns connections that bump the given counters.
func (k *tally) writers(t *testing.T, buckets ...int) []*pgx.Conn {
	t.Helper()
	list := make([]*pgx.Conn, len(buckets))
	for i, bucket := range buckets {
		for list[i] == nil {
			c := connect(t, k.address)
			if c.PgConn().PID()%16 == uint32(bucket) {
				list[i] = c
			} else if err := c.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	return list
}

// note makes a change and counts it, in the transaction of the connection.
func (k *tally) note(t *testing.T, c *pgx.Conn, name string) error {
	t.Helper()
	if _, err := c.Exec(t.Context(), "INSERT INTO changed VALUES ($1)", name); err != nil {
		return err
	}
	_, err := c.Exec(t.Context(), postgres.BumpSQL, pgx.StrictNamedArgs{"organism": k.organism, "queues": false, "released": true})
	return err
}

// reader keeps what it saw under each mark.
type reader struct {
	*tally
	c      *pgx.Conn
	states map[string]string
	last   string
}

func (k *tally) reader(t *testing.T) *reader {
	t.Helper()
	return &reader{tally: k, c: connect(t, k.address), states: map[string]string{}}
}

// look reads the changes and the mark from one snapshot, and wants the mark to be
// another than before just if the changes are, and then to have risen.
func (r *reader) look(t *testing.T) (mark, state string) {
	t.Helper()
	err := pgx.BeginTxFunc(t.Context(), r.c, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
		if err := tx.QueryRow(t.Context(), "SELECT coalesce(string_agg(name, ' ' ORDER BY name), '') FROM changed").Scan(&state); err != nil {
			return err
		}
		return tx.QueryRow(t.Context(), postgres.ReleasedMarkSQL, pgx.StrictNamedArgs{"organism": r.organism}).Scan(&mark)
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen, known := r.states[mark]; known && seen != state {
		t.Fatalf("the mark %q stands for %q and for %q", mark, seen, state)
	}
	switch changed := state != r.states[r.last]; {
	case r.last == "":
	case changed && mark <= r.last:
		t.Fatalf("the mark %q doesn't rise over %q", mark, r.last)
	case !changed && mark != r.last:
		t.Fatalf("the mark went from %q to %q, and nothing has changed", r.last, mark)
	}
	r.states[mark], r.last = state, mark
	return mark, state
}

// TestToken_L13_WhateverTheOrderOfCounts has two changes that are counted and
// committed in every order, with a reader between all steps: it sees a new mark with
// each commit and at no other time.
func TestToken_L13_WhateverTheOrderOfCounts(t *testing.T) {
	t.Parallel()
	k := newTally(t)
	w := k.writers(t, 3, 7)
	const count, commit, rollback = "count", "COMMIT", "ROLLBACK"
	type step struct {
		writer int
		act    string
	}
	for i, steps := range [][]step{
		{{0, count}, {1, count}, {0, commit}, {1, commit}},
		{{0, count}, {1, count}, {1, commit}, {0, commit}},
		{{0, count}, {1, count}, {1, commit}, {0, rollback}},
		{{0, count}, {1, count}, {0, rollback}, {1, commit}},
		{{0, count}, {0, commit}, {1, count}, {1, commit}},
		{{0, count}, {1, count}, {0, rollback}, {1, rollback}},
		{{0, count}, {0, rollback}, {0, count}, {1, count}, {1, commit}, {0, commit}},
	} {
		r := k.reader(t)
		_, before := r.look(t)
		committed := 0
		for j, s := range steps {
			if s.act == count {
				run(t, w[s.writer], "BEGIN")
				if err := k.note(t, w[s.writer], fmt.Sprintf("%d.%d", i, j)); err != nil {
					t.Fatal(err)
				}
			} else {
				run(t, w[s.writer], s.act)
			}
			if s.act == commit {
				committed++
			}
			if _, state := r.look(t); (state != before) != (s.act == commit) {
				t.Fatalf("after step %d of %v the reader sees %q, and before it %q", j, steps, state, before)
			} else {
				before = state
			}
		}
		if got := len(r.states); got != committed+1 {
			t.Errorf("%v: %d marks, want %d", steps, got, committed+1)
		}
	}
}

// TestToken_L13_WritersOfOneCounterWait: the second count is made on top of the first
// one, also if its transaction began before.
func TestToken_L13_WritersOfOneCounterWait(t *testing.T) {
	t.Parallel()
	k := newTally(t)
	w := k.writers(t, 5, 5)
	r := k.reader(t)
	r.look(t)
	run(t, w[1], "BEGIN")
	run(t, w[0], "BEGIN")
	if err := k.note(t, w[0], "first"); err != nil {
		t.Fatal(err)
	}
	second := later(func() error { return k.note(t, w[1], "second") })
	k.awaitStopped(t, 1)
	r.look(t)
	run(t, w[0], "COMMIT")
	if err := <-second; err != nil {
		t.Fatal(err)
	}
	r.look(t)
	run(t, w[1], "COMMIT")
	if _, state := r.look(t); state != "first second" || len(r.states) != 3 {
		t.Errorf("%q with %d marks, want both changes and 3 marks", state, len(r.states))
	}
	if n := k.ask(t, "SELECT sum(n)::bigint FROM change WHERE scope = 0 AND bucket = 5"); n != 2 {
		t.Errorf("the counter is %d, want 2", n)
	}
}

// TestToken_L13_MarksDoNotRepeatAfterARestore takes the counters back to what a backup
// had: the change that comes then has the same number as the one that was lost, but
// not its mark.
func TestToken_L13_MarksDoNotRepeatAfterARestore(t *testing.T) {
	t.Parallel()
	k := newTally(t)
	w := k.writers(t, 9)[0]
	if err := k.note(t, w, "kept"); err != nil {
		t.Fatal(err)
	}
	k.exec(t, "CREATE TABLE backup AS SELECT * FROM change")
	if err := k.note(t, w, "lost"); err != nil {
		t.Fatal(err)
	}
	lost, _ := k.reader(t).look(t)
	k.exec(t, "UPDATE change AS c SET n = b.n, nonce = b.nonce FROM backup AS b WHERE (b.organism_id, b.scope, b.bucket) = (c.organism_id, c.scope, c.bucket)")
	k.exec(t, "DELETE FROM changed WHERE name = 'lost'")
	if err := k.note(t, w, "other"); err != nil {
		t.Fatal(err)
	}
	other, _ := k.reader(t).look(t)
	if lost[:19] != other[:19] {
		t.Fatalf("the marks %q and %q have different numbers: nothing is tested", lost, other)
	}
	if lost == other {
		t.Errorf("the mark %q stands for the lost change and for another one", lost)
	}
}

// TestToken_L13_ManyWritersAtRandom commit and roll back as it comes, while two read.
func TestToken_L13_ManyWritersAtRandom(t *testing.T) {
	t.Parallel()
	k := newTally(t)
	const changes = 60
	var group errgroup.Group
	for i, c := range k.writers(t, 0, 0, 1, 2, 3, 15) {
		random := rand.New(rand.NewPCG(uint64(i), 1))
		group.Go(func() error {
			for n := range changes {
				if _, err := c.Exec(t.Context(), "BEGIN"); err != nil {
					return err
				}
				if err := k.note(t, c, fmt.Sprintf("%d.%d", i, n)); err != nil {
					return err
				}
				for range random.IntN(4) { // some are faster than others
					if _, err := c.Exec(t.Context(), "SELECT count(*) FROM changed"); err != nil {
						return err
					}
				}
				end := "COMMIT"
				if random.IntN(5) == 0 {
					end = "ROLLBACK"
				}
				if _, err := c.Exec(t.Context(), end); err != nil {
					return err
				}
			}
			return nil
		})
	}
	var done atomic.Bool
	ended := make(chan error, 1)
	go func() {
		err := group.Wait()
		done.Store(true)
		ended <- err
	}()
	readers := []*reader{k.reader(t), k.reader(t)}
	for !done.Load() {
		for _, r := range readers {
			r.look(t)
		}
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	for _, r := range readers {
		r.look(t)
		for mark, state := range r.states {
			if other, seen := readers[0].states[mark]; seen && other != state {
				t.Errorf("the mark %q stands for two states", mark)
			}
		}
		if len(r.states) < 10 {
			t.Errorf("a reader saw %d states: too little is tested", len(r.states))
		}
	}
	if readers[0].last != readers[1].last {
		t.Errorf("in the end the marks are %q and %q", readers[0].last, readers[1].last)
	}
}

// TestToken_L13_AResultThatWaitsForASwitchIsCounted: whoever makes another version the
// current one keeps results out meanwhile. One that waits sees the switch, and its
// change of what is released is counted.
func TestToken_L13_AResultThatWaitsForASwitchIsCounted(t *testing.T) {
	t.Parallel()
	k := newTally(t)
	k.processed(t, 1)
	approval := submission.Approval{Organism: storetest.WestNile, Approver: "anna", Scope: seqlease.ApproveAll}
	if approved, err := k.Approve(t.Context(), approval); err != nil || len(approved) != 1 {
		t.Fatalf("approved %v: %v", approved, err)
	}
	k.secondVersion(t)
	lease := k.mustClaim(t, askSecond(1))
	switching := connect(t, k.address)
	run(t, switching, "BEGIN", "LOCK TABLE result IN SHARE MODE", "UPDATE organism SET current_version = 2")
	if err := k.note(t, switching, "the switch"); err != nil {
		t.Fatal(err)
	}
	accepted := later(func() error { return only(k.AcceptResults(t.Context(), answerSecond(lease))) })
	k.awaitStopped(t, 1)
	run(t, switching, "COMMIT")
	if err := <-accepted; err != nil {
		t.Fatal(err)
	}
	if n := k.ask(t, fmt.Sprintf("SELECT sum(n)::bigint FROM change WHERE scope = 0 AND organism_id = %d", k.organism)); n != 3 {
		t.Errorf("the approval, the switch and the result were counted %d times, want 3", n)
	}
}
