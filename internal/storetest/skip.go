package storetest

import (
	"slices"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// skipCases check submissions that store the good lines though others are refused (L5).
func skipCases() []testCase {
	return []testCase{
		{name: "L5_SkipStoresTheGoodLines", check: skipL5Good},
		{name: "L5_B014_SkipStoresTheOther99", check: skipL5Other99},
		{name: "L5_SkipWithOnlyBadLinesIsNoError", check: skipL5OnlyBad},
		{name: "L5_SkipNamesEveryReasonInLineOrder", check: skipL5Reasons},
		{name: "L6_SkipCountsRepetitionsAsStored", check: skipL6Repeated},
		{name: "L6_SkipRefusesDifferentResults", check: skipL6Different},
		{name: "L5_StoredCountsAllLinesByDefault", check: skipL5DefaultCounts},
		{name: "L5_B070_SameEntryTwiceInBothModes", check: skipB070},
		{name: "History_OneSubmissionIsOneFailureOfAnEntry", check: skipNotesOnce},
		{name: "L3_B002_SkipRefusesEveryLineOfALostLease", check: skipB002},
	}
}

// skip makes the submission line by line and returns how many lines were stored
// and which were refused, without the words for people.
func (f *fixture) skip(t *testing.T, s queue.Submission) (int, []seqlease.Refusal) {
	t.Helper()
	s.Skip = true
	accepted, err := f.AcceptResults(t.Context(), s)
	if err != nil {
		t.Fatalf("accept %d lines one by one: %v", len(s.Lines)+len(s.Invalid), err)
	}
	list := slices.Clone(accepted.Refused)
	for i := range list {
		if list[i].Detail == "" {
			t.Errorf("the refusal of line %d has no detail", list[i].Line)
		}
		list[i].Detail = ""
	}
	return accepted.Stored, list
}

// wantSkipped makes the submission line by line and checks what became of it.
func (f *fixture) wantSkipped(t *testing.T, s queue.Submission, stored int, want ...seqlease.Refusal) {
	t.Helper()
	got, list := f.skip(t, s)
	wantSame(t, "lines stored", got, stored)
	wantSame(t, "refused lines", list, want)
}

func skipL5Good(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 5)
	lease := f.claim(t, 5)
	lines := f.lines(t, lease)
	lines[1].AttemptID = seqlease.NewAttemptID()
	f.wantSkipped(t, results(lines...), 4, refused(2, versions[1], seqlease.RefusedLeaseLost))
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 4, seqlease.InProcessing: 1})
	lines[1].AttemptID = lease.AttemptID
	f.mustAccept(t, lines...)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 5})
}

// B014: what was refused before the store was asked keeps nothing else back.
func skipL5Other99(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 100)
	lines := f.lines(t, f.claim(t, 100))
	s := results(slices.Delete(slices.Clone(lines), 41, 42)...)
	s.Invalid = []seqlease.Refusal{{AccessionVersion: versions[41], Line: 42, Reason: seqlease.RefusedInvalid, Detail: "a NUL in the metadata"}}
	f.wantSkipped(t, s, 99, refused(42, versions[41], seqlease.RefusedInvalid))
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 99, seqlease.InProcessing: 1})
	f.age(t, leaseTime)
	wantSame(t, "claimed after the lease end", claimed(f.claim(t, 1)), versions[41:42])
}

func skipL5OnlyBad(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 1)
	lease := f.claim(t, 1)
	s := results()
	s.Invalid = []seqlease.Refusal{{Line: 1, Reason: seqlease.RefusedInvalid, Detail: "not JSON"}}
	f.wantSkipped(t, s, 0, refused(1, seqlease.AccessionVersion{}, seqlease.RefusedInvalid))
	s.Invalid = nil
	f.wantSkipped(t, s, 0)
	lost := f.line(t, 3, versions[0], seqlease.NewAttemptID(), "not mine", seqlease.NoIssues)
	f.wantSkipped(t, results(lost), 0, refused(3, versions[0], seqlease.RefusedLeaseLost))
	f.wantStatuses(t, inProcessing(lease))
}

func skipL5Reasons(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions, cchf := f.submit(t, 6), f.submitTo(t, CCHF, 1)
	lease, foreign := f.claim(t, 6), f.claimFrom(t, CCHF, 1)
	lines := f.lines(t, lease)
	missing := seqlease.AccessionVersion{Accession: seqlease.NewAccession(prefix, 999_999), Version: 1}
	lines[0].AccessionVersion = missing
	lines[2].AttemptID = seqlease.NewAttemptID()
	lines[4].AccessionVersion, lines[4].AttemptID = cchf[0], foreign.AttemptID
	s := results(slices.Delete(slices.Clone(lines), 3, 4)...)
	s.Invalid = []seqlease.Refusal{{AccessionVersion: versions[3], Line: 4, Reason: seqlease.RefusedInvalid, Detail: "unknown field"}}
	f.wantSkipped(t, s, 2,
		refused(1, missing, seqlease.RefusedNotFound),
		refused(3, versions[2], seqlease.RefusedLeaseLost),
		refused(4, versions[3], seqlease.RefusedInvalid),
		refused(5, cchf[0], seqlease.RefusedWrongOrganism))
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 2, seqlease.InProcessing: 4})
	f.wantSkipped(t, results(lines[1], lines[5]), 2)
}

func skipL6Repeated(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 4)
	lines := f.lines(t, f.claim(t, 4))
	f.wantSkipped(t, results(lines[:2]...), 2)
	f.wantSkipped(t, results(lines[:2]...), 2)
	f.wantSkipped(t, results(lines...), 4)
	f.age(t, leaseTime)
	f.wantSkipped(t, results(lines...), 4)
	f.wantReleased(t, "result of "+versions[0].String(), "result of "+versions[1].String(),
		"result of "+versions[2].String(), "result of "+versions[3].String())
}

func skipL6Different(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 3)
	lease := f.claim(t, 3)
	lines := f.lines(t, lease)
	f.mustAccept(t, lines[0])
	lines[0] = f.line(t, 1, versions[0], lease.AttemptID, "different", seqlease.HasErrors)
	f.wantSkipped(t, results(lines...), 2, refused(1, versions[0], seqlease.RefusedDifferentResults))
	f.wantReleased(t, "result of "+versions[0].String(), "result of "+versions[1].String(), "result of "+versions[2].String())
}

func skipL5DefaultCounts(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 3)
	lines := f.lines(t, f.claim(t, 3))
	for _, s := range [][]queue.Line{lines[:1], lines, lines} {
		accepted, err := f.AcceptResults(t.Context(), results(s...))
		if err != nil {
			t.Fatalf("accept: %v", err)
		}
		wantSame(t, "accepted", accepted, queue.Accepted{Stored: len(s)})
	}
}

// skipB070 repeats an entry in bodies of different lengths, with equal and with
// different content, in both modes and with the attempt id of another claim: a
// later line never wins over an earlier one.
func skipB070(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for _, n := range []int{1, 100, 1000} {
		versions := f.submit(t, n+1)
		lease, other := f.claim(t, n), f.claim(t, 1)
		lines := f.lines(t, lease)
		twice := versions[n/2]
		for _, second := range []queue.Line{
			f.line(t, n+1, twice, lease.AttemptID, "result of "+twice.String(), seqlease.NoIssues),
			f.line(t, n+1, twice, lease.AttemptID, "another result", seqlease.NoIssues),
			f.line(t, n+1, twice, other.AttemptID, "another result", seqlease.NoIssues),
		} {
			body := append(slices.Clone(lines), second)
			if err := f.accept(t, body...); err == nil {
				t.Errorf("%d lines with %s twice were accepted", n+1, twice)
			}
			f.wantStatus(t, twice, seqlease.InProcessing)
		}
		second := f.line(t, n+1, twice, lease.AttemptID, "another result", seqlease.NoIssues)
		stored, list := f.skip(t, results(append(slices.Clone(lines), second)...))
		wantSame(t, "lines stored and refused", stored+len(list), n+1)
		if len(list) == 0 || slices.ContainsFunc(list, func(r seqlease.Refusal) bool { return r.AccessionVersion != twice }) {
			t.Errorf("of %d lines %v were refused, want a line of %s", n+1, list, twice)
		}
		f.mustAccept(t, lines...) // the first of the two, if any, is what was stored
		f.mustAccept(t, f.lines(t, other)...)
	}
}

// B002: a worker that was frozen wakes up after another has finished its batch.
func skipB002(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 20)
	late := f.lines(t, f.claim(t, 20))
	f.age(t, leaseTime)
	second := f.claim(t, suspects(20))
	f.wantSkipped(t, results(late...), 0, leaseLost(versions)...)
	texts := make([]string, len(versions))
	var lines []queue.Line
	for i, av := range claimed(second) {
		texts[i] = "by the second worker"
		lines = append(lines, f.line(t, i+1, av, second.AttemptID, texts[i], seqlease.NoIssues))
	}
	f.mustAccept(t, lines...)
	f.wantSkipped(t, results(late...), 0, leaseLost(versions)...)
	f.wantReleased(t, texts...)
}

// skipNotesOnce sends many lines for the same entries: one with a good line, one with
// none, and one that nobody holds.
func skipNotesOnce(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 3)
	lease := f.claim(t, 2)
	s := results(f.lines(t, lease)[0])
	again := f.line(t, 2, versions[0], lease.AttemptID, "something else", seqlease.NoIssues)
	s.Lines = append(s.Lines, again)
	for n := 10; n < 40; n += 3 {
		s.Invalid = append(s.Invalid,
			queue.RefuseDuplicate(versions[0], n, 1),
			seqlease.Refusal{AccessionVersion: versions[1], Line: n + 1, Reason: seqlease.RefusedInvalid, Detail: "a number"},
			queue.RefuseDuplicate(versions[2], n+2, 3))
	}
	if err := f.submitResults(t, s); err == nil {
		t.Fatal("a body with invalid lines was accepted")
	}
	f.skip(t, s)
	for i, want := range []int{0, 2, 0} { // a failure for each submission
		wantSame(t, "failures of "+versions[i].String(), len(f.history(t, versions[i]).Failures), want)
	}
}
