package storetest

import (
	"slices"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

func standingCases() []testCase {
	return []testCase{
		{name: "Standing_EveryStateOfEveryOrganism", check: standingStates},
		{name: "Standing_LeaseEndAndReprocessing", check: standingLeases},
		{name: "Standing_NewestIsTheHighestVersion", check: standingNewest},
	}
}

func (f *fixture) standings(t *testing.T, entries ...seqlease.AccessionVersion) []submission.Standing {
	t.Helper()
	found, err := f.Standings(t.Context(), entries)
	if err != nil {
		t.Fatalf("standings: %v", err)
	}
	return found
}

func standingStates(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.everyState(t)
	other := f.newGroup(t, "Public Health Agency", "bert")
	u := f.upload(0)
	u.Organism, u.GroupID, u.Entries = CCHF, other.GroupID, f.entries(CCHF, 1)
	foreign := f.submitUpload(t, u)
	missing := []seqlease.AccessionVersion{{Accession: versions[0].Accession, Version: 2}, {Accession: "NONE", Version: 1}}
	want := []submission.Standing{{AccessionVersion: foreign[0], Organism: CCHF, GroupID: other.GroupID, Status: seqlease.Received, Result: seqlease.NoIssues}}
	for i, av := range versions {
		want = append(want, submission.Standing{
			AccessionVersion: av, Organism: WestNile, GroupID: f.group.GroupID, Status: states[i].status, Result: states[i].result,
		})
	}
	slices.SortFunc(want, func(a, b submission.Standing) int { return a.Compare(b.AccessionVersion) })
	wantSame(t, "standings", f.standings(t, slices.Concat(missing, foreign, versions)...), want)
	wantSame(t, "standings of nothing", f.standings(t), nil)
}

func standingLeases(t *testing.T, h Harness) {
	f := newFixture(t, h)
	done, held := f.process(t, seqlease.HasWarnings), f.submit(t, 1)
	f.reprocess(t, queue.Selection{Organism: WestNile, Entries: done}, 1)
	f.claim(t, 2)
	want := []submission.Standing{
		{AccessionVersion: done[0], Organism: WestNile, GroupID: f.group.GroupID, Status: seqlease.Processed, Result: seqlease.HasWarnings},
		{AccessionVersion: held[0], Organism: WestNile, GroupID: f.group.GroupID, Status: seqlease.InProcessing},
	}
	wantSame(t, "standings while both are held", f.standings(t, done[0], held[0]), want)
	f.age(t, leaseTime)
	want[1].Status, want[1].Result = seqlease.Received, seqlease.NoIssues
	wantSame(t, "standings after the lease end", f.standings(t, done[0], held[0]), want)
}

func standingNewest(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues, seqlease.NoIssues, seqlease.NoIssues)
	f.approveAll(t)
	f.mustRevoke(t, versions[1].Accession)
	revised := f.mustRevise(t, f.revision(versions[2]))
	foreign := f.submitTo(t, CCHF, 1)
	asked := []seqlease.Accession{"NONE", foreign[0].Accession, versions[2].Accession, versions[1].Accession, versions[0].Accession}
	of := func(av seqlease.AccessionVersion, status seqlease.Status) submission.Standing {
		return submission.Standing{AccessionVersion: av, Organism: WestNile, GroupID: f.group.GroupID, Status: status, Result: seqlease.NoIssues}
	}
	want := []submission.Standing{
		of(versions[0], seqlease.ApprovedForRelease),
		of(seqlease.AccessionVersion{Accession: versions[1].Accession, Version: 2}, seqlease.Processed),
		of(revised[0], seqlease.Received),
		of(foreign[0], seqlease.Received),
	}
	want[1].IsRevocation, want[3].Organism = true, CCHF
	wantNewest := func(what string) {
		t.Helper()
		found, err := f.NewestStandings(t.Context(), asked)
		if err != nil {
			t.Fatalf("newest standings: %v", err)
		}
		wantSame(t, what, found, want)
	}
	wantNewest("newest standings")
	f.claim(t, 1)
	want[2].Status, want[2].Result = seqlease.InProcessing, ""
	wantNewest("newest standings while one is held")
}
