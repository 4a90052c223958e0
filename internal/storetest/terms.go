package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

func termsCases() []testCase {
	return []testCase{
		{name: "Terms_HistoryBeginsWithTheSubmission", check: termsFirst},
		{name: "Terms_HistoryOfNothingIsEmpty", check: termsNothing},
		{name: "Terms_OnlyWhatTheTableAllows", check: termsTable},
		{name: "Terms_OneRefusedAccessionChangesNothing", check: termsAllOrNothing},
		{name: "Terms_AccessionsThatDoNotExistComeFirst", check: termsMissing},
		{name: "Terms_HoldAtOnceInListsAndReleasedData", check: termsShown},
		{name: "Terms_HistoryComesInPages", check: termsPages},
		{name: "Terms_HistoryOutlivesTheEntries", check: termsAfterDelete},
		{name: "Terms_OfAnUploadUnderWayAreUnknown", check: termsOfUpload},
		{name: "Terms_ChangesAtOnceFollowEachOther", check: termsAtOnce},
		{name: "Terms_OpenedAtOnceByManyIsOpenedByOne", check: termsOpenAtOnce},
		{name: "Terms_OverlappingChangesAllEnd", check: termsOverlapping},
		{name: "Terms_ChangeAgainstApproveIsNeverMissed", check: termsAgainstApprove},
		{name: "Terms_ChangeAgainstDeleteLeavesAWholeHistory", check: termsAgainstDelete},
	}
}

var openTerms = seqlease.DataUseTerms{Type: seqlease.TermsOpen}

// restrictedUntil is a restriction that ends on a day of 2030.
func restrictedUntil(month time.Month, day int) seqlease.DataUseTerms {
	return seqlease.DataUseTerms{Type: seqlease.TermsRestricted, RestrictedUntil: time.Date(2030, month, day, 0, 0, 0, 0, time.UTC)}
}

// submitUnder stores n entries of West Nile virus under the terms, and returns their
// accessions.
func (f *fixture) submitUnder(t *testing.T, terms seqlease.DataUseTerms, n int) []seqlease.Accession {
	t.Helper()
	u := f.upload(n)
	u.Terms = terms
	return accessionsOf(f.submitUpload(t, u))
}

func (f *fixture) changeTerms(ctx context.Context, terms seqlease.DataUseTerms, accessions ...seqlease.Accession) error {
	return f.ChangeTerms(ctx, submission.TermsChange{Accessions: slices.Sorted(slices.Values(accessions)), Terms: terms, By: "bert"})
}

func (f *fixture) mustChangeTerms(t *testing.T, terms seqlease.DataUseTerms, accessions ...seqlease.Accession) {
	t.Helper()
	if err := f.changeTerms(t.Context(), terms, accessions...); err != nil {
		t.Fatalf("change the terms of %v to %v: %v", accessions, terms, err)
	}
}

// termsHistory reads the whole history of an accession's terms.
func (f *fixture) termsHistory(t *testing.T, accession seqlease.Accession) []submission.TermsRecord {
	t.Helper()
	history, err := f.TermsHistory(t.Context(), accession, 0, 1000)
	if err != nil {
		t.Fatalf("history of %s: %v", accession, err)
	}
	return history
}

// wantHistory checks who set which terms, first to last, and that the instants
// ascend between two others.
func (f *fixture) wantHistory(t *testing.T, accession seqlease.Accession, earliest time.Time, want ...submission.TermsRecord) {
	t.Helper()
	history := f.termsHistory(t, accession)
	for i := range history {
		wantBetween(t, "terms changed", history[i].ChangedAt, earliest, f.now(t))
		earliest = history[i].ChangedAt
		history[i].ChangedAt, history[i].Number = time.Time{}, 0
	}
	wantSame(t, "history of "+string(accession), history, want)
}

func termsRecord(who string, terms seqlease.DataUseTerms) submission.TermsRecord {
	return submission.TermsRecord{By: who, Terms: terms}
}

func termsFirst(t *testing.T, h Harness) {
	f := newFixture(t, h)
	before := f.now(t)
	u := f.upload(2)
	u.Submitter = "carla"
	for _, av := range f.submitUpload(t, u) {
		f.wantHistory(t, av.Accession, before, termsRecord("carla", openTerms))
	}
	restricted := f.submitUnder(t, restrictedUntil(5, 6), 1)[0]
	f.wantHistory(t, restricted, before, termsRecord(submitter, restrictedUntil(5, 6)))
	f.mustChangeTerms(t, restrictedUntil(5, 1), restricted)
	f.mustChangeTerms(t, openTerms, restricted)
	f.wantHistory(t, restricted, before, termsRecord(submitter, restrictedUntil(5, 6)), termsRecord("bert", restrictedUntil(5, 1)), termsRecord("bert", openTerms))
}

func termsNothing(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 1)
	for _, accession := range []seqlease.Accession{"", "nothing", "LOC_", seqlease.NewAccession(prefix, 999_999)} {
		wantSame(t, "history", f.termsHistory(t, accession), nil)
	}
}

func termsTable(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for _, tc := range []struct {
		name         string
		stored, next seqlease.DataUseTerms
		allowed      bool
	}{
		{"open stays open", openTerms, openTerms, false},
		{"open can't be restricted", openTerms, restrictedUntil(5, 6), false},
		{"a restriction can be ended", restrictedUntil(5, 6), openTerms, true},
		{"a restriction can be made shorter", restrictedUntil(5, 6), restrictedUntil(5, 5), true},
		{"a restriction can be said again", restrictedUntil(5, 6), restrictedUntil(5, 6), true},
		{"a restriction can't be extended", restrictedUntil(5, 6), restrictedUntil(5, 7), false},
	} {
		accession := f.submitUnder(t, tc.stored, 1)[0]
		first := termsRecord(submitter, tc.stored)
		err := f.changeTerms(t.Context(), tc.next, accession)
		switch {
		case tc.allowed && err != nil:
			t.Errorf("%s: %v", tc.name, err)
		case tc.allowed:
			f.wantHistory(t, accession, time.Time{}, first, termsRecord("bert", tc.next))
		default:
			wantError(t, err, seqlease.ErrState)
			f.wantHistory(t, accession, time.Time{}, first)
		}
	}
}

func termsAllOrNothing(t *testing.T, h Harness) {
	f := newFixture(t, h)
	early, late, opened := f.submitUnder(t, restrictedUntil(3, 1), 1)[0], f.submitUnder(t, restrictedUntil(5, 1), 2), f.submit(t, 1)[0].Accession
	mark := f.releasedMark(t)
	wantError(t, f.changeTerms(t.Context(), restrictedUntil(4, 1), late[0], early, late[1]), seqlease.ErrState)
	wantError(t, f.changeTerms(t.Context(), openTerms, late[0], opened, late[1]), seqlease.ErrState)
	for _, accession := range append(late, early, opened) {
		wantSame(t, "length of the history", len(f.termsHistory(t, accession)), 1)
	}
	wantSame(t, "mark after refused changes", f.releasedMark(t), mark)
	f.mustChangeTerms(t, restrictedUntil(4, 1), late...)
	for _, accession := range late {
		f.wantHistory(t, accession, time.Time{}, termsRecord(submitter, restrictedUntil(5, 1)), termsRecord("bert", restrictedUntil(4, 1)))
	}
	if a, b := f.termsHistory(t, late[0])[1].ChangedAt, f.termsHistory(t, late[1])[1].ChangedAt; !a.Equal(b) {
		t.Errorf("one change has the instants %s and %s", a, b)
	}
}

func termsMissing(t *testing.T, h Harness) {
	f := newFixture(t, h)
	opened := f.submit(t, 1)[0].Accession
	restricted := f.submitUnder(t, restrictedUntil(5, 1), 1)[0]
	missing := []seqlease.Accession{"LOC_A", "LOC_B"}
	err := f.changeTerms(t.Context(), openTerms, append(missing, opened, restricted)...)
	wantError(t, err, seqlease.ErrState)
	wantSame(t, "explanation", seqlease.Explanation(err), seqlease.Explanation(&submission.StateError{Unknown: missing}))
	wantSame(t, "length of the history", len(f.termsHistory(t, restricted)), 1)
}

func termsShown(t *testing.T, h Harness) {
	f := newFixture(t, h)
	u := f.upload(1)
	u.Terms = restrictedUntil(5, 6)
	versions := f.submitUpload(t, u)
	u = f.upload(0)
	u.Organism, u.Entries, u.Terms = CCHF, f.entries(CCHF, 1), restrictedUntil(7, 8)
	foreign := f.submitUpload(t, u)
	f.mustAccept(t, f.lines(t, f.claim(t, 1))...)
	f.approveAll(t)
	last := map[seqlease.Organism]string{WestNile: f.markOf(t, WestNile), CCHF: f.markOf(t, CCHF)}
	wantMarks := func(what string, changed ...seqlease.Organism) {
		t.Helper()
		for o, mark := range last {
			switch last[o] = f.markOf(t, o); {
			case slices.Contains(changed, o) && last[o] <= mark:
				t.Errorf("%s: the mark %q of %s doesn't rise over %q", what, last[o], o, mark)
			case !slices.Contains(changed, o):
				wantSame(t, what+": mark of "+string(o), last[o], mark)
			}
		}
	}
	before := f.now(t)
	f.mustChangeTerms(t, restrictedUntil(4, 1), versions[0].Accession)
	wantMarks("one organism", WestNile)
	head, released := f.released(t)
	wantSame(t, "mark of the head", head.Mark, last[WestNile])
	wantSame(t, "released terms", released[0].Terms, restrictedUntil(4, 1))
	wantBetween(t, "released terms changed", released[0].TermsChangedAt, before, f.now(t))
	listed, _ := f.list(t, submission.ListFilter{Organism: WestNile})
	wantSame(t, "listed terms", listed[0].Terms, restrictedUntil(4, 1))

	f.mustChangeTerms(t, openTerms, versions[0].Accession, foreign[0].Accession)
	wantMarks("two organisms", WestNile, CCHF)
	_, released = f.released(t)
	wantSame(t, "released terms", released[0].Terms, openTerms)
	listed, _ = f.list(t, submission.ListFilter{Organism: CCHF})
	wantSame(t, "listed terms", listed[0].Terms, openTerms)
}

func termsPages(t *testing.T, h Harness) {
	f := newFixture(t, h)
	accession := f.submitUnder(t, restrictedUntil(5, 20), 1)[0]
	for day := 19; day > 10; day-- {
		f.mustChangeTerms(t, restrictedUntil(5, day), accession)
	}
	whole := f.termsHistory(t, accession)
	wantSame(t, "length of the history", len(whole), 10)
	for limit := 1; limit <= 11; limit++ {
		var got []submission.TermsRecord
		for after := int64(0); ; {
			page, err := f.TermsHistory(t.Context(), accession, after, limit)
			if err != nil {
				t.Fatalf("history after %d: %v", after, err)
			}
			got = append(got, page...)
			if len(page) < limit {
				break
			}
			after = page[len(page)-1].Number
		}
		wantSame(t, "history in pages", got, whole)
	}
}

// withoutNumbers leaves out what differs between stores.
func withoutNumbers(history []submission.TermsRecord) []submission.TermsRecord {
	for i := range history {
		history[i].Number = 0
	}
	return history
}

func termsAfterDelete(t *testing.T, h Harness) {
	f := newFixture(t, h)
	u := f.upload(2)
	u.Submitter = "carla"
	versions := f.submitUpload(t, u)
	u.Terms = restrictedUntil(5, 6)
	versions = append(versions, f.submitUpload(t, u)...)
	f.mustChangeTerms(t, openTerms, versions[3].Accession)
	var before [][]submission.TermsRecord
	for _, av := range versions {
		before = append(before, withoutNumbers(f.termsHistory(t, av.Accession)))
	}
	f.mustDelete(t, versions[0], versions[2], versions[3])
	for i, av := range versions {
		wantSame(t, "history of "+av.String(), withoutNumbers(f.termsHistory(t, av.Accession)), before[i])
	}
	for _, deleted := range []seqlease.AccessionVersion{versions[0], versions[2], versions[3]} {
		err := f.changeTerms(t.Context(), openTerms, deleted.Accession)
		wantSame(t, "change of what was deleted", seqlease.Explanation(err),
			seqlease.Explanation(&submission.StateError{Unknown: []seqlease.Accession{deleted.Accession}}))
	}
}

func termsOfUpload(t *testing.T, h Harness) {
	f := newFixture(t, h)
	first := seqlease.NewAccession(prefix, 1)
	u := f.upload(0)
	u.Terms = restrictedUntil(5, 6)
	looked := false
	u.Entries = func(yield func(submission.PackedEntry, error) bool) {
		for e, err := range f.entries(WestNile, 1500) {
			if !yield(e, err) {
				return
			}
		}
		// A store that stores an upload in parts has stored some by now.
		wantSame(t, "history of an upload under way", f.termsHistory(t, first), nil)
		wantError(t, f.changeTerms(t.Context(), openTerms, first), seqlease.ErrState)
		looked = true
	}
	versions := f.submitUpload(t, u)
	wantSame(t, "first accession", versions[0].Accession, first)
	wantSame(t, "looked at while it was under way", looked, true)
	f.wantHistory(t, first, time.Time{}, termsRecord(submitter, restrictedUntil(5, 6)))
}

// termsAtOnce: of a shorter restriction and an opening at the same time either both
// hold, in this order, or the restriction is refused.
func termsAtOnce(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for round := range 10 {
		accession := f.submitUnder(t, restrictedUntil(5, 6), 1)[0]
		opened := make(chan error, 1)
		go func() { opened <- f.changeTerms(t.Context(), openTerms, accession) }()
		restricted := f.changeTerms(t.Context(), restrictedUntil(4, 1), accession)
		if err := <-opened; err != nil {
			t.Errorf("round %d: open: %v", round, err)
		}
		if restricted == nil {
			f.wantHistory(t, accession, time.Time{}, termsRecord(submitter, restrictedUntil(5, 6)), termsRecord("bert", restrictedUntil(4, 1)), termsRecord("bert", openTerms))
			continue
		}
		wantError(t, restricted, seqlease.ErrState)
		f.wantHistory(t, accession, time.Time{}, termsRecord(submitter, restrictedUntil(5, 6)), termsRecord("bert", openTerms))
	}
}

func termsOpenAtOnce(t *testing.T, h Harness) {
	f := newFixture(t, h)
	accession := f.submitUnder(t, restrictedUntil(5, 6), 1)[0]
	answers := make(chan error, 6)
	for range cap(answers) {
		go func() { answers <- f.changeTerms(t.Context(), openTerms, accession) }()
	}
	changed := 0
	for range cap(answers) {
		if err := <-answers; err == nil {
			changed++
		} else {
			wantError(t, err, seqlease.ErrState)
		}
	}
	wantSame(t, "changes that were taken", changed, 1)
	wantSame(t, "length of the history", len(f.termsHistory(t, accession)), 2)
}

func termsOverlapping(t *testing.T, h Harness) {
	f := newFixture(t, h)
	a := f.submitUnder(t, restrictedUntil(5, 6), 3)
	lists := [][]seqlease.Accession{{a[0], a[1]}, {a[2], a[1]}, {a[2], a[0]}, {a[2], a[1], a[0]}}
	const rounds = 5
	answers := make(chan error, len(lists))
	for _, list := range lists {
		go func() {
			var errs []error
			for range rounds {
				errs = append(errs, f.changeTerms(t.Context(), restrictedUntil(5, 6), list...))
			}
			answers <- errors.Join(errs...)
		}()
	}
	for range lists {
		if err := <-answers; err != nil {
			t.Errorf("change: %v", err)
		}
	}
	for _, accession := range a {
		wantSame(t, "length of the history", len(f.termsHistory(t, accession)), 1+3*rounds)
	}
}

func termsAgainstApprove(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for round := range 10 {
		u := f.upload(1)
		u.Terms = restrictedUntil(5, 6)
		versions := f.submitUpload(t, u)
		f.mustAccept(t, f.lines(t, f.claim(t, 1))...)
		before := f.releasedMark(t)
		approved := make(chan error, 1)
		go func() {
			_, err := f.Approve(t.Context(), approval(versions...))
			approved <- err
		}()
		f.mustChangeTerms(t, openTerms, versions[0].Accession)
		between, seen := f.released(t)
		if err := <-approved; err != nil {
			t.Fatalf("round %d: approve: %v", round, err)
		}
		head, released := f.released(t)
		wantSame(t, "terms of the last entry", released[len(released)-1].Terms, openTerms)
		if head.Mark <= before {
			t.Errorf("round %d: the mark %q doesn't rise over %q", round, head.Mark, before)
		}
		if between.Mark == head.Mark {
			wantSame(t, "released under one mark", released, seen)
		}
	}
}

func termsAgainstDelete(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for round := range 10 {
		u := f.upload(1)
		u.Terms = restrictedUntil(5, 6)
		versions := f.submitUpload(t, u)
		deleted := make(chan error, 1)
		go func() { deleted <- f.remove(t.Context(), versions) }()
		changed := f.changeTerms(t.Context(), openTerms, versions[0].Accession)
		if err := <-deleted; err != nil {
			t.Errorf("round %d: delete: %v", round, err)
		}
		want := []submission.TermsRecord{termsRecord(submitter, restrictedUntil(5, 6))}
		if changed == nil {
			want = append(want, termsRecord("bert", openTerms))
		} else {
			wantError(t, changed, seqlease.ErrState)
		}
		f.wantHistory(t, versions[0].Accession, time.Time{}, want...)
	}
}
