package storetest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

func claimCases() []testCase {
	return []testCase{
		{name: "L2_ClaimTakesAtMostNInOrder", check: claimL2AtMostN},
		{name: "L2_ConcurrentClaimsNeverShareAndLoseNothing", check: claimL2Concurrent},
		{name: "L2_ConcurrentClaimsOfTwoServers", needs: SecondStore, check: claimL2TwoServers},
		{name: "L2_ClaimOfZeroReadsOnlyTheMark", check: claimL2Zero},
		{name: "L2_LargeClaimIsReadInPages", check: claimL2LargeInPages},
		{name: "L2_LargeClaimOfFewEntries", check: claimL2LargeOfFew},
		{name: "L2_PagesLeaveOutWhatIsNoLongerHeld", check: claimL2PagesLeaveOut},
		{name: "L12_LargeDocumentsComeInPages", needs: Large, check: claimL12LargeDocuments},
		{name: "B022_DamagedDocumentLeavesNeighboursServed", needs: DamageEntries, check: claimB022Damaged},
		{name: "L2_OrganismsDoNotMix", check: claimOrganismsApart},
		{name: "Claim_CarriesWhatWasSubmitted", check: claimCarriesEntry},
		{name: "Claim_UnknownOrganismIsRefused", check: claimUnknownOrganism},
		{name: "V2_OutdatedPipelineVersionIsRefused", check: claimV2Outdated},
		{name: "V2_UnregisteredPipelineVersionIsRefused", check: claimV2Unknown},
	}
}

func claimL2AtMostN(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 10)
	for _, step := range []struct{ from, to, ask int }{{0, 1, 1}, {1, 4, 3}, {4, 9, 5}, {9, 10, 100}, {10, 10, 1}} {
		lease := f.claim(t, step.ask)
		wantSame(t, fmt.Sprintf("claim of %d", step.ask), claimed(lease), versions[step.from:step.to])
	}
}

// drain claims batches of different sizes with 16 goroutines, spread over the
// stores, until nothing waits, and returns how often each entry was claimed.
func drain(t *testing.T, stores ...*fixture) map[seqlease.AccessionVersion]int {
	t.Helper()
	var mu sync.Mutex
	seen := map[seqlease.AccessionVersion]int{}
	var group errgroup.Group
	for g := range 16 {
		f := stores[g%len(stores)]
		group.Go(func() error {
			for {
				lease, err := f.Claim(t.Context(), ask(3+g))
				if err != nil {
					return err
				}
				if len(lease.Entries) > 3+g {
					return fmt.Errorf("claimed %d entries, want at most %d", len(lease.Entries), 3+g)
				}
				if len(lease.Entries) == 0 {
					return nil
				}
				mu.Lock()
				for _, e := range lease.Entries {
					seen[e.AccessionVersion]++
				}
				mu.Unlock()
			}
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatalf("claim: %v", err)
	}
	return seen
}

// wantOnce checks that each of the entries was claimed exactly once, and nothing else.
func wantOnce(t *testing.T, seen map[seqlease.AccessionVersion]int, versions []seqlease.AccessionVersion) {
	t.Helper()
	for _, av := range versions {
		if seen[av] != 1 {
			t.Errorf("%s was claimed %d times, want once", av, seen[av])
		}
	}
	wantSame(t, "different entries claimed", len(seen), len(versions))
}

func claimL2Concurrent(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 2000)
	wantOnce(t, drain(t, f), versions)
}

func claimL2TwoServers(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 1000)
	wantOnce(t, drain(t, f, f.second(t)), versions)
}

func claimL2Zero(t *testing.T, h Harness) {
	f := newFixture(t, h)
	empty := f.claim(t, 0)
	versions := f.submit(t, 2)
	lease := f.claim(t, 0)
	wantSame(t, "claimed by a claim of 0", claimed(lease), nil)
	if lease.Mark == empty.Mark {
		t.Errorf("the mark is %q before and after a submission", lease.Mark)
	}
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 2})
	wantSame(t, "claimed afterwards", claimed(f.claim(t, 10)), versions)
}

func claimL2LargeInPages(t *testing.T, h Harness) {
	f := newFixture(t, h)
	const n = queue.PayloadLimit + 501
	versions := f.submit(t, n)
	lease := f.claim(t, n)
	wantSame(t, "claimed", claimed(lease), versions)
	var read []queue.ClaimedEntry
	for skip := 0; ; skip += 400 {
		page, err := f.ReadClaimed(t.Context(), lease.AttemptID, skip, 400)
		if err != nil {
			t.Fatalf("read claimed: %v", err)
		}
		if len(page) == 0 {
			break
		}
		read = append(read, page...)
	}
	if len(read) != n {
		t.Fatalf("read %d entries, want %d", len(read), n)
	}
	for i, e := range read {
		if got, want := f.data(t, e), string(submitted(i)); got != want {
			t.Fatalf("entry %d has data %q, want %q", i, got, want)
		}
		want := lease.Entries[i]
		if want.Packed.Bytes != nil {
			t.Fatalf("entry %d of a large claim carries data", i)
		}
		e.Packed = want.Packed
		if !reflect.DeepEqual(e, want) {
			wantSame(t, fmt.Sprintf("entry %d", i), e, want)
		}
	}
}

func claimL2PagesLeaveOut(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 5)
	lease := f.claim(t, 5)
	f.mustAccept(t, f.lines(t, lease)[1])
	page, err := f.ReadClaimed(t.Context(), lease.AttemptID, 0, 10)
	if err != nil {
		t.Fatalf("read claimed: %v", err)
	}
	wantSame(t, "still held", claimed(queue.Lease{Entries: page}), slices.Delete(slices.Clone(versions), 1, 2))

	f.age(t, leaseTime)
	page, err = f.ReadClaimed(t.Context(), lease.AttemptID, 0, 10)
	if err != nil {
		t.Fatalf("read claimed after the lease end: %v", err)
	}
	wantSame(t, "held after the lease end", claimed(queue.Lease{Entries: page}), nil)

	page, err = f.ReadClaimed(t.Context(), seqlease.NewAttemptID(), 0, 10)
	if err != nil {
		t.Fatalf("read claimed of an unknown attempt: %v", err)
	}
	wantSame(t, "held by an unknown attempt", len(page), 0)
}

func claimOrganismsApart(t *testing.T, h Harness) {
	f := newFixture(t, h)
	nile, cchf := f.submit(t, 3), f.submitTo(t, CCHF, 2)
	wantSame(t, "claimed of "+string(CCHF), claimed(f.claimFrom(t, CCHF, 10)), cchf)
	wantSame(t, "claimed of "+string(WestNile), claimed(f.claim(t, 10)), nile)
}

func claimCarriesEntry(t *testing.T, h Harness) {
	f := newFixture(t, h)
	before := f.now(t)
	versions := f.submit(t, 2)
	after := f.now(t)
	for i, e := range f.claim(t, 2).Entries {
		wantBetween(t, "submitted", e.SubmittedAt, before, after)
		e.SubmittedAt = time.Time{}
		wantSame(t, "data", f.data(t, e), string(submitted(i)))
		e.Packed = seqlease.Packed{}
		wantSame(t, fmt.Sprintf("entry %d", i), e, queue.ClaimedEntry{
			AccessionVersion: versions[i], Place: i, SubmissionID: fmt.Sprintf("sample-%d", i),
			Submitter: submitter, GroupID: f.group.GroupID, Attempt: 1,
		})
	}
}

func claimUnknownOrganism(t *testing.T, h Harness) {
	f := newFixture(t, h)
	c := ask(1)
	c.Organism = "measles"
	_, err := f.Claim(t.Context(), c)
	wantError(t, err, seqlease.ErrUnknownOrganism)
}

func claimV2Outdated(t *testing.T, h Harness) { claimOfVersion(t, h, 0, seqlease.ErrPipelineOutdated) }

func claimV2Unknown(t *testing.T, h Harness) { claimOfVersion(t, h, 2, seqlease.ErrPipelineUnknown) }

// claimOfVersion claims with a version that isn't live: whatever waits, the
// error names both versions, and nothing is claimed.
func claimOfVersion(t *testing.T, h Harness, version seqlease.PipelineVersion, want error) {
	t.Helper()
	f := newFixture(t, h)
	versions := f.submit(t, 2)
	c := ask(2)
	c.PipelineVersion = version
	for _, n := range []int{2, 0} {
		c.Entries = n
		_, err := f.Claim(t.Context(), c)
		wantError(t, err, want)
		if err != nil && (!strings.Contains(err.Error(), "1") || !strings.Contains(err.Error(), fmt.Sprint(version))) {
			t.Errorf("the error %q doesn't name the versions 1 and %d", err, version)
		}
	}
	wantSame(t, "claimed with the current version", claimed(f.claim(t, 10)), versions)
}
