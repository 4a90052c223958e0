package storetest

import (
	"slices"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

func deleteFilterCases() []testCase {
	return []testCase{
		{name: "Delete_WithoutFilterTakesWhatScopeSays", check: deleteScopes},
		{name: "Delete_ScopeNarrowsNamedEntries", check: deleteScopeOfNamed},
		{name: "Delete_Groups", check: deleteGroups},
		{name: "Delete_StateErrorNamesEveryFault", check: deleteStateError},
		{name: "Delete_OrganismsApart", check: deleteOrganismsApart},
		{name: "L10_DeleteWithoutFilterLeavesLeasesOfOthersAlone", check: deleteL10LeavesLeases},
		{name: "L10_DeleteEndsLeasesOfOtherVersions", check: deleteL10NewerLeases},
		{name: "V9_DeleteTakesWhatIsProcessedAgain", check: deleteV9},
		{name: "L10_DeleteAllAgainstClaimsSplitsCleanly", check: deleteAllAgainstClaims},
		{name: "Delete_ScopeIsTestedAgainAgainstNewResults", check: deleteAgainstResults},
		{name: "B035_ManyDeletedWithoutNames", needs: Large, check: deleteMany},
	}
}

// wantDeleted makes the deletion and checks what it took.
func (f *fixture) wantDeleted(t *testing.T, what string, d submission.Deletion, want ...seqlease.AccessionVersion) {
	t.Helper()
	deleted, err := f.Delete(t.Context(), d)
	if err != nil {
		t.Fatalf("delete %s: %v", what, err)
	}
	slices.SortFunc(want, seqlease.AccessionVersion.Compare)
	wantSame(t, "deleted "+what, deleted, want)
}

func deleteScopes(t *testing.T, h Harness) {
	for _, c := range []struct {
		scope seqlease.DeletionScope
		want  []int // of everyState, and a pending revocation at the end
	}{
		{seqlease.DeleteAll, []int{0, 2, 3, 4, 6}},
		{seqlease.DeleteWithErrors, []int{4}},
		{seqlease.DeleteWithWarnings, []int{3}},
	} {
		f := newFixture(t, h)
		versions := f.everyState(t)
		f.mustRevoke(t, versions[5].Accession)
		versions = append(versions, next(versions[5:])...)
		d := deletion()
		d.Scope = c.scope
		var want []seqlease.AccessionVersion
		for _, i := range c.want {
			want = append(want, versions[i])
		}
		f.wantDeleted(t, string(c.scope), d, want...)
		f.wantDeleted(t, string(c.scope)+" again", d)
		listed, _ := f.list(t, submission.ListFilter{Organism: WestNile})
		wantSame(t, "left after "+string(c.scope), len(listed), len(versions)-len(want))
	}
}

func deleteScopeOfNamed(t *testing.T, h Harness) {
	f := newFixture(t, h)
	done := f.process(t, seqlease.NoIssues, seqlease.HasWarnings, seqlease.HasErrors)
	waiting := f.submit(t, 1)
	d := deletion(slices.Concat(done, waiting)...)
	d.Scope = seqlease.DeleteWithErrors
	f.wantDeleted(t, "named entries with errors", d, done[2])
	d = deletion(done[0], done[1], waiting[0])
	d.Scope = seqlease.DeleteWithWarnings
	f.wantDeleted(t, "named entries with warnings", d, done[1])
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 1, seqlease.Received: 1})
	wantSame(t, "claimed", claimed(f.claim(t, 10)), waiting)
}

func deleteGroups(t *testing.T, h Harness) {
	f := newFixture(t, h)
	groups, versions := f.twoGroups(t)
	d := deletion()
	d.GroupIDs = []int64{}
	f.wantDeleted(t, "of no group", d)
	d.GroupIDs = []int64{groups[1], 4711}
	f.wantDeleted(t, "of a group", d, versions[2:]...)
	d = deletion(versions[:2]...)
	d.GroupIDs = groups[1:]
	f.wantDeleted(t, "named entries, of another group", d)
	d.GroupIDs = nil
	f.wantDeleted(t, "named entries", d, versions[:2]...)
}

func deleteStateError(t *testing.T, h Harness) {
	f := newFixture(t, h)
	released := f.releasedEntries(t, 1)
	held := f.submit(t, 1)
	f.claim(t, 1)
	waiting, foreign := f.submit(t, 1), f.submitTo(t, CCHF, 1)
	missing := next(waiting)
	d := deletion(slices.Concat(waiting, missing, foreign, held, released)...)
	d.Scope, d.GroupIDs = seqlease.DeleteWithErrors, []int64{4711} // neither narrows the checks
	_, err := f.Delete(t.Context(), d)
	wantStateError(t, err, submission.StateError{
		Missing: missing, Foreign: map[seqlease.Organism][]seqlease.AccessionVersion{CCHF: foreign},
		WrongStatus:  map[seqlease.AccessionVersion]seqlease.Status{held[0]: seqlease.InProcessing, released[0]: seqlease.ApprovedForRelease},
		WantStatuses: []seqlease.Status{seqlease.Received, seqlease.Processed},
	})
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.ApprovedForRelease: 1, seqlease.InProcessing: 1, seqlease.Received: 1})
}

func deleteOrganismsApart(t *testing.T, h Harness) {
	f := newFixture(t, h)
	mine, foreign := f.submit(t, 2), f.submitTo(t, CCHF, 2)
	f.wantDeleted(t, "all", deletion(), mine...)
	wantSame(t, "claimed of "+string(CCHF), claimed(f.claimFrom(t, CCHF, 10)), foreign)
}

func deleteL10LeavesLeases(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 4)
	lease := f.claim(t, 2)
	f.registerVersion(t, newer)
	f.backfill(t, newer, 1000, 4)
	f.wantDeleted(t, "all", deletion(), versions[2:]...)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.InProcessing: 2})
	wantOnce(t, counted(f.claimNewer(t, 10)), versions[:2]) // what stays still waits for the newer version
	f.mustAccept(t, f.lines(t, lease)...)
	f.wantDeleted(t, "all, when processed", deletion(), versions[:2]...)
	f.wantStatuses(t, nil)
}

func deleteL10NewerLeases(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues, seqlease.NoIssues)
	f.registerVersion(t, newer)
	f.backfill(t, newer, 1000, 2)
	lease := f.claimNewer(t, 2)
	lines := f.lines(t, lease)
	f.wantDeleted(t, "one", deletion(versions[0]), versions[0])
	s := results(lines...)
	s.PipelineVersion = newer
	wantRefused(t, f.submitResults(t, s), refused(1, versions[0], seqlease.RefusedNotFound))
	f.mustAcceptNewer(t, lines[1])
}

func deleteV9(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.HasErrors, seqlease.HasErrors)
	f.reprocess(t, queue.Selection{Organism: WestNile}, 2)
	lease := f.claim(t, 1)
	d := deletion()
	d.Scope = seqlease.DeleteWithErrors
	f.wantDeleted(t, "with errors", d, versions...)
	wantRefused(t, f.accept(t, f.lines(t, lease)...), refused(1, lease.Entries[0].AccessionVersion, seqlease.RefusedNotFound))
	wantSame(t, "claimed", claimed(f.claim(t, 10)), nil)
}

// deleteAllAgainstClaims deletes everything while claims go on: each entry is either
// deleted or held, and what is held can be processed.
func deleteAllAgainstClaims(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for round := range 10 {
		versions := f.submit(t, 40)
		done := make(chan []queue.Lease, 1)
		go func() {
			var leases []queue.Lease
			for range 4 {
				lease, err := f.Claim(t.Context(), ask(5))
				if err != nil {
					t.Errorf("round %d: claim: %v", round, err)
				}
				leases = append(leases, lease)
			}
			done <- leases
		}()
		gone, err := f.Delete(t.Context(), deletion())
		if err != nil {
			t.Fatalf("round %d: delete: %v", round, err)
		}
		all := slices.Clone(gone)
		for _, lease := range <-done {
			if len(lease.Entries) > 0 {
				f.mustAccept(t, f.lines(t, lease)...)
				all = append(all, claimed(lease)...)
			}
		}
		slices.SortFunc(all, seqlease.AccessionVersion.Compare)
		wantSame(t, "deleted or held", all, versions)
		f.wantStatuses(t, statusesOf(seqlease.Processed, len(versions)-len(gone)))
		if _, err := f.Delete(t.Context(), deletion()); err != nil {
			t.Fatalf("round %d: delete what is left: %v", round, err)
		}
	}
}

// statusesOf is so many entries in a status, and none in any other.
func statusesOf(status seqlease.Status, n int) map[seqlease.Status]int64 {
	if n == 0 {
		return nil
	}
	return map[seqlease.Status]int64{status: int64(n)}
}

// deleteAgainstResults deletes what has errors while better results come: none of
// those that were accepted is lost.
func deleteAgainstResults(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for round := range 10 {
		versions := f.process(t, seqlease.HasErrors)
		f.reprocess(t, queue.Selection{Organism: WestNile, Entries: versions}, 1)
		lease := f.claim(t, 1)
		lines := f.lines(t, lease) // without errors
		accepted := make(chan error, 1)
		go func() {
			_, err := f.AcceptResults(t.Context(), results(lines...))
			accepted <- err
		}()
		d := deletion()
		d.Scope = seqlease.DeleteWithErrors
		if round%2 == 0 {
			d.Entries = versions
		}
		gone, err := f.Delete(t.Context(), d)
		if err != nil {
			t.Fatalf("round %d: delete: %v", round, err)
		}
		if err := <-accepted; (err == nil) == (len(gone) == 1) {
			t.Errorf("round %d: the result was answered %v and %v was deleted", round, err, gone)
		}
		f.wantStatuses(t, statusesOf(seqlease.Processed, 1-len(gone)))
		f.wantDeleted(t, "the rest", deletion(), slices.DeleteFunc(versions, func(av seqlease.AccessionVersion) bool { return slices.Contains(gone, av) })...)
	}
}

func deleteMany(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submitMany(t)
	held := f.claim(t, 3)
	f.wantDeleted(t, "all", deletion(), versions[3:]...)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.InProcessing: 3})
	wantSame(t, "claimed", claimed(f.claim(t, 10)), nil)
	f.mustAccept(t, f.lines(t, held)...)
}
