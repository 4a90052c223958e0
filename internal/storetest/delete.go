package storetest

import (
	"context"
	"slices"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

func deleteCases() []testCase {
	return []testCase{
		{name: "L10_DeletedEntryIsGoneEverywhere", check: deleteL10Gone},
		{name: "L10_ResultOfADeletedEntryIsNotFound", check: deleteL10ResultNotFound},
		{name: "L10_DeletedEntryOfAnEndedLeaseIsNotClaimed", check: deleteL10EndedLease},
		{name: "L10_DeleteIsAllOrNothing", check: deleteL10AllOrNothing},
		{name: "L10_DeleteAgainstClaimLeavesNoHalfState", check: deleteL10AgainstClaim},
		{name: "Delete_AccessionsAreNeverUsedAgain", check: deleteAccessionsNotReused},
	}
}

// deletion takes all entries of West Nile virus that may be deleted, or the named ones.
func deletion(named ...seqlease.AccessionVersion) submission.Deletion {
	return submission.Deletion{Organism: WestNile, User: "bert", Scope: seqlease.DeleteAll, Entries: named}
}

// remove deletes the entries.
func (f *fixture) remove(ctx context.Context, versions []seqlease.AccessionVersion) error {
	_, err := f.Delete(ctx, deletion(versions...))
	return err
}

func (f *fixture) mustDelete(t *testing.T, versions ...seqlease.AccessionVersion) {
	t.Helper()
	if err := f.remove(t.Context(), versions); err != nil {
		t.Fatalf("delete %v: %v", versions, err)
	}
}

func deleteL10Gone(t *testing.T, h Harness) {
	f := newFixture(t, h)
	done := f.process(t, seqlease.NoIssues, seqlease.HasErrors)
	waiting := f.submit(t, 3)
	f.mustDelete(t, done[1], waiting[0], waiting[2])
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 1, seqlease.Received: 1})
	wantSame(t, "claimed by a claim of one", claimed(f.claim(t, 1)), waiting[1:2])
	wantSame(t, "claimed by a claim of all", claimed(f.claim(t, 10)), nil)
	groups, err := f.GroupsOfEntries(t.Context(), slices.Concat(done, waiting))
	if err != nil {
		t.Fatalf("groups of entries: %v", err)
	}
	wantSame(t, "groups of what is left", groups, map[seqlease.AccessionVersion]int64{
		done[0]: f.group.GroupID, waiting[1]: f.group.GroupID,
	})
	wantSame(t, "approved", f.approveAll(t), done[:1])
}

func deleteL10ResultNotFound(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 2)
	lines := f.lines(t, f.claim(t, 2))
	f.mustAccept(t, lines...)
	f.mustDelete(t, versions[0])
	wantRefused(t, f.accept(t, lines...), refused(1, versions[0], seqlease.RefusedNotFound))
	f.mustAccept(t, lines[1])
}

func deleteL10EndedLease(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 3)
	late := f.claim(t, 3)
	lines := f.lines(t, late)
	f.age(t, leaseTime)
	f.mustDelete(t, versions[1])
	wantRefused(t, f.accept(t, lines...),
		refused(1, versions[0], seqlease.RefusedLeaseLost),
		refused(2, versions[1], seqlease.RefusedNotFound),
		refused(3, versions[2], seqlease.RefusedLeaseLost))
	lease := f.claim(t, suspects(2))
	wantSame(t, "claimed after the lease end", claimed(lease), []seqlease.AccessionVersion{versions[0], versions[2]})

	f.age(t, leaseTime)
	f.mustDelete(t, versions[0], versions[2])
	f.giveBack(t, lease.AttemptID, false, 0)
	wantSame(t, "claimed after all was deleted", claimed(f.claim(t, suspects(3))), nil)
	f.wantStatuses(t, nil)
}

func deleteL10AllOrNothing(t *testing.T, h Harness) {
	f := newFixture(t, h)
	released := f.process(t, seqlease.NoIssues)
	f.approveAll(t)
	held := f.submit(t, 1)
	lease := f.claim(t, 1)
	fine := f.submit(t, 2)
	foreign := f.submitTo(t, CCHF, 1)
	missing := seqlease.AccessionVersion{Accession: seqlease.NewAccession(prefix, 999_999), Version: 1}
	for name, av := range map[string]seqlease.AccessionVersion{
		"released": released[0], "in processing": held[0], "of another organism": foreign[0], "missing": missing,
	} {
		if err := f.remove(t.Context(), []seqlease.AccessionVersion{fine[0], av, fine[1]}); err == nil {
			t.Errorf("an entry that is %s was deleted", name)
		} else {
			wantError(t, err, seqlease.ErrState)
		}
	}
	f.wantStatuses(t, map[seqlease.Status]int64{
		seqlease.ApprovedForRelease: 1, seqlease.InProcessing: 1, seqlease.Received: 2,
	})
	f.mustAccept(t, f.lines(t, lease)...)
	wantSame(t, "claimed", claimed(f.claim(t, 10)), fine)
}

func deleteL10AgainstClaim(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for round := range 10 {
		versions := f.submit(t, 1)
		deleted := make(chan error, 1)
		go func() { deleted <- f.remove(t.Context(), versions) }()
		lease := f.claim(t, 1)
		err := <-deleted
		switch held := len(lease.Entries) == 1; {
		case held && err != nil: // claimed first
			wantError(t, err, seqlease.ErrState)
			f.mustAccept(t, f.lines(t, lease)...)
			f.mustDelete(t, versions...)
		case held: // claimed while the deletion ran, which ends the lease
			wantRefused(t, f.accept(t, f.lines(t, lease)...), refused(1, versions[0], seqlease.RefusedNotFound))
		case err != nil:
			t.Errorf("round %d: nothing was claimed, but the deletion answered %v", round, err)
		}
		wantSame(t, "claimed after the deletion", claimed(f.claim(t, 1)), nil)
	}
	f.wantStatuses(t, nil)
}

func deleteAccessionsNotReused(t *testing.T, h Harness) {
	f := newFixture(t, h)
	first := f.submit(t, 3)
	f.mustDelete(t, first...)
	second := f.submit(t, 3)
	if second[0].Compare(first[2]) <= 0 {
		t.Errorf("after %s was deleted, the next entry is %s", first[2], second[0])
	}
	listed, _ := f.list(t, submission.ListFilter{Organism: WestNile})
	wantSame(t, "listed entries", len(listed), 3)
}
