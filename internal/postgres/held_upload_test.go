package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

// waiters notes every lock in this database that somebody waits for, until the
// returned function is called, which tells them.
func (g *stage) waiters(t *testing.T) (stop func() []string) {
	t.Helper()
	observer := connect(t, g.address)
	ctx, cancel := context.WithCancel(t.Context())
	var seen []string
	looked := make(chan struct{})
	first := sync.OnceFunc(func() { close(looked) })
	done := later(func() error {
		for ctx.Err() == nil {
			var found []string
			err := observer.QueryRow(t.Context(), `SELECT coalesce(array_agg(l.locktype || ' ' || coalesce(l.relation::regclass::text, '') || ': ' || left(a.query, 60)), '{}')
				FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid) WHERE a.datname = current_database() AND NOT l.granted`).Scan(&found)
			first()
			if err != nil {
				return err
			}
			seen = append(seen, found...)
		}
		return nil
	})
	<-looked
	return func() []string {
		t.Helper()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("look at the locks: %v", err)
		}
		return seen
	}
}

// B025: while an upload is under way, whose first parts are stored, nobody waits
// for a lock: no claim, renewal, result, give-back, edit, approval, deletion,
// reprocessing, sweep or other upload.
func TestSubmit_L13_B025_AHeldUploadMakesNobodyWait(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	versions := g.processed(t, 12)
	reached, resume := make(chan struct{}), make(chan struct{})
	held := smallUpload(g.Store, g.group.GroupID, 25_000)
	entries := held.Entries
	held.Entries = func(yield func(submission.PackedEntry, error) bool) {
		n := 0
		for e, err := range entries {
			if n++; n == 24_990 {
				close(reached)
				<-resume
			}
			if !yield(e, err) {
				return
			}
		}
	}
	uploaded := later(func() error { _, err := g.Submit(context.Background(), held); return err })
	<-reached
	// What was read before it is held is still stored, and then its transaction waits.
	waitFor(t, func() bool {
		return g.ask(t, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'") == 1
	})
	stop := g.waiters(t)
	ctx := soon(t)
	if err := everybodyWorks(ctx, g, versions); err != nil {
		t.Errorf("while the upload is held: %v", err)
	}
	if seen := stop(); len(seen) > 0 {
		t.Errorf("%d times somebody waited, first for %s", len(seen), seen[0])
	}
	before := g.mustClaim(t, askFor(0)).Mark
	close(resume)
	if err := <-uploaded; err != nil {
		t.Fatal(err)
	}
	if after := g.mustClaim(t, askFor(0)).Mark; after <= before {
		t.Errorf("the mark is %s after the upload, want more than %s", after, before)
	}
}

// everybodyWorks does everything that workers and others do, one after another.
func everybodyWorks(ctx context.Context, g *stage, versions []seqlease.AccessionVersion) error {
	var lease queue.Lease
	for i, act := range []func() error{
		func() error { _, err := g.Submit(ctx, smallUpload(g.Store, g.group.GroupID, 6)); return err },
		func() (err error) { lease, err = g.Claim(ctx, askFor(3)); return err },
		func() error { _, err := g.Renew(ctx, renewal(lease, time.Hour)); return err },
		func() error { _, err := g.AcceptResults(ctx, packedAnswer(g.Store, lease)); return err },
		func() (err error) { lease, err = g.Claim(ctx, askFor(3)); return err },
		func() error { _, err := g.GiveBack(ctx, returned(lease)); return err },
		func() error {
			return g.Edit(ctx, submission.Edit{Organism: storetest.WestNile, AccessionVersion: versions[0], Data: []byte(`{"edited":true}`)})
		},
		func() error { return remove(ctx, g.Store, versions[1:2]) },
		func() error { _, _, err := g.Reprocess(ctx, everything, 0, 100); return err },
		func() error { _, _, err := g.Sweep(ctx, 10); return err },
		func() error { _, _, err := g.Reconcile(ctx, 0, 1000); return err },
		func() error {
			approval := submission.Approval{Organism: storetest.WestNile, Approver: "anna", Scope: seqlease.ApproveAll}
			approved, err := g.Approve(ctx, approval)
			if err == nil && len(approved) == 0 {
				err = errors.New("nothing was approved")
			}
			return err
		},
	} {
		if err := act(); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	if len(lease.Entries) != 3 {
		return fmt.Errorf("claimed %d entries, want 3", len(lease.Entries))
	}
	return nil
}
