package storetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

func reviseCases() []testCase {
	return []testCase{
		{name: "L1_EachRevisionIsClaimableAtOnce", check: reviseL1ClaimableAtOnce},
		{name: "L1_RevisionThatFailsMidwayLeavesNothing", check: reviseL1FailsMidway},
		{name: "L1_CancelledRevisionLeavesNothing", check: reviseL1Cancelled},
		{name: "L1_RevisionWithTooFewEntriesLeavesNothing", check: reviseL1TooFew},
		{name: "L10_TwoRevisionsAtOnceExactlyOneWins", check: reviseL10AtOnce},
		{name: "L10_RevisionsByTwoServersAtOnceExactlyOneWins", needs: SecondStore, check: reviseL10AtOnceElsewhere},
		{name: "L10_ARevisionUnderWayKeepsAnotherWaiting", check: reviseL10Waits},
		{name: "L10_ARevisionUnderWayKeepsARevocationWaiting", check: reviseL10RevocationWaits},
		{name: "L13_SlowRevisionHoldsUpNobodyElse", check: reviseL13Slow},
		{name: "L17_EachGroupOfARevisionHasItsTurns", check: reviseL17Groups},
		{name: "L17_EachGroupOfALargeRevisionHasItsTurns", check: reviseL17LargeGroups},
		{name: "Revise_AnswersInTheOrderOfTheEntries", check: reviseKeepsOrder},
		{name: "Revise_KeepsGroupAndTermsAndTakesTheRestFromTheUpload", check: reviseKeeps},
		{name: "Revise_TheVersionBeforeStaysReleased", check: reviseReleased},
		{name: "Revise_ARevokedEntryMayBeRevised", check: reviseRevoked},
		{name: "Revise_StateErrorNamesEveryFaultOfTheFirstKind", check: reviseStateError},
		{name: "Revise_UnknownOrganismIsRefused", check: reviseUnknownOrganism},
	}
}

// revisedID is the submission id of the i-th entry of a fixture's revision.
func revisedID(i int) string { return fmt.Sprintf("again-%d", i) }

// revised yields n entries whose data aren't those of the samples.
func (f *fixture) revised(n int) iter.Seq2[submission.PackedEntry, error] {
	return func(yield func(submission.PackedEntry, error) bool) {
		for i := range n {
			if !yield(submission.PackedEntry{SubmissionID: revisedID(i), Data: f.pack(WestNile, submitted(1000+i))}, nil) {
				return
			}
		}
	}
}

// revision is an upload of the next versions of the entries.
func (f *fixture) revision(entries ...seqlease.AccessionVersion) submission.Revision {
	r := submission.Revision{Organism: WestNile, Submitter: "carla", Entries: f.revised(len(entries))}
	for _, av := range entries {
		r.Accessions = append(r.Accessions, av.Accession)
	}
	return r
}

// mustRevise stores the revision and returns its entries in order.
func (f *fixture) mustRevise(t *testing.T, r submission.Revision) []seqlease.AccessionVersion {
	t.Helper()
	made, err := f.Revise(t.Context(), r)
	if err != nil {
		t.Fatalf("revise %d entries: %v", len(r.Accessions), err)
	}
	return versionsOf(made)
}

func versionsOf(made []seqlease.SubmissionIDMapping) []seqlease.AccessionVersion {
	versions := make([]seqlease.AccessionVersion, len(made))
	for i, m := range made {
		versions[i] = m.AccessionVersion
	}
	return versions
}

// wantStateError checks all that a refusal says.
func wantRefusedState(t *testing.T, err error, want submission.StateError) {
	t.Helper()
	var got *submission.StateError
	if !errors.As(err, &got) || !errors.Is(err, seqlease.ErrState) {
		t.Fatalf("got %v (%T), want a state error", err, err)
	}
	if diff := cmp.Diff(want, *got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("state error (-want +got):\n%s", diff)
	}
}

// received is what a revision of entries is told that others have just revised.
func received(entries ...seqlease.AccessionVersion) submission.StateError {
	e := submission.StateError{
		WrongStatus: map[seqlease.AccessionVersion]seqlease.Status{}, WantStatuses: []seqlease.Status{seqlease.ApprovedForRelease},
	}
	for _, av := range entries {
		e.WrongStatus[av] = seqlease.Received
	}
	return e
}

func reviseL1ClaimableAtOnce(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.releasedEntries(t, 25)
	mark := f.mark(t)
	made := f.mustRevise(t, f.revision(versions...))
	wantSame(t, "revised", made, next(versions))
	lease := f.claim(t, 100)
	wantSame(t, "claimed", claimed(lease), made)
	wantSame(t, "attempts", attempts(lease), slices.Repeat([]int{1}, 25))
	for i, e := range lease.Entries {
		wantSame(t, "data", f.data(t, e), string(submitted(1000+i)))
	}
	if f.mark(t) == mark {
		t.Error("the mark is that of before the revision")
	}
}

// breaksAfter yields the entries of a revision, and an error after the n-th.
func (f *fixture) breaksAfter(n int, broken error) iter.Seq2[submission.PackedEntry, error] {
	return func(yield func(submission.PackedEntry, error) bool) {
		for e, err := range f.revised(n) {
			if !yield(e, err) {
				return
			}
		}
		yield(submission.PackedEntry{}, broken)
	}
}

// wantNotRevised checks that nothing but the released entries is there, and that
// they can be revised.
func (f *fixture) wantNotRevised(t *testing.T, versions []seqlease.AccessionVersion, mark string) {
	t.Helper()
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.ApprovedForRelease: int64(len(versions))})
	lease := f.claim(t, 10)
	wantSame(t, "claimed", claimed(lease), nil)
	wantSame(t, "mark", lease.Mark, mark)
	wantSame(t, "revised afterwards", f.mustRevise(t, f.revision(versions...)), next(versions))
	wantSame(t, "entries claimed after a good revision", len(f.claim(t, 2*len(versions)).Entries), len(versions))
}

func reviseL1FailsMidway(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.releasedEntries(t, 800)
	mark := f.mark(t)
	broken := errors.New("the upload is cut off")
	r := f.revision(versions...)
	r.Entries = f.breaksAfter(700, broken) // more than a chunk of any store
	_, err := f.Revise(t.Context(), r)
	wantError(t, err, broken)
	f.wantNotRevised(t, versions, mark)
}

func reviseL1Cancelled(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.releasedEntries(t, 800)
	mark := f.mark(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := f.revision(versions...)
	all := r.Entries
	r.Entries = func(yield func(submission.PackedEntry, error) bool) {
		n := 0
		for e, err := range all {
			if n++; n == 600 {
				cancel()
			}
			if !yield(e, err) {
				return
			}
		}
	}
	if _, err := f.Revise(ctx, r); err == nil {
		t.Error("a cancelled revision was stored")
	}
	f.wantNotRevised(t, versions, mark)
}

func reviseL1TooFew(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.releasedEntries(t, 3)
	mark := f.mark(t)
	for _, n := range []int{2, 4} {
		r := f.revision(versions...)
		r.Entries = f.revised(n)
		if _, err := f.Revise(t.Context(), r); err == nil {
			t.Errorf("a revision of 3 accessions with %d entries was stored", n)
		}
	}
	f.wantNotRevised(t, versions, mark)
}

func reviseL13Slow(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.releasedEntries(t, 1300)
	others := f.releasedEntries(t, 2)
	r, reached, resume := f.stopped(1200, versions...)
	stored := make(chan error, 1)
	rescue := time.AfterFunc(time.Minute, resume) // an error instead of a test that hangs
	go func() { _, err := f.Revise(t.Context(), r); stored <- err }()
	<-reached
	fresh := f.everyState(t)
	f.mustEdit(t, fresh[3], submitted(1))
	f.mustDelete(t, fresh[0])
	wantSame(t, "other entries revised", f.mustRevise(t, f.revision(others...)), next(others))
	wantSame(t, "claimed while the revision is under way", claimed(f.claim(t, 2000)), slices.Concat(fresh[3:4], next(others)))
	if !rescue.Stop() {
		t.Error("others waited until the revision went on")
	}
	resume()
	if err := <-stored; err != nil {
		t.Fatalf("revise: %v", err)
	}
	wantSame(t, "entries claimed after the revision", len(f.claim(t, 2000).Entries), len(versions))
}

func reviseL17Groups(t *testing.T, h Harness) { reviseGroups(t, h, 10) }

func reviseL17LargeGroups(t *testing.T, h Harness) { reviseGroups(t, h, 700) }

// reviseGroups revises entries of three groups, which alternate in the upload, after a
// large upload of one of them: those of the others are claimed with its first ones.
func reviseGroups(t *testing.T, h Harness, each int) {
	t.Helper()
	f := newFixture(t, h)
	groups := []seqlease.Group{f.group, f.newGroup(t, "Second", submitter), f.newGroup(t, "Third", submitter)}
	byGroup := make([][]seqlease.AccessionVersion, len(groups))
	for i, g := range groups {
		byGroup[i] = f.submitAs(t, g, each)
	}
	for {
		lease := f.claim(t, 1000)
		if len(lease.Entries) == 0 {
			break
		}
		f.mustAccept(t, f.lines(t, lease)...)
	}
	wantSame(t, "approved", len(f.approveAll(t)), len(groups)*each)
	waiting := f.submitAs(t, groups[0], 3*each)
	var mixed []seqlease.AccessionVersion
	for i := range each {
		for _, list := range byGroup {
			mixed = append(mixed, list[i])
		}
	}
	wantSame(t, "revised", f.mustRevise(t, f.revision(mixed...)), next(mixed))

	first := claimed(f.claim(t, 3*each)) // an equal share for each group
	for i, list := range byGroup {
		share := 0
		for _, av := range next(list) {
			if slices.Contains(first, av) {
				share++
			}
		}
		want := each
		if i == 0 {
			want = 0 // behind the upload of its group
		}
		if share < want-1 || share > want+1 {
			t.Errorf("%d of %d revisions of group %d are in the first claim, want %d", share, each, i+1, want)
		}
	}
	seen := len(first)
	for {
		lease := f.claim(t, 1000)
		if len(lease.Entries) == 0 {
			break
		}
		seen += len(lease.Entries)
	}
	wantSame(t, "entries claimed in all", seen, len(waiting)+len(mixed))
}

func reviseKeepsOrder(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.releasedEntries(t, 1200)
	mixed := slices.Clone(versions)
	for i := range mixed { // 7 and 1200 have no common divisor
		mixed[i] = versions[i*7%len(versions)]
	}
	made, err := f.Revise(t.Context(), f.revision(mixed...))
	if err != nil {
		t.Fatalf("revise: %v", err)
	}
	wantSame(t, "mappings", len(made), len(mixed))
	for i, m := range made {
		if want := next(mixed[i : i+1])[0]; m.AccessionVersion != want || m.SubmissionID != revisedID(i) {
			t.Fatalf("mapping %d is %+v, want %s with %s", i, m, want, revisedID(i))
		}
	}
}

func reviseKeeps(t *testing.T, h Harness) {
	f := newFixture(t, h)
	terms := seqlease.DataUseTerms{Type: seqlease.TermsRestricted, RestrictedUntil: time.Date(2031, 5, 6, 0, 0, 0, 0, time.UTC)}
	u := f.upload(1)
	u.Terms, u.GroupID = terms, f.newGroup(t, "Second", submitter).GroupID
	versions := f.submitUpload(t, u)
	f.mustAccept(t, f.lines(t, f.claim(t, 1))...)
	f.approveAll(t)
	made := f.mustRevise(t, f.revision(versions...))
	listed, _ := f.list(t, submission.ListFilter{Organism: WestNile})
	want := []submission.ListedEntry{
		{
			AccessionVersion: versions[0], Status: seqlease.ApprovedForRelease, Result: seqlease.NoIssues,
			GroupID: u.GroupID, Submitter: submitter, SubmissionID: sampleID(0), Terms: terms,
		},
		{
			AccessionVersion: made[0], Status: seqlease.Received, Result: seqlease.NoIssues,
			GroupID: u.GroupID, Submitter: "carla", SubmissionID: revisedID(0), Terms: terms,
		},
	}
	if diff := cmp.Diff(want, listed); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
	lease := f.claim(t, 1)
	wantSame(t, "group and submitter of what is claimed", fmt.Sprint(lease.Entries[0].GroupID, lease.Entries[0].Submitter, lease.Entries[0].SubmissionID),
		fmt.Sprint(u.GroupID, "carla", revisedID(0)))
}

func reviseReleased(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.releasedEntries(t, 1)
	mark := func() string { head, _ := f.released(t); return head.Mark }
	before := mark()
	second := f.mustRevise(t, f.revision(versions...))
	wantSame(t, "mark of what is released", mark(), before)
	f.mustAccept(t, f.lines(t, f.claim(t, 1))...)
	f.wantApproved(t, "the revision", approval(second...), second...)
	third := f.mustRevise(t, f.revision(second...))
	wantSame(t, "the third version", third, []seqlease.AccessionVersion{{Accession: versions[0].Accession, Version: 3}})
	_, released := f.released(t)
	var got []seqlease.AccessionVersion
	for _, e := range released {
		got = append(got, e.AccessionVersion)
	}
	wantSame(t, "released", got, slices.Concat(versions, second))
}

func reviseRevoked(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.releasedEntries(t, 1)
	revoked, err := f.Revoke(t.Context(), revocation(versions[0].Accession))
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Revise(t.Context(), f.revision(versions...))
	want := received(revoked[0].AccessionVersion)
	want.WrongStatus[revoked[0].AccessionVersion] = seqlease.Processed
	wantRefusedState(t, err, want)
	f.wantApproved(t, "the revocation", approval(revoked[0].AccessionVersion), revoked[0].AccessionVersion)
	made := f.mustRevise(t, f.revision(versions...))
	wantSame(t, "revised", made, []seqlease.AccessionVersion{{Accession: versions[0].Accession, Version: 3}})
	wantSame(t, "claimed", claimed(f.claim(t, 10)), made)
}

func reviseStateError(t *testing.T, h Harness) {
	f := newFixture(t, h)
	good := f.releasedEntries(t, 2)
	foreign := f.submitTo(t, CCHF, 2)
	line := f.lines(t, f.claimFrom(t, CCHF, 1))[0]
	s := results(line)
	s.Organism = CCHF
	if err := f.submitResults(t, s); err != nil {
		t.Fatalf("accept the result of another organism: %v", err)
	}
	a := approval(foreign[0])
	a.Organism = CCHF
	f.wantApproved(t, "of the other organism", a, foreign[0])
	waiting, held := f.submit(t, 2), f.submit(t, 1)
	f.mustAccept(t, f.lines(t, f.claim(t, 1))...)
	f.claim(t, 1)
	missing := []seqlease.AccessionVersion{{Accession: "LOC_XXXXXXX", Version: 1}, {Accession: "moss", Version: 1}}
	mark := f.mark(t)

	everything := slices.Concat(missing, foreign, waiting, held, good)
	_, err := f.Revise(t.Context(), f.revision(everything...))
	wantRefusedState(t, err, submission.StateError{Unknown: []seqlease.Accession{"LOC_XXXXXXX", "moss"}})
	_, err = f.Revise(t.Context(), f.revision(slices.Concat(good, foreign, waiting, held)...))
	want := received(foreign[1], held[0])
	want.WrongStatus[waiting[0]], want.WrongStatus[waiting[1]] = seqlease.Processed, seqlease.InProcessing
	wantRefusedState(t, err, want)
	_, err = f.Revise(t.Context(), f.revision(good[0], foreign[0]))
	wantRefusedState(t, err, submission.StateError{Foreign: map[seqlease.Organism][]seqlease.AccessionVersion{CCHF: {foreign[0]}}})

	wantSame(t, "mark", f.mark(t), mark)
	wantSame(t, "claimed", claimed(f.claim(t, 100)), held)
	wantSame(t, "revised afterwards", f.mustRevise(t, f.revision(good...)), next(good))
}

func reviseUnknownOrganism(t *testing.T, h Harness) {
	f := newFixture(t, h)
	r := f.revision(f.releasedEntries(t, 1)...)
	r.Organism = "measles"
	_, err := f.Revise(t.Context(), r)
	wantError(t, err, seqlease.ErrUnknownOrganism)
}
