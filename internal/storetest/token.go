package storetest

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// tokenCases check that marks are exact: whoever polls by them misses nothing that
// was committed, in whatever order it was.
func tokenCases() []testCase {
	return []testCase{
		{name: "L13_MirrorByTheReleasedMarkIsNeverStale", check: tokenMirror},
		{name: "L13_QuarantineUnderALaterVersionLeavesTheReleasedMark", check: tokenLaterQuarantine},
		{name: "L13_QuarantineUnderTheCurrentVersionChangesTheReleasedMark", check: tokenCurrentQuarantine},
		{name: "L14_NothingClaimableHidesBehindAnEmptyAnswer", check: tokenNothingHidden},
	}
}

// servers are the fixture and, where the store can be shared, a second server.
func (f *fixture) servers(t *testing.T) []*fixture {
	t.Helper()
	if _, lacking := f.h.Lacks[SecondStore]; lacking {
		return []*fixture{f, f}
	}
	return []*fixture{f, f.second(t)}
}

// ledger is what has been committed: those who changed something write here after
// their call returned.
type ledger struct {
	mu   sync.Mutex
	told map[string]int
}

func (l *ledger) note(what string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told[what] = n
}

func (l *ledger) add(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told[what]++
}

func (l *ledger) read() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.told)
}

// The mirror's writers, and what each does.
const (
	mirrorWriters = 3
	mirrorRounds  = 12
)

// tokenMirror has several writers release entries, replace their results and what
// updaters say of them, on two servers. A reader keeps a copy, which it reads anew
// only if the mark has changed: it must have everything that was committed before
// the mark was read, and one mark must not stand for two states.
func tokenMirror(t *testing.T, h Harness) {
	f := newFixture(t, h)
	servers := f.servers(t)
	committed := &ledger{told: map[string]int{}}
	versions := f.process(t, seqlease.NoIssues, seqlease.NoIssues, seqlease.NoIssues, seqlease.NoIssues, seqlease.NoIssues, seqlease.NoIssues)
	var writers errgroup.Group
	var done atomic.Bool
	for i := range mirrorWriters {
		writers.Go(func() error {
			return servers[i%len(servers)].changeReleased(t.Context(), i, versions[2*i:2*i+2], committed)
		})
	}
	ended := make(chan error, 1)
	go func() {
		err := writers.Wait()
		done.Store(true)
		ended <- err
	}()
	m := mirror{states: map[string]string{}}
	for last := false; !last; {
		last = done.Load() // then the round sees all that was written
		before := committed.read()
		m.poll(t, servers[rand.IntN(len(servers))])
		for what, n := range before {
			if m.shown[what] < n {
				t.Fatalf("%s: the copy at mark %q shows %d, but %d was committed before the mark was read", what, m.mark, m.shown[what], n)
			}
		}
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	kept := m.shown
	m.mark = ""
	m.poll(t, f)
	wantSame(t, "the copy in the end", kept, m.shown)
	if len(m.states) < 2 {
		t.Errorf("the reader saw %d states: it tested nothing", len(m.states))
	}
}

// changeReleased releases the two entries of a writer and changes what is released of
// them, and notes what has been committed.
func (f *fixture) changeReleased(ctx context.Context, writer int, entries []seqlease.AccessionVersion, committed *ledger) error {
	for i, av := range entries {
		a := approval(av)
		if _, err := f.Approve(ctx, a); err != nil {
			return fmt.Errorf("approve: %w", err)
		}
		committed.note("released "+av.String(), 1)
		for n := i*mirrorRounds + 1; n <= (i+1)*mirrorRounds; n++ {
			u := external(fmt.Sprintf(`{"n":%d}`, n), entries[:i+1]...)
			u.Updater = fmt.Sprint("updater ", writer)
			if err := f.SetExternalMetadata(ctx, u); err != nil {
				return fmt.Errorf("external metadata: %w", err)
			}
			for _, changed := range entries[:i+1] {
				committed.note("external "+changed.String(), n)
			}
		}
	}
	return nil
}

// mirror is a copy of what is released, as a reader keeps it.
type mirror struct {
	mark   string
	shown  map[string]int
	states map[string]string // by mark
}

// poll reads what is released unless the mark is that of the copy.
func (m *mirror) poll(t *testing.T, f *fixture) {
	t.Helper()
	mark := f.releasedMark(t)
	if mark == m.mark {
		return
	}
	if mark < m.mark {
		t.Fatalf("the mark fell from %q to %q", m.mark, mark)
	}
	head, entries := f.released(t)
	shown := map[string]int{}
	var state strings.Builder
	for _, e := range entries {
		shown["released "+e.String()] = 1
		state.WriteString(e.String() + string(e.Result))
		for _, d := range e.External {
			var n int
			if _, err := fmt.Sscanf(string(d.Body), `{"n":%d}`, &n); err != nil {
				t.Fatalf("external metadata %s: %v", d.Body, err)
			}
			shown["external "+e.String()] = n
			state.Write(d.Body)
		}
	}
	if head.Mark < mark {
		t.Fatalf("the mark %q of the body is older than %q, which was read before", head.Mark, mark)
	}
	if other, seen := m.states[head.Mark]; seen && other != state.String() {
		t.Fatalf("the mark %q stands for two states:\n%s\n%s", head.Mark, other, state.String())
	}
	m.mark, m.shown, m.states[head.Mark] = head.Mark, shown, state.String()
}

// givenBack is how many of the claims are given back.
const givenBack = 20

// tokenNothingHidden has several submit and one give back, on two servers, while
// another claims. Claims take the mark's word for it that nothing was added; so when
// one comes back empty, everything that was claimable when it began has been claimed.
func tokenNothingHidden(t *testing.T, h Harness) {
	f := newFixture(t, h)
	servers := f.servers(t)
	claimable := &ledger{told: map[string]int{}} // how often each entry was made so
	const submitters, uploads = 3, 25
	var writers errgroup.Group
	for i := range submitters {
		server := servers[i%len(servers)]
		writers.Go(func() error {
			for range uploads {
				made, err := server.Submit(t.Context(), server.upload(1+i))
				if err != nil {
					return fmt.Errorf("submit: %w", err)
				}
				for _, m := range made {
					claimable.add(m.String())
				}
			}
			return nil
		})
	}
	leases := make(chan queue.Lease, givenBack)
	writers.Go(func() error { return servers[len(servers)-1].giveBackSome(t.Context(), leases, claimable) })
	ended := make(chan error, 1)
	go func() { ended <- writers.Wait() }()

	taken, empty, given := map[string]int{}, 0, 0
	for finished := false; !finished || empty == 0; {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			finished, empty = true, 0 // one more round, to the first empty answer
		default:
		}
		before := claimable.read()
		lease := f.claim(t, 4)
		for _, av := range claimed(lease) {
			taken[av.String()]++
		}
		if len(lease.Entries) > 0 {
			if given < givenBack {
				given++
				leases <- lease
			}
			continue
		}
		empty++
		for entry, n := range before {
			if taken[entry] < n {
				t.Fatalf("%s had been made claimable %d times and claimed %d times when a claim at mark %q came back empty", entry, n, taken[entry], lease.Mark)
			}
		}
	}
	wantSame(t, "how often entries were claimed", taken, claimable.read())
}

// giveBackSome gives back the first leases that it is handed.
func (f *fixture) giveBackSome(ctx context.Context, leases <-chan queue.Lease, claimable *ledger) error {
	for range givenBack {
		var lease queue.Lease
		select {
		case lease = <-leases:
		case <-ctx.Done():
			return ctx.Err()
		}
		if _, err := f.GiveBack(ctx, returned(lease.AttemptID)); err != nil {
			return fmt.Errorf("give back: %w", err)
		}
		for _, av := range claimed(lease) {
			claimable.add(av.String())
		}
	}
	return nil
}

func tokenLaterQuarantine(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues, seqlease.NoIssues)
	f.approveAll(t)
	f.registerVersion(t, newer)
	f.backfill(t, newer, 10, 2)
	mark := f.releasedMark(t)
	later := queue.Selection{Organism: WestNile, PipelineVersion: newer, Entries: versions}
	f.putInQuarantine(t, later, 2)
	wantSame(t, "released mark after a quarantine", f.releasedMark(t), mark)
	f.requeue(t, later, 2)
	wantSame(t, "released mark after it was over", f.releasedMark(t), mark)
}

// tokenCurrentQuarantine is about released entries that a new current version has no
// good result of: they stay released, and what is said of them may change.
func tokenCurrentQuarantine(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues, seqlease.NoIssues)
	f.approveAll(t)
	f.registerVersion(t, newer)
	f.backfill(t, newer, 10, 2)
	h.Switch(t, f.Store, WestNile, newer)
	results := func(want ...bool) {
		t.Helper()
		_, released := f.released(t)
		wantSame(t, "released entries", len(released), len(versions))
		for i, e := range released {
			wantSame(t, "released entry", e.AccessionVersion, versions[i])
			wantSame(t, "its pipeline version", e.PipelineVersion, newer)
			wantSame(t, "whether it has a result", e.Result != nil, want[i])
		}
	}
	results(false, false)
	last := f.releasedMark(t)
	rises := func(after string) {
		t.Helper()
		mark := f.releasedMark(t)
		if mark <= last {
			t.Errorf("the mark %q after %s doesn't rise over %q", mark, after, last)
		}
		last = mark
	}
	first := queue.Selection{Organism: WestNile, PipelineVersion: newer, Entries: versions[:1]}
	f.putInQuarantine(t, first, 1)
	rises("the quarantine")
	results(true, false)
	f.requeue(t, first, 1)
	rises("its end")
	results(false, false)
	lease := f.claimNewer(t, 2)
	f.mustAcceptNewer(t, f.lines(t, lease)...)
	rises("results")
	results(true, true)
}
