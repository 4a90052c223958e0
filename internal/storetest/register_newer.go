package storetest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/reprocess"
)

func registerNewerCases() []testCase {
	return []testCase{
		{name: "V2_RegisteredVersionCanBeClaimed", check: registerNewer},
		{name: "V2_OnlyAboveTheCurrentOneAndUpToTheCeiling", check: registerNewerBounds},
		{name: "V2_ManyAtOnceRegisterOnce", check: registerNewerAtOnce},
		{name: "V2_ManyServersAtOnceRegisterOnce", needs: SecondStore, check: registerNewerByServers},
		{name: "V1_OrganismsHaveTheirOwnVersions", check: registerNewerOther},
		{name: "L1_SubmittedEntriesWaitInEveryVersion", check: registerNewerSubmit},
	}
}

// newer is the version that the cases register.
const newer seqlease.PipelineVersion = 2

// ahead is the ceiling of the cases.
const ahead = 1000

// registerVersion registers a version of West Nile virus.
func (f *fixture) registerVersion(t *testing.T, version seqlease.PipelineVersion) reprocess.Registration {
	t.Helper()
	r, err := f.RegisterVersion(t.Context(), WestNile, version, ahead)
	if err != nil {
		t.Fatalf("register version %d: %v", version, err)
	}
	return r
}

// askNewer is a claim with the newer version.
func askNewer(n int) queue.Claim {
	c := ask(n)
	c.PipelineVersion = newer
	return c
}

func (f *fixture) claimNewer(t *testing.T, n int) queue.Lease {
	t.Helper()
	return f.claimAs(t, askNewer(n))
}

// newerResults are results of a lease of the newer version.
func newerResults(lines ...queue.Line) queue.Submission {
	s := results(lines...)
	s.PipelineVersion = newer
	return s
}

func (f *fixture) mustAcceptNewer(t *testing.T, lines ...queue.Line) {
	t.Helper()
	if err := f.submitResults(t, newerResults(lines...)); err != nil {
		t.Fatalf("accept %d results of version %d: %v", len(lines), newer, err)
	}
}

func registerNewer(t *testing.T, h Harness) {
	f := newFixture(t, h)
	_, err := f.Claim(t.Context(), askNewer(1))
	wantError(t, err, seqlease.ErrPipelineUnknown)
	wantSame(t, "registration", f.registerVersion(t, newer), reprocess.Registration{Current: 1, Allowed: true, Made: true})
	wantSame(t, "registration again", f.registerVersion(t, newer), reprocess.Registration{Current: 1, Allowed: true})
	mark := f.claimNewer(t, 1).Mark
	if mark == "" {
		t.Error("a claim with the version has no mark")
	}
	versions := f.submit(t, 3)
	if f.claimNewer(t, 0).Mark == mark {
		t.Error("the mark of the version is the same after a submission")
	}
	lease := f.claimNewer(t, 10)
	wantSame(t, "claimed", claimed(lease), versions)
	f.mustAcceptNewer(t, f.lines(t, lease)...)
}

func registerNewerBounds(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for _, version := range []seqlease.PipelineVersion{math.MinInt64, -1, 0, 1, ahead + 2, math.MaxInt64} {
		wantSame(t, fmt.Sprintf("registration of %d", version), f.registerVersion(t, version), reprocess.Registration{Current: 1})
	}
	for _, version := range []seqlease.PipelineVersion{ahead + 2, math.MaxInt64} {
		c := ask(1)
		c.PipelineVersion = version
		_, err := f.Claim(t.Context(), c)
		wantError(t, err, seqlease.ErrPipelineUnknown)
	}
	wantSame(t, "registration of the highest", f.registerVersion(t, ahead+1), reprocess.Registration{Current: 1, Allowed: true, Made: true})
	_, err := f.RegisterVersion(t.Context(), "measles", newer, ahead)
	wantError(t, err, seqlease.ErrUnknownOrganism)
	f.wantUnfinished(t, reprocess.Version{Organism: WestNile, PipelineVersion: ahead + 1})
}

// wantRegisteredOnce registers by all of them at once and backfills.
func wantRegisteredOnce(t *testing.T, f *fixture, servers ...*fixture) {
	t.Helper()
	versions := f.process(t, seqlease.NoIssues, seqlease.NoIssues, seqlease.HasErrors)
	made := make([]bool, 12)
	var group errgroup.Group
	for i := range made {
		group.Go(func() error {
			r, err := servers[i%len(servers)].RegisterVersion(t.Context(), WestNile, newer, ahead)
			if made[i] = r.Made; err == nil && !r.Allowed {
				err = fmt.Errorf("%+v, want it allowed", r)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatalf("register at once: %v", err)
	}
	n := 0
	for _, m := range made {
		if m {
			n++
		}
	}
	wantSame(t, "how many made it", n, 1)
	f.backfill(t, newer, 100, len(versions))
	wantOnce(t, counted(f.claimNewer(t, 10)), versions)
}

func registerNewerAtOnce(t *testing.T, h Harness) {
	f := newFixture(t, h)
	wantRegisteredOnce(t, f, f)
}

func registerNewerByServers(t *testing.T, h Harness) {
	f := newFixture(t, h)
	wantRegisteredOnce(t, f, f, f.second(t), f.second(t))
}

func registerNewerOther(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 2)
	f.submitTo(t, CCHF, 3)
	f.registerVersion(t, newer)
	c := askNewer(5)
	c.Organism = CCHF
	_, err := f.Claim(t.Context(), c)
	wantError(t, err, seqlease.ErrPipelineUnknown)
	f.backfill(t, newer, 2, 2)
	wantSame(t, "claimed of "+string(WestNile), len(f.claimNewer(t, 9).Entries), 2)
	if _, err := f.RegisterVersion(t.Context(), CCHF, newer, ahead); err != nil {
		t.Fatal(err)
	}
	wantSame(t, "tickets of "+string(CCHF), f.backfillOf(t, CCHF, newer, 2), 3)
	wantSame(t, "claimed of "+string(CCHF), len(f.claimAs(t, c).Entries), 3)
}

func registerNewerSubmit(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.registerVersion(t, newer)
	f.registerVersion(t, newer+5)
	versions := slices.Concat(f.submit(t, 3), f.submit(t, 700))
	f.backfill(t, newer, 100, 0)
	f.backfill(t, newer+5, 100, 0)
	for _, version := range []seqlease.PipelineVersion{1, newer, newer + 5} {
		c := ask(1000)
		c.PipelineVersion = version
		wantSame(t, fmt.Sprintf("claimed with version %d", version), claimed(f.claimAs(t, c)), versions)
	}
}
