package storetest

import (
	"errors"
	"slices"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

func revokeCases() []testCase {
	return []testCase{
		{name: "Revoke_AddsTheNextVersion", check: revokeNextVersion},
		{name: "Revoke_IsNeverHandedOut", check: revokeNeverClaimed},
		{name: "Revoke_OnlyApprovalChangesWhatIsReleased", check: revokeReleasedByApproval},
		{name: "Revoke_OnlyReleasedAllOrNothing", check: revokeOnlyReleased},
		{name: "Revoke_DeletedRevocationLeavesTheRest", check: revokeDeleted},
		{name: "Revoke_CanNotBeEdited", check: revokeNotEdited},
		{name: "Revoke_AtOnceExactlyOneWins", check: revokeAtOnce},
		{name: "Revoke_AtOnceOnTwoServersExactlyOneWins", needs: SecondStore, check: revokeAtOnceElsewhere},
		{name: "Revoke_OverlappingListsAtOnceAreWholeOrNothing", check: revokeOverlapping},
		{name: "B035_ManyRevokedAtOnce", needs: Large, check: revokeMany},
	}
}

// why is the document of the fixtures' revocations.
var why = []byte(`{"metadata":{"versionComment":"mixed up"},"unalignedNucleotideSequences":{},"files":null}`)

func revocation(accessions ...seqlease.Accession) submission.Revocation {
	return submission.Revocation{Organism: WestNile, User: "bert", Accessions: accessions, Data: why}
}

func (f *fixture) mustRevoke(t *testing.T, accessions ...seqlease.Accession) []seqlease.SubmissionIDMapping {
	t.Helper()
	made, err := f.Revoke(t.Context(), revocation(accessions...))
	if err != nil {
		t.Fatalf("revoke %v: %v", accessions, err)
	}
	return made
}

// releasedEntries submits, processes and releases so many entries.
func (f *fixture) releasedEntries(t *testing.T, n int) []seqlease.AccessionVersion {
	t.Helper()
	versions := f.process(t, slices.Repeat([]seqlease.ProcessingResult{seqlease.NoIssues}, n)...)
	f.wantApproved(t, "all", approval(versions...), versions...)
	return versions
}

func accessionsOf(versions []seqlease.AccessionVersion) []seqlease.Accession {
	list := make([]seqlease.Accession, len(versions))
	for i, av := range versions {
		list[i] = av.Accession
	}
	return list
}

// next is the version after each entry.
func next(versions []seqlease.AccessionVersion) []seqlease.AccessionVersion {
	list := slices.Clone(versions)
	for i := range list {
		list[i].Version++
	}
	return list
}

func revokeNextVersion(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.releasedEntries(t, 3)
	made := f.mustRevoke(t, versions[2].Accession, versions[0].Accession)
	revocations := next([]seqlease.AccessionVersion{versions[0], versions[2]})
	wantSame(t, "revocations", made, []seqlease.SubmissionIDMapping{
		{AccessionVersion: revocations[0], SubmissionID: sampleID(0)}, {AccessionVersion: revocations[1], SubmissionID: sampleID(2)},
	})
	listed, counts := f.list(t, submission.ListFilter{Organism: WestNile, Statuses: []seqlease.Status{seqlease.Processed}})
	wantSame(t, "status counts", present(counts.Statuses), map[seqlease.Status]int64{seqlease.ApprovedForRelease: 3, seqlease.Processed: 2})
	open := seqlease.DataUseTerms{Type: seqlease.TermsOpen}
	for i, number := range []int{0, 2} {
		wantSame(t, "listed", listed[i], submission.ListedEntry{
			AccessionVersion: revocations[i], Status: seqlease.Processed, Result: seqlease.NoIssues, GroupID: f.group.GroupID,
			Submitter: "bert", IsRevocation: true, SubmissionID: sampleID(number), Terms: open,
		})
	}
	f.approveAll(t)
	wantSame(t, "the next revocation", f.mustRevoke(t, versions[0].Accession)[0].AccessionVersion,
		seqlease.AccessionVersion{Accession: versions[0].Accession, Version: 3})
}

func revokeNeverClaimed(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.releasedEntries(t, 2)
	mark := f.mark(t)
	f.mustRevoke(t, accessionsOf(versions)...)
	wantSame(t, "claimed", claimed(f.claim(t, 10)), nil)
	wantSame(t, "mark of the queue", f.mark(t), mark)
	f.reconcile(t, 1000, 0)
	f.registerVersion(t, newer)
	f.backfill(t, newer, 1000, 2)
	wantOnce(t, counted(f.claimNewer(t, 10)), versions)
	f.approveAll(t)
	f.reconcile(t, 1000, 0)
	wantSame(t, "claimed when they are released", claimed(f.claim(t, 10)), nil)
}

func revokeReleasedByApproval(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.releasedEntries(t, 2)
	mark := f.releasedMark(t)
	_, before := f.released(t)
	f.mustRevoke(t, versions[0].Accession)
	wantSame(t, "mark of what is released", f.releasedMark(t), mark)
	_, pending := f.released(t)
	wantSame(t, "released while the revocation waits", pending, before)

	revocations := next(versions[:1])
	a := approval()
	a.Scope = seqlease.ApproveWithoutWarnings
	f.wantApproved(t, "without warnings", a, revocations...)
	if after := f.releasedMark(t); after <= mark {
		t.Errorf("the mark of what is released is %s after the approval, and was %s", after, mark)
	}
	_, released := f.released(t)
	wantSame(t, "released entries", len(released), 3)
	r := released[1]
	wantSame(t, "released revocation", r.AccessionVersion, revocations[0])
	wantSame(t, "released as", []string{r.Submitter, r.SubmissionID, string(r.Submitted), string(r.Result)}, []string{"bert", sampleID(0), string(why), ""})
	if !r.IsRevocation {
		t.Error("the released revocation isn't one")
	}
}

func revokeOnlyReleased(t *testing.T, h Harness) {
	f := newFixture(t, h)
	good := f.releasedEntries(t, 3)
	f.mustRevoke(t, good[2].Accession)
	done := f.process(t, seqlease.NoIssues)
	held := f.submit(t, 1)
	f.claim(t, 1)
	waiting, foreign := f.submit(t, 1), f.submitTo(t, CCHF, 1)
	ofCCHF := f.claimFrom(t, CCHF, 1)
	wantSame(t, "claimed of "+string(CCHF), claimed(ofCCHF), foreign)
	pending := next(good[2:])[0]
	statuses := func(wrong map[seqlease.AccessionVersion]seqlease.Status) submission.StateError {
		return submission.StateError{WrongStatus: wrong, WantStatuses: []seqlease.Status{seqlease.ApprovedForRelease}}
	}
	for _, c := range []struct {
		name string
		bad  []seqlease.Accession
		want submission.StateError
	}{
		{"unknown", []seqlease.Accession{"NONE"}, submission.StateError{Unknown: []seqlease.Accession{"NONE"}}},
		{"processed", accessionsOf(done), statuses(map[seqlease.AccessionVersion]seqlease.Status{done[0]: seqlease.Processed})},
		{"in processing", accessionsOf(held), statuses(map[seqlease.AccessionVersion]seqlease.Status{held[0]: seqlease.InProcessing})},
		{"received", accessionsOf(waiting), statuses(map[seqlease.AccessionVersion]seqlease.Status{waiting[0]: seqlease.Received})},
		{"revoked already", accessionsOf(good[2:]), statuses(map[seqlease.AccessionVersion]seqlease.Status{pending: seqlease.Processed})},
		{"foreign and not released", accessionsOf(foreign), statuses(map[seqlease.AccessionVersion]seqlease.Status{foreign[0]: seqlease.InProcessing})},
	} {
		_, err := f.Revoke(t.Context(), revocation(slices.Concat(accessionsOf(good[:2]), c.bad)...))
		t.Log(c.name)
		wantStateError(t, err, c.want)
	}
	r := revocation(good[0].Accession)
	r.Organism = CCHF
	_, err := f.Revoke(t.Context(), r)
	wantStateError(t, err, submission.StateError{Foreign: map[seqlease.Organism][]seqlease.AccessionVersion{WestNile: good[:1]}})
	f.wantStatuses(t, map[seqlease.Status]int64{
		seqlease.ApprovedForRelease: 3, seqlease.Processed: 2, seqlease.InProcessing: 1, seqlease.Received: 1,
	})
}

func revokeDeleted(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.releasedEntries(t, 1)
	head, before := f.released(t)
	f.mustRevoke(t, versions[0].Accession)
	f.mustDelete(t, next(versions)...)
	after, released := f.released(t)
	wantSame(t, "mark of what is released", after.Mark, head.Mark)
	wantSame(t, "released", released, before)
	wantSame(t, "revoked again", f.mustRevoke(t, versions[0].Accession)[0].AccessionVersion, next(versions)[0])
}

func revokeNotEdited(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.releasedEntries(t, 1)
	f.mustRevoke(t, versions[0].Accession)
	wantStateError(t, f.edit(t, next(versions)[0], submitted(1)), submission.StateError{Revocations: next(versions)})
	wantSame(t, "claimed", claimed(f.claim(t, 10)), nil)
}

func revokeAtOnce(t *testing.T, h Harness) {
	f := newFixture(t, h)
	revokeRace(t, f, f, f)
}

func revokeAtOnceElsewhere(t *testing.T, h Harness) {
	f := newFixture(t, h)
	revokeRace(t, f, f, f.second(t))
}

// revokeRace has two servers revoke the same accessions at once.
func revokeRace(t *testing.T, f *fixture, servers ...*fixture) {
	t.Helper()
	for round := range 10 {
		versions := f.releasedEntries(t, 2)
		answers := make(chan error, len(servers))
		for _, server := range servers {
			go func() {
				_, err := server.Revoke(t.Context(), revocation(accessionsOf(versions)...))
				answers <- err
			}()
		}
		won := 0
		for range servers {
			switch err := <-answers; {
			case err == nil:
				won++
			case !errors.Is(err, seqlease.ErrState):
				t.Errorf("round %d: the other one was answered %v", round, err)
			}
		}
		wantSame(t, "revocations that succeeded", won, 1)
		wantSame(t, "revocations", f.approveAll(t), next(versions))
	}
}

func revokeOverlapping(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for range 10 {
		versions := f.releasedEntries(t, 3)
		accessions := accessionsOf(versions)
		answers := make(chan error, 1)
		go func() {
			_, err := f.Revoke(t.Context(), revocation(accessions[:2]...))
			answers <- err
		}()
		_, err := f.Revoke(t.Context(), revocation(accessions[1:]...))
		other := <-answers
		if (err == nil) == (other == nil) {
			t.Errorf("the revocations were answered %v and %v, want exactly one to succeed", err, other)
		}
		want := next(versions[:2])
		if err == nil {
			want = next(versions[1:])
		}
		wantSame(t, "revocations", f.approveAll(t), want)
	}
}

func revokeMany(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submitMany(t)
	lease := f.claim(t, many)
	model := f.line(t, 0, seqlease.AccessionVersion{}, lease.AttemptID, "the same for all", seqlease.NoIssues)
	lines := slices.Repeat([]queue.Line{model}, many)
	for i, av := range versions {
		lines[i].AccessionVersion, lines[i].Number = av, i+1
	}
	f.mustAccept(t, lines...)
	f.approveAll(t)
	made := f.mustRevoke(t, accessionsOf(versions)...)
	wantSame(t, "revocations", len(made), many)
	f.wantApproved(t, "all", approval(), next(versions)...)
}
