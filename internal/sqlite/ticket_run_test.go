package sqlite

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

// large is the size of an upload whose tickets aren't written out at once.
const large = 2 * partEntries

// groupUpload is an upload of n entries for a group of its own.
func groupUpload(t testing.TB, s *Store, n int) submission.Upload {
	t.Helper()
	u, err := prepareUpload(t.Context(), s, n)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// mustSubmit submits and returns the entries.
func mustSubmit(t testing.TB, s *Store, u submission.Upload) []seqlease.AccessionVersion {
	t.Helper()
	mapping, err := s.Submit(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	return versionsOf(mapping)
}

// mustClaim claims and returns the entries.
func mustClaim(t testing.TB, s *Store, n int) []seqlease.AccessionVersion {
	t.Helper()
	lease, err := s.Claim(t.Context(), benchClaim(n))
	if err != nil {
		t.Fatal(err)
	}
	return entriesOf(lease)
}

func entriesOf(lease queue.Lease) []seqlease.AccessionVersion {
	var list []seqlease.AccessionVersion
	for _, e := range lease.Entries {
		list = append(list, e.AccessionVersion)
	}
	return list
}

// alternating is the first entries of each of the lists in turn.
func alternating(n int, lists ...[]seqlease.AccessionVersion) (all []seqlease.AccessionVersion) {
	for i := range n {
		for _, list := range lists {
			all = append(all, list[i])
		}
	}
	return all
}

// Large uploads of several groups and small ones are claimed in turn, whether
// their tickets are written out or not.
func TestClaim_L17_RunsOfTicketsInterleave(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	a := mustSubmit(t, s, groupUpload(t, s, large))
	b := mustSubmit(t, s, groupUpload(t, s, large+7))
	if n := count(t, s, "SELECT count(*) FROM ticket"); n != 0 {
		t.Errorf("%d tickets are written out by the uploads, want none", n)
	}
	// The second group's first rank is behind the head of the queue.
	if got, want := mustClaim(t, s, 41), slices.Concat(a[:1], alternating(20, a[1:], b)); !cmp.Equal(got, want) {
		t.Errorf("claimed %v, want %v", got, want)
	}
	c := mustSubmit(t, s, groupUpload(t, s, 5))
	got := mustClaim(t, s, 17)
	for _, av := range c {
		if !slices.Contains(got, av) {
			t.Errorf("%s of the small upload isn't among the next 17", av)
		}
	}
	rest := mustClaim(t, s, 3*large)
	if all := 41 + len(got) + len(rest); all != 2*large+12 {
		t.Errorf("claimed %d in all, want %d", all, 2*large+12)
	}
	if n := count(t, s, "SELECT count(*) FROM ticket_run"); n != 0 {
		t.Errorf("%d runs are left, want none", n)
	}
	wantIntact(t, s)
}

// Uploads under way hide nothing but themselves, and cost a claim nothing.
func TestClaim_L1_L17_UploadsUnderWayStayAside(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	up, err := beginUpload(t.Context(), s, groupUpload(t, s, large))
	if err != nil {
		t.Fatal(err)
	}
	between := mustSubmit(t, s, groupUpload(t, s, 3))
	up.Entries = benchEntries(s, 10) // goes on behind the ids of the other upload
	if err := s.storeParts(t.Context(), up); err != nil {
		t.Fatal(err)
	}
	if got := mustClaim(t, s, 100); !cmp.Equal(got, between) {
		t.Errorf("claimed %v, want %v", got, between)
	}
	if err := s.writeAndRing(t.Context(), up.publish); err != nil {
		t.Fatal(err)
	}
	if got, want := mustClaim(t, s, 2*large), versionsOf(up.mapping); !cmp.Equal(got, want) {
		t.Errorf("claimed %d, want the %d of the published upload in order", len(got), len(want))
	}
	wantIntact(t, s)
}

// What happens to entries whose tickets aren't written out.
func TestTicketRun_EntriesAreDeletedAndQuarantined(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	versions := mustSubmit(t, s, groupUpload(t, s, large))
	if err := remove(t.Context(), s, versions[:large-10]); err != nil {
		t.Fatal(err)
	}
	put := queue.Selection{Organism: storetest.WestNile, Entries: versions[large-10 : large-8]}
	n, last, err := s.PutInQuarantine(t.Context(), put, queue.OperatorVerdict{By: "root", Reason: "odd", Result: queue.PackedResult{Packed: packedBody()}}, 0, 100)
	if n != 2 || last != 0 || err != nil {
		t.Errorf("quarantined %d up to %d, %v, want 2 in one page", n, last, err)
	}
	if added, _, err := s.Reconcile(t.Context(), 0, 2*large); added != 0 || err != nil {
		t.Errorf("reconciled %d, %v, want nothing to be forgotten", added, err)
	}
	if got, want := mustClaim(t, s, 100), versions[large-8:]; !cmp.Equal(got, want) {
		t.Errorf("claimed %v, want %v", got, want)
	}
	if n, _, err := s.Requeue(t.Context(), queue.Selection{Organism: storetest.WestNile}, 0, 100); n != 2 || err != nil {
		t.Errorf("requeued %d, %v, want 2", n, err)
	}
	if got, want := mustClaim(t, s, 100), versions[large-10:large-8]; !cmp.Equal(got, want) {
		t.Errorf("claimed %v after the requeue, want %v", got, want)
	}
	wantIntact(t, s)
}

// Entries of a run that are gone, or have a place of their own, are neither handed
// out twice nor leave gaps among the places of a claim.
func TestTicketRun_L2_ClaimsAcrossGapsAreWhole(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	versions := mustSubmit(t, s, groupUpload(t, s, large))
	var deleted, put []seqlease.AccessionVersion
	for i := 1; i < 200; i += 3 {
		deleted, put = append(deleted, versions[i]), append(put, versions[i+1])
	}
	if err := remove(t.Context(), s, deleted); err != nil {
		t.Fatal(err)
	}
	verdict := queue.OperatorVerdict{By: "root", Reason: "odd", Result: queue.PackedResult{Packed: packedBody()}}
	if n, _, err := s.PutInQuarantine(t.Context(), queue.Selection{Organism: storetest.WestNile, Entries: put}, verdict, 0, 100); n != len(put) || err != nil {
		t.Fatalf("quarantined %d, %v, want %d", n, err, len(put))
	}
	var want, got []seqlease.AccessionVersion
	for _, av := range versions {
		if !slices.Contains(deleted, av) && !slices.Contains(put, av) {
			want = append(want, av)
		}
	}
	for _, n := range []int{1, 7, 100, 2 * large} {
		lease, err := s.Claim(t.Context(), benchClaim(n))
		if err != nil || len(lease.Entries) != min(n, len(want)-len(got)) {
			t.Fatalf("claimed %d entries, %v, want %d", len(lease.Entries), err, min(n, len(want)-len(got)))
		}
		for i, e := range lease.Entries {
			if e.Place != i {
				t.Errorf("the place of entry %d of a claim of %d is %d", i, n, e.Place)
			}
		}
		got = append(got, entriesOf(lease)...)
	}
	if !cmp.Equal(got, want) {
		t.Errorf("claimed %d entries, want the %d in order:\n%s", len(got), len(want), cmp.Diff(want, got))
	}
	wantIntact(t, s)
}

// A claim takes a bounded number of statements while large uploads wait.
func TestStatements_L17_WritingOutTickets(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for range 3 {
		mustSubmit(t, s, groupUpload(t, s, large))
	}
	for _, n := range []int{1, 99, 100, 1000, 1700} {
		names := counted(t, s, func(ctx context.Context, t *tx) error {
			slice, err := s.moveSlice(ctx, t, &added{}, benchClaim(n), []lanes{healthy}, 0)
			if err == nil && slice.entries != n {
				err = fmt.Errorf("claimed %d entries, want %d", slice.entries, n)
			}
			return err
		})
		if len(names) > 12 {
			t.Errorf("a claim of %d took %d statements, want at most 12: %v", n, len(names), names)
		}
	}
}

func TestReachOf(t *testing.T) {
	t.Parallel()
	many := make([]ticketRun, runsSeen)
	for i := range many {
		many[i] = ticketRun{rank: int64(i), entries: 1000}
	}
	for _, c := range []struct {
		name    string
		runs    []ticketRun
		tickets int64
		want    int64
	}{
		{"one run", []ticketRun{{5, 1, 100}}, 10, 14},
		{"a run that is too short", []ticketRun{{5, 1, 4}}, 10, 8},
		{"two from the same rank", []ticketRun{{5, 1, 100}, {5, 1, 100}}, 10, 9},
		{"the second begins later", []ticketRun{{1, 1, 100}, {8, 1, 100}}, 10, 9},
		{"the second isn't reached", []ticketRun{{1, 1, 100}, {800, 1, 100}}, 10, 10},
		{"at least one", []ticketRun{{7, 1, 1}, {7, 1, 1}}, 1, 7},
		{"not beyond what was looked at", many, 1_000_000, runsSeen - 1},
	} {
		if got := reachOf(c.runs, c.tickets); got != c.want {
			t.Errorf("%s: reaches to rank %d, want %d", c.name, got, c.want)
		}
	}
}

func TestReachWithin(t *testing.T) {
	t.Parallel()
	many := make([]ticketRun, runsSeen)
	crowd := make([]int64, headsSeen)
	for i := range runsSeen {
		many[i] = ticketRun{rank: int64(i + 1), entries: 1000}
		crowd[i] = int64(i/2 + 1)
	}
	for _, c := range []struct {
		name    string
		runs    []ticketRun
		heads   []int64
		tickets int64
		want    int64
	}{
		{"one run", []ticketRun{{5, 1, 100}}, nil, 10, 14},
		{"a run that is too short", []ticketRun{{5, 1, 4}}, nil, 10, 8},
		{"two from the same rank", []ticketRun{{5, 1, 100}, {5, 1, 100}}, nil, 11, 9},
		{"the second begins later", []ticketRun{{1, 1, 100}, {8, 1, 100}}, nil, 10, 8},
		{"none of two fits", []ticketRun{{7, 1, 1}, {7, 1, 1}}, nil, 1, 6},
		{"tickets between", []ticketRun{{5, 1, 100}}, []int64{2, 6, 6}, 10, 11},
		{"tickets before are enough", []ticketRun{{5, 1, 100}}, []int64{2, 3}, 1, 4},
		{"tickets behind don't count", []ticketRun{{5, 1, 100}}, []int64{20, 20, 20}, 10, 14},
		{"not as far as the last run that was looked at", many, nil, 1_000_000, runsSeen - 1},
		{"not as far as the last ticket that was looked at", []ticketRun{{5, 1, 100}}, crowd, 1_000_000, headsSeen/2 - 1},
	} {
		if got := reachWithin(c.runs, c.heads, c.tickets); got != c.want {
			t.Errorf("%s: reaches to rank %d, want %d", c.name, got, c.want)
		}
	}
}
