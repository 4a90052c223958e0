package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

// crossedFor is how long RunCrossed lets everybody work at least, and crossedLimit
// how long at most where the machine is so busy that somebody hasn't got anything
// done by then.
const (
	crossedFor   = 3 * time.Second
	crossedLimit = 3 * time.Minute
)

// crossed is many who change the same entries at once, each in an order of its own.
type crossed struct {
	versions []seqlease.AccessionVersion
	verdict  queue.OperatorVerdict
	deleted  atomic.Int64
}

// RunCrossed has workers, submitters, keepers and operators change the same entries
// at once, on two servers where the store can be shared (B029). No lock order
// fails a call: each succeeds, or is refused for what the others did. In the end
// every entry that was not deleted is in one place, and can be processed.
func RunCrossed(t *testing.T, h Harness) {
	f := newFixture(t, h)
	servers := []*fixture{f}
	if _, lacking := h.Lacks[SecondStore]; !lacking {
		servers = append(servers, f.second(t))
	}
	c := &crossed{
		versions: f.submit(t, 300),
		verdict:  queue.OperatorVerdict{By: operatorName, Reason: "set aside", Result: f.systemResult(t, "set aside")},
	}
	least, cancel := context.WithTimeout(t.Context(), crossedFor)
	defer cancel()
	most, cancel := context.WithTimeout(t.Context(), crossedLimit)
	defer cancel()
	counts := map[string]*atomic.Int64{}
	for name := range c.acts() {
		counts[name] = &atomic.Int64{}
	}
	var group errgroup.Group
	for name, act := range c.acts() {
		for i, server := range servers {
			group.Go(func() error {
				random := rand.New(rand.NewPCG(uint64(len(name)), uint64(i)))
				for most.Err() == nil && (least.Err() == nil || len(idle(counts)) > 0) {
					n, err := act(t.Context(), server, random)
					if err != nil && !isRefusal(err) {
						return fmt.Errorf("%s: %w", name, err)
					}
					counts[name].Add(int64(n))
				}
				return nil
			})
		}
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if names := idle(counts); len(names) > 0 {
		t.Errorf("nothing was changed by %v", names)
	}
	c.wantOnePlaceEach(t, f)
}

// idle are those who changed nothing. What has ended is mostly taken over by claims,
// and it takes several failures until the keeper has to do something, so that these
// two may be.
func idle(counts map[string]*atomic.Int64) (names []string) {
	for name, count := range counts {
		if name != "sweep" && name != "keeper" && count.Load() == 0 {
			names = append(names, name)
		}
	}
	return names
}

// isRefusal says that a call came too late for what the others did.
func isRefusal(err error) bool {
	var refused *seqlease.RefusedError
	return errors.As(err, &refused) || errors.Is(err, seqlease.ErrState) || errors.Is(err, seqlease.ErrLeaseLost) ||
		errors.Is(err, seqlease.ErrNotFound)
}

// act changes some entries and returns how many it changed.
type act func(ctx context.Context, f *fixture, r *rand.Rand) (int, error)

func (c *crossed) acts() map[string]act {
	all := func(call func(ctx context.Context, f *fixture, s queue.Selection) (int, int64, error)) act {
		return func(ctx context.Context, f *fixture, r *rand.Rand) (int, error) {
			n, _, err := call(ctx, f, queue.Selection{Organism: WestNile, PipelineVersion: 1, Entries: c.some(r, 60)})
			return n, err
		}
	}
	return map[string]act{
		"work":   c.work,
		"edit":   c.edit,
		"delete": c.remove,
		"keeper": c.keep,
		"requeue": all(func(ctx context.Context, f *fixture, s queue.Selection) (int, int64, error) {
			return f.Requeue(ctx, s, 0, 100)
		}),
		"reprocess": all(func(ctx context.Context, f *fixture, s queue.Selection) (int, int64, error) {
			return f.Reprocess(ctx, s, 0, 100)
		}),
		"quarantine": all(func(ctx context.Context, f *fixture, s queue.Selection) (int, int64, error) {
			s.Entries = s.Entries[:9]
			return f.PutInQuarantine(ctx, s, c.verdict, 0, 100)
		}),
		"free": func(ctx context.Context, f *fixture, r *rand.Rand) (int, error) {
			n, _, err := f.FreeLeases(ctx, queue.FreeLeases{Organism: WestNile, Entries: c.some(r, 20), Reason: "freed"}, 100)
			return n, err
		},
		"sweep": func(ctx context.Context, f *fixture, _ *rand.Rand) (int, error) {
			n, _, err := f.Sweep(ctx, 5)
			return n, err
		},
		"reconcile": func(ctx context.Context, f *fixture, _ *rand.Rand) (int, error) {
			added, last, err := f.Reconcile(ctx, 0, 1000)
			if added > 0 {
				return 0, fmt.Errorf("%d entries had no place", added)
			}
			return int(last), err
		},
	}
}

// some are n entries that follow one another, in descending order half of the time.
func (c *crossed) some(r *rand.Rand, n int) []seqlease.AccessionVersion {
	from := r.IntN(len(c.versions) - n)
	list := slices.Clone(c.versions[from : from+n])
	if r.IntN(2) == 0 {
		slices.Reverse(list)
	}
	return list
}

// work claims for a second or for long, and then sends results from the last to
// the first, renews and does so, gives back or forgets what it has.
func (c *crossed) work(ctx context.Context, f *fixture, r *rand.Rand) (int, error) {
	claim := ask(1 + r.IntN(100))
	if r.IntN(2) == 0 {
		claim.Lease = time.Second
	}
	lease, err := f.Claim(ctx, claim)
	if err != nil || len(lease.Entries) == 0 {
		return 0, err
	}
	switch r.IntN(8) {
	case 0:
		return 0, nil
	case 1:
		return f.GiveBack(ctx, queue.GiveBack{AttemptID: lease.AttemptID, Organism: WestNile, ClaimedBy: worker, CountsAsAttempt: true})
	case 2, 3:
		if _, err := f.Renew(ctx, queue.Renew{Organism: WestNile, AttemptID: lease.AttemptID, ClaimedBy: worker}); err != nil {
			return 0, err
		}
	}
	s := results()
	s.Skip = r.IntN(2) == 0
	for i, e := range slices.Backward(lease.Entries) {
		judged := seqlease.NoIssues
		if r.IntN(4) == 0 {
			judged = seqlease.HasErrors
		}
		s.Lines = append(s.Lines, queue.Line{
			AccessionVersion: e.AccessionVersion, Number: len(lease.Entries) - i, AttemptID: lease.AttemptID, Result: judged,
			Digest: [16]byte{1}, Packed: f.pack(WestNile, processed("crossed", judged)),
		})
	}
	accepted, err := f.AcceptResults(ctx, s)
	return accepted.Stored, err
}

func (c *crossed) edit(ctx context.Context, f *fixture, r *rand.Rand) (int, error) {
	i := r.IntN(len(c.versions))
	err := f.Edit(ctx, submission.Edit{Organism: WestNile, AccessionVersion: c.versions[i], Data: submitted(i)})
	return 1, err
}

// remove deletes ranges, of a third of the entries at most.
func (c *crossed) remove(ctx context.Context, f *fixture, r *rand.Rand) (int, error) {
	if c.deleted.Load() >= int64(len(c.versions)/3) || r.IntN(20) > 0 {
		return 0, f.Ready(ctx)
	}
	list := c.some(r, 3)
	if err := f.remove(ctx, list); err != nil {
		return 0, err
	}
	c.deleted.Add(int64(len(list)))
	return len(list), nil
}

// keep quarantines what is used up.
func (c *crossed) keep(ctx context.Context, f *fixture, _ *rand.Rand) (int, error) {
	spent, err := f.Spent(ctx, 100)
	if err != nil {
		return 0, err
	}
	verdicts := make([]queue.Verdict, len(spent))
	for i, ticket := range spent {
		verdicts[i] = queue.Verdict{SpentTicket: ticket, Reason: "used up", Result: c.verdict.Result}
	}
	return f.Quarantine(ctx, verdicts)
}

// wantOnePlaceEach ends all leases and what is used up, and claims all that
// waits: nothing comes twice, and with its results everything is processed.
func (c *crossed) wantOnePlaceEach(t *testing.T, f *fixture) {
	t.Helper()
	f.age(t, leaseTime)
	f.sweep(t)
	if _, err := c.keep(t.Context(), f, nil); err != nil {
		t.Fatal(err)
	}
	held := map[seqlease.AccessionVersion]bool{}
	var lines []queue.Line
	for empty := 0; empty < 9; empty++ { // suspects have their turn at the latest then
		lease := f.claim(t, 1000)
		for _, e := range lease.Entries {
			if held[e.AccessionVersion] {
				t.Errorf("%s is held twice", e.AccessionVersion)
			}
			held[e.AccessionVersion] = true
			empty = 0
		}
		lines = append(lines, f.lines(t, lease)...)
	}
	for i := range lines {
		lines[i].Number = i + 1
	}
	f.mustAccept(t, lines...)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: int64(len(c.versions)) - c.deleted.Load()})
}
