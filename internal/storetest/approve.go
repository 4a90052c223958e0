package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

func approveCases() []testCase {
	return []testCase{
		{name: "Approve_ReleasesWithOneInstant", check: approveOneInstant},
		{name: "Approve_SecondTimeReleasesNothing", check: approveTwice},
		{name: "Approve_StateErrorNamesEveryFault", check: approveStateError},
		{name: "Approve_OneBadNamedEntryApprovesNothing", check: approveAllOrNothing},
		{name: "Approve_WithoutFilterLeavesOutWhatIsNotReady", check: approveLeavesOut},
		{name: "Approve_AtOnceReleasesEachEntryOnce", check: approveAtOnce},
		{name: "Approve_AgainstDeleteExactlyOneWins", check: approveAgainstDelete},
		{name: "Approve_ReleaseIsFinal", check: approveFinal},
		{name: "Approve_L13_ReadersSeeAllOfManyOrNothing", needs: WriteWhileReading, check: approveManyAtOnce},
		{name: "Approve_L10_ManyBesideChanges", check: approveManyBesideChanges},
	}
}

// approval takes everything of West Nile virus, or the named entries.
func approval(named ...seqlease.AccessionVersion) submission.Approval {
	return submission.Approval{Organism: WestNile, Approver: "bert", Scope: seqlease.ApproveAll, Entries: named}
}

// wantApproved makes the approval and checks what it released.
func (f *fixture) wantApproved(t *testing.T, what string, a submission.Approval, want ...seqlease.AccessionVersion) {
	t.Helper()
	approved, err := f.Approve(t.Context(), a)
	if err != nil {
		t.Fatalf("approve %s: %v", what, err)
	}
	wantSame(t, "approved "+what, approved, want)
}

func approveOneInstant(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues, seqlease.HasWarnings, seqlease.NoIssues)
	before := f.now(t)
	f.wantApproved(t, "all", approval(), versions...)
	after := f.now(t)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.ApprovedForRelease: 3})
	_, released := f.released(t)
	for i, e := range released {
		wantSame(t, "released entry", e.AccessionVersion, versions[i])
		wantBetween(t, "released", e.ReleasedAt, before, after)
		if !e.ReleasedAt.Equal(released[0].ReleasedAt) {
			t.Errorf("%s was released at %s, the first one at %s", e.AccessionVersion, e.ReleasedAt, released[0].ReleasedAt)
		}
	}
}

func approveTwice(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues, seqlease.NoIssues)
	f.wantApproved(t, "by name", approval(versions...), versions...)
	head, first := f.released(t)
	f.wantApproved(t, "all again", approval())
	_, err := f.Approve(t.Context(), approval(versions...))
	wantStateError(t, err, submission.StateError{WrongStatus: map[seqlease.AccessionVersion]seqlease.Status{
		versions[0]: seqlease.ApprovedForRelease, versions[1]: seqlease.ApprovedForRelease,
	}})
	again, second := f.released(t)
	wantSame(t, "released", second, first)
	wantSame(t, "mark of what is released", again.Mark, head.Mark)
}

// wantStateError checks the lists of the error, whatever their order.
func wantStateError(t *testing.T, err error, want submission.StateError) {
	t.Helper()
	wantError(t, err, seqlease.ErrState)
	var got *submission.StateError
	if !errors.As(err, &got) {
		t.Fatalf("got error %v, want a StateError", err)
	}
	byName := func(list []seqlease.AccessionVersion) []seqlease.AccessionVersion {
		return slices.SortedFunc(slices.Values(list), seqlease.AccessionVersion.Compare)
	}
	wantSame(t, "missing", byName(got.Missing), byName(want.Missing))
	wantSame(t, "of another organism", got.Foreign, want.Foreign)
	wantSame(t, "in another status", got.WrongStatus, want.WrongStatus)
	wantSame(t, "with errors", byName(got.WithErrors), byName(want.WithErrors))
	wantSame(t, "revocations", byName(got.Revocations), byName(want.Revocations))
	wantSame(t, "unknown accessions", slices.Sorted(slices.Values(got.Unknown)), slices.Sorted(slices.Values(want.Unknown)))
	if want.WantStatuses == nil {
		want.WantStatuses = []seqlease.Status{seqlease.Processed}
	}
	if len(want.WrongStatus) > 0 {
		wantSame(t, "wanted statuses", got.WantStatuses, want.WantStatuses)
	}
}

func approveStateError(t *testing.T, h Harness) {
	f := newFixture(t, h)
	released := f.process(t, seqlease.NoIssues)
	f.wantApproved(t, "the first", approval(), released...)
	done := f.process(t, seqlease.NoIssues, seqlease.HasErrors, seqlease.HasWarnings)
	held := f.submit(t, 1)
	f.claim(t, 1)
	waiting, foreign := f.submit(t, 1), f.submitTo(t, CCHF, 2)
	missing := []seqlease.AccessionVersion{
		{Accession: seqlease.NewAccession(prefix, 999_999), Version: 1},
		{Accession: done[0].Accession, Version: 2},
	}
	_, err := f.Approve(t.Context(), approval(slices.Concat(missing, waiting, done, foreign, held, released)...))
	wantStateError(t, err, submission.StateError{
		Missing: missing,
		Foreign: map[seqlease.Organism][]seqlease.AccessionVersion{CCHF: foreign},
		WrongStatus: map[seqlease.AccessionVersion]seqlease.Status{
			released[0]: seqlease.ApprovedForRelease, held[0]: seqlease.InProcessing, waiting[0]: seqlease.Received,
		},
		WithErrors: done[1:2],
	})
	wantSame(t, "still to approve", f.approveAll(t), []seqlease.AccessionVersion{done[0], done[2]})
}

func approveAllOrNothing(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues, seqlease.HasErrors)
	_, err := f.Approve(t.Context(), approval(versions...))
	wantStateError(t, err, submission.StateError{WithErrors: versions[1:]})
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 2})

	f.submit(t, 1)
	f.claim(t, 1)
	f.age(t, leaseTime) // received again at the lease end
	waiting := f.submit(t, 1)
	_, err = f.Approve(t.Context(), approval(versions[0], waiting[0]))
	wantStateError(t, err, submission.StateError{WrongStatus: map[seqlease.AccessionVersion]seqlease.Status{waiting[0]: seqlease.Received}})
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 2, seqlease.Received: 2})
}

func approveLeavesOut(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues, seqlease.HasErrors, seqlease.HasWarnings)
	f.submit(t, 2)
	f.claim(t, 1)
	f.wantApproved(t, "all", approval(), versions[0], versions[2])
	f.wantStatuses(t, map[seqlease.Status]int64{
		seqlease.ApprovedForRelease: 2, seqlease.Processed: 1, seqlease.InProcessing: 1, seqlease.Received: 1,
	})
}

func approveAtOnce(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, slices.Repeat([]seqlease.ProcessingResult{seqlease.NoIssues}, 50)...)
	type answer struct {
		approved []seqlease.AccessionVersion
		err      error
	}
	answers := make(chan answer, 6)
	for range cap(answers) {
		go func() {
			approved, err := f.Approve(t.Context(), approval())
			answers <- answer{approved, err}
		}()
	}
	var all []seqlease.AccessionVersion
	for range cap(answers) {
		a := <-answers
		if a.err != nil {
			t.Errorf("approve: %v", a.err)
		}
		all = append(all, a.approved...)
	}
	slices.SortFunc(all, seqlease.AccessionVersion.Compare)
	wantSame(t, "approved by all together", all, versions)
}

func approveAgainstDelete(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for round := range 10 {
		versions := f.process(t, seqlease.NoIssues)
		deleted := make(chan error, 1)
		go func() { deleted <- f.remove(t.Context(), versions) }()
		approved, err := f.Approve(t.Context(), approval())
		if err != nil {
			t.Fatalf("approve: %v", err)
		}
		if err := <-deleted; (err == nil) == (len(approved) == 1) {
			t.Errorf("round %d: the deletion answered %v and %v was approved", round, err, approved)
		}
		listed, _ := f.list(t, submission.ListFilter{Organism: WestNile, Statuses: []seqlease.Status{seqlease.Processed}})
		wantSame(t, "still processed", listed, nil)
	}
}

func approveFinal(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues)
	f.wantApproved(t, "all", approval(), versions...)
	f.age(t, 2*leaseTime)
	wantSame(t, "claimed", claimed(f.claim(t, 10)), nil)
	wantError(t, f.edit(t, versions[0], submitted(1)), seqlease.ErrState)
	wantError(t, f.remove(t.Context(), versions), seqlease.ErrState)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.ApprovedForRelease: 1})
}

// manyApproved is more than a store writes in one go, if it doesn't write all at once.
const manyApproved = 1_300

// approveManyAtOnce reads while very many entries are released: each reader gets all of
// them or none, and the mark tells which.
func approveManyAtOnce(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, slices.Repeat([]seqlease.ProcessingResult{seqlease.NoIssues}, manyApproved)...)
	before := f.releasedMark(t)
	done := make(chan error, 1)
	go func() {
		approved, err := f.Approve(t.Context(), approval())
		if err == nil && !slices.Equal(approved, versions) {
			err = fmt.Errorf("approved %d entries, want %d", len(approved), len(versions))
		}
		done <- err
	}()
	marks := map[string]int{}
	for ended := false; !ended; {
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("approve: %v", err)
			}
			ended = true
		default:
		}
		head, released := f.released(t)
		if n, known := marks[head.Mark]; known && n != len(released) || (len(released) > 0) != (head.Mark > before) {
			t.Errorf("%d entries are released under %q, which had %d", len(released), head.Mark, n)
		}
		marks[head.Mark] = len(released)
		if n := len(released); n != 0 && (n != len(versions) || !released[n-1].ReleasedAt.Equal(released[0].ReleasedAt)) {
			t.Fatalf("%d entries are released, from %s to %s", n, released[0].ReleasedAt, released[n-1].ReleasedAt)
		}
	}
	wantSame(t, "marks", len(marks) <= 2, true)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.ApprovedForRelease: manyApproved})
}

// approveManyBesideChanges edits, deletes and approves entries while all are released:
// each is changed or released, and the answers say which.
func approveManyBesideChanges(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, slices.Repeat([]seqlease.ProcessingResult{seqlease.NoIssues}, manyApproved)...)
	type answer struct {
		approved []seqlease.AccessionVersion
		err      error
	}
	done := make(chan answer, 2)
	for range cap(done) {
		go func() {
			approved, err := f.Approve(t.Context(), approval())
			done <- answer{approved, err}
		}()
	}
	took := map[seqlease.AccessionVersion]int{}
	changed := map[bool]int{}
	for i, left := 0, cap(done); left > 0; i++ {
		select {
		case got := <-done:
			left--
			if got.err != nil {
				t.Errorf("approve: %v", got.err)
			}
			for _, av := range got.approved {
				took[av]++
			}
			continue
		default:
		}
		av := versions[i*7%len(versions)]
		change := func() error { return f.edit(t, av, submitted(i)) }
		if i%2 == 0 {
			change = func() error { return f.remove(t.Context(), []seqlease.AccessionVersion{av}) }
		}
		switch err := change(); {
		case err == nil:
			took[av]++
			changed[i%2 == 0]++
		case !errors.Is(err, seqlease.ErrState):
			t.Fatalf("change %s: %v", av, err)
		}
	}
	for _, av := range versions {
		if took[av] != 1 {
			t.Errorf("%s was taken by %d calls, want one", av, took[av])
		}
	}
	counts := map[seqlease.Status]int64{seqlease.ApprovedForRelease: int64(manyApproved - changed[true] - changed[false])}
	if edited := changed[false]; edited > 0 {
		counts[seqlease.Received] = int64(edited)
	}
	f.wantStatuses(t, counts)
}
