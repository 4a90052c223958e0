package postgres_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
)

// newCrowd is a stage on which one statement of a kind runs at once, so that all others
// gather, with n entries.
func newCrowd(t *testing.T, n int) *stage {
	t.Helper()
	g := newStageOf(t, newHarness("", postgres.Options{MaxConnections: 7}))
	submitN(t, g.Store, g.group.GroupID, n)
	g.lookLater(t)
	return g
}

// lookLater makes claims look for fresh entries alone.
func (g *stage) lookLater(t *testing.T) {
	t.Helper()
	if _, err := g.Claim(t.Context(), askFor(0)); err != nil { // so that the organism is known
		t.Fatal(err)
	}
	organismID, _, _ := g.Bound(storetest.WestNile, 1, queue.LaneFresh)
	g.LookLater(organismID, 1)
}

// gather runs the first of the calls until it is stopped, and all others until they
// wait for their turn, in their order. Then it lets all go on.
func (g *stage) gather(t *testing.T, waiting func() int, calls []func() error) error {
	t.Helper()
	var all errgroup.Group
	for i, call := range calls {
		all.Go(call)
		if i == 0 {
			g.awaitStopped(t, 1)
			continue
		}
		for deadline := time.Now().Add(time.Minute); waiting() != i; {
			if time.Now().After(deadline) {
				t.Fatalf("%d calls wait for their turn, want %d", waiting(), i)
			}
		}
	}
	g.goOn(t)
	return all.Wait()
}

func (g *stage) waitingClaims() int {
	claims, _ := g.WaitingTogether()
	return claims
}

func (g *stage) waitingSubmissions() int {
	_, submissions := g.WaitingTogether()
	return submissions
}

// answers claims ten entries n times, and returns their results.
func (g *stage) answers(t *testing.T, n int) (list []queue.Submission) {
	t.Helper()
	for range n {
		list = append(list, packedAnswer(g.Store, g.mustClaim(t, askFor(10))))
	}
	return list
}

// acceptTen returns a call that stores ten results.
func (g *stage) acceptTen(t *testing.T, r queue.Submission) func() error {
	t.Helper()
	return func() error {
		accepted, err := g.AcceptResults(t.Context(), r)
		if err == nil && accepted.Stored != 10 {
			err = fmt.Errorf("%d stored, want 10", accepted.Stored)
		}
		return err
	}
}

// Claims that go together get what each would have got alone: their own entries,
// under their own attempt, for their own time.
func TestClaim_L2_TogetherEachHasItsOwnLease(t *testing.T) {
	t.Parallel()
	g := newCrowd(t, 100)
	var claims []queue.Claim
	for i, n := range []int{10, 20, 1, 30, 25, 40, 5} { // there are 14 entries for the 40 and none for the 5
		c := askFor(n)
		c.AttemptID, c.ClaimedBy, c.WorkerID = seqlease.NewAttemptID(), fmt.Sprintf("user %d", i), fmt.Sprintf("worker %d", i)
		c.Lease = time.Duration(100+i) * time.Second
		claims = append(claims, c)
	}
	var sent statements
	if err := g.Trace(t.Context(), &sent); err != nil {
		t.Fatal(err)
	}
	g.stopAt(t, "BEFORE INSERT ON lease")
	leases := make([]queue.Lease, len(claims))
	var calls []func() error
	for i, c := range claims {
		calls = append(calls, func() (err error) {
			leases[i], err = g.Claim(t.Context(), c)
			return err
		})
	}
	sent.take()
	if err := g.gather(t, g.waitingClaims, calls); err != nil {
		t.Fatal(err)
	}
	// The one that got nothing looked for suspects and ended leases by itself.
	want := map[string]int{"claim_fresh": 2, "claim": 1, "claim_settings": 3}
	for _, name := range statementNames(sent.take()) {
		want[name]--
	}
	for name, n := range want {
		if n != 0 {
			t.Errorf("%s: %d more or fewer statements than wanted", name, n)
		}
	}
	seen := map[seqlease.AccessionVersion]bool{}
	for i, lease := range leases {
		wantEntries := []int{10, 20, 1, 30, 25, 14, 0}[i]
		if len(lease.Entries) != wantEntries || lease.AttemptID != claims[i].AttemptID || lease.Lease != claims[i].Lease {
			t.Fatalf("claim %d: %d entries under %s for %s, want %d under %s for %s", i, len(lease.Entries), lease.AttemptID, lease.Lease,
				wantEntries, claims[i].AttemptID, claims[i].Lease)
		}
		for place, e := range lease.Entries {
			if e.Place != place || seen[e.AccessionVersion] || e.Attempt != 1 || e.Packed.Bytes == nil {
				t.Errorf("claim %d, place %d: %+v, want it there, once, as attempt 1, with its document", i, place, e)
			}
			seen[e.AccessionVersion] = true
		}
		if wantEntries == 0 {
			continue
		}
		stored := g.ask(t, fmt.Sprintf(`SELECT count(*) FROM lease AS l JOIN claim_record AS r USING (attempt_id, claimed_by, worker_id, lease_seconds, entry_ids)
			WHERE attempt_id = '%s' AND claimed_by = '%s' AND worker_id = '%s' AND lease_seconds = %d AND cardinality(entry_ids) = %d
			AND lease_until = l.claimed_at + lease_seconds * interval '1 second'
			AND ARRAY(SELECT generate_series(0, %d)::smallint) = ARRAY(SELECT unnest(positions) ORDER BY 1)`,
			lease.AttemptID, claims[i].ClaimedBy, claims[i].WorkerID, 100+i, wantEntries, wantEntries-1))
		page, err := g.ReadClaimed(t.Context(), lease.AttemptID, 0, 1000)
		if stored != 1 || err != nil || len(page) != wantEntries || page[wantEntries-1].AccessionVersion != lease.Entries[wantEntries-1].AccessionVersion {
			t.Errorf("claim %d: %d leases like its record, and %d entries read again, %v", i, stored, len(page), err)
		}
		by := answer(lease, []byte("body"))
		by.ClaimedBy = claims[i].ClaimedBy
		if _, err := g.AcceptResults(t.Context(), by); err != nil {
			t.Errorf("claim %d: %v", i, err)
		}
	}
	g.wantCounts(t, map[string]int64{"ticket": 0, "lease": 0, "result": 100})
}

// What the server refuses of one claim is no fault of those beside it.
func TestClaim_L2_TogetherOneThatIsRefusedStandsAlone(t *testing.T) {
	t.Parallel()
	g := newCrowd(t, 30)
	g.stopAt(t, "BEFORE INSERT ON lease")
	workers := []string{"first", "good", "no text\x00", "good, too"}
	leases, refused := make([]queue.Lease, len(workers)), make([]error, len(workers))
	var calls []func() error
	for i, worker := range workers {
		c := askFor(5)
		c.AttemptID, c.WorkerID = seqlease.NewAttemptID(), worker
		calls = append(calls, func() error {
			leases[i], refused[i] = g.Claim(t.Context(), c)
			return nil
		})
	}
	if err := g.gather(t, g.waitingClaims, calls); err != nil {
		t.Fatal(err)
	}
	for i := range workers {
		if i == 2 {
			if refused[i] == nil {
				t.Error("a label that is no text was taken")
			}
		} else if refused[i] != nil || len(leases[i].Entries) != 5 {
			t.Errorf("claim %d: %d entries, %v, want 5", i, len(leases[i].Entries), refused[i])
		}
	}
	g.wantCounts(t, map[string]int64{"ticket": 15, "lease": 3, "claim_record WHERE cardinality(entry_ids) = 5": 3})
}

// Submissions that go together are stored together, and one of them that isn't good is
// refused as if it were alone, while the others are stored.
func TestAccept_L3_L5_TogetherEachIsJudgedAlone(t *testing.T) {
	t.Parallel()
	g := newCrowd(t, 60)
	submissions := g.answers(t, 5)
	late := submissions[2] // of a lease that has ended
	g.exec(t, "UPDATE lease SET lease_until = now() - interval '1 second' WHERE attempt_id = '"+late.Lines[0].AttemptID.String()+"'")
	submissions[3].Lines = submissions[3].Lines[:7]              // in pieces
	submissions = append(submissions, submissions[4])            // twice at once
	foreign := packedAnswer(g.Store, g.mustClaim(t, askFor(10))) // one line of somebody else's
	foreign.Lines[9].Accession = "SLNOSUCH"
	foreign.Skip = true
	submissions = append(submissions, foreign)
	var sent statements
	if err := g.Trace(t.Context(), &sent); err != nil {
		t.Fatal(err)
	}
	g.stopAt(t, "BEFORE INSERT ON result")
	accepted, refused := make([]queue.Accepted, len(submissions)), make([]error, len(submissions))
	var calls []func() error
	for i, r := range submissions {
		calls = append(calls, func() error {
			accepted[i], refused[i] = g.AcceptResults(t.Context(), r)
			return nil
		})
	}
	if err := g.gather(t, g.waitingSubmissions, calls); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{10, 10, 0, 7, 10, 10, 9} {
		if accepted[i].Stored != want {
			t.Errorf("submission %d: %d stored, %v, want %d", i, accepted[i].Stored, refused[i], want)
		}
		var why *seqlease.RefusedError
		if is := errors.As(refused[i], &why); is != (i == 2) || is && len(why.Refused) != 10 || !is && refused[i] != nil {
			t.Errorf("submission %d was answered with %v", i, refused[i])
		}
	}
	if len(accepted[6].Refused) != 1 || accepted[6].Refused[0].Line != foreign.Lines[9].Number {
		t.Errorf("refused of the one that skips: %+v, want its last line", accepted[6].Refused)
	}
	// What is left are the late one's, the 3 of the pieces and the one nobody answered.
	g.wantCounts(t, map[string]int64{"result": 46, "lease": 3, "(SELECT unnest(entry_ids) FROM lease) AS held": 14, "ticket": 0})
}

// Several good ones take one statement, also where results are replaced.
func TestAccept_L3_TogetherIsOneStatement(t *testing.T) {
	t.Parallel()
	g := newCrowd(t, 50)
	for round, want := range []string{
		"accept_settings accept_first accept_settings accept_first", "accept_settings accept_first accept_settings accept_results accept_settings accept_results",
	} {
		submissions := g.answers(t, 5)
		var sent statements
		if err := g.Trace(t.Context(), &sent); err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			g.stopAt(t, "BEFORE INSERT OR UPDATE ON result")
		} else {
			g.exec(t, "SELECT pg_advisory_lock(1)")
		}
		var calls []func() error
		for _, r := range submissions {
			calls = append(calls, g.acceptTen(t, r))
		}
		sent.take()
		if err := g.gather(t, g.waitingSubmissions, calls); err != nil {
			t.Fatal(err)
		}
		names := slices.DeleteFunc(statementNames(sent.take()), func(name string) bool { return !strings.HasPrefix(name, "accept") })
		if got := strings.Join(names, " "); got != want {
			t.Errorf("round %d: statements %s, want %s", round, got, want)
		}
		g.wantCounts(t, map[string]int64{"result": 50, "lease": 0})
		g.exec(t, "INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id, attempts, hand_outs) SELECT organism_id, 1, 0, id, id, 0, 0 FROM entry")
		g.Forget()
		g.lookLater(t)
	}
}

// A lease that somebody is changing keeps only its own results waiting.
func TestAccept_L3_TogetherALockedLeaseKeepsNobodyElseWaiting(t *testing.T) {
	t.Parallel()
	g := newCrowd(t, 40)
	submissions := g.answers(t, 4)
	blocker := connect(t, g.address)
	run(t, blocker, "BEGIN", "SELECT FROM lease WHERE attempt_id = '"+submissions[2].Lines[0].AttemptID.String()+"' FOR UPDATE")
	g.stopAt(t, "BEFORE INSERT ON result")
	var free, locked errgroup.Group
	free.Go(g.acceptTen(t, submissions[0]))
	g.awaitStopped(t, 1)
	free.Go(g.acceptTen(t, submissions[1]))
	locked.Go(g.acceptTen(t, submissions[2]))
	free.Go(g.acceptTen(t, submissions[3]))
	for deadline := time.Now().Add(time.Minute); g.waitingSubmissions() != 3; {
		if time.Now().After(deadline) {
			t.Fatal("the submissions don't gather")
		}
	}
	g.goOn(t)
	if err := free.Wait(); err != nil { // while the lock is held
		t.Fatal(err)
	}
	g.wantCounts(t, map[string]int64{"result": 30})
	run(t, blocker, "ROLLBACK")
	if err := locked.Wait(); err != nil {
		t.Fatal(err)
	}
	g.wantCounts(t, map[string]int64{"result": 40, "lease": 0})
}
