package storetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

func acceptCases() []testCase {
	return []testCase{
		{name: "L3_ResultInTimeIsStored", check: acceptL3InTime},
		{name: "L3_LateResultIsRejected", check: acceptL3Late},
		{name: "L3_LateResultAfterTakeoverIsRejected", check: acceptL3AfterTakeover},
		{name: "L3_WrongAttemptIDIsRejected", check: acceptL3WrongAttempt},
		{name: "L3_AnotherUsersLeaseIsLost", check: acceptL3AnotherUser},
		{name: "L3_WrongOrganismIsRejected", check: acceptL3WrongOrganism},
		{name: "L5_OrganismsOfEntries", check: acceptL5Organisms},
		{name: "L3_WrongPipelineVersionIsRejected", check: acceptL3WrongVersion},
		{name: "L3_UnknownEntryIsNotFound", check: acceptL3Unknown},
		{name: "L3_EntryNobodyClaimedIsRejected", check: acceptL3NotClaimed},
		{name: "L3_ResultAgainstGiveBackExactlyOneWins", check: acceptL3AgainstGiveBack},
		{name: "L3_B001_ResultAtTheLeaseEndExactlyOneWins", check: acceptL3AtTheLeaseEnd},
		{name: "L5_OneBadLineRefusesAllAndEveryBadLineIsNamed", check: acceptL5AllOrNothing},
		{name: "L5_OnlyInvalidLines", check: acceptL5OnlyInvalid},
		{name: "L5_B070_SameEntryTwiceIsRefused", check: acceptL5Duplicates},
		{name: "Accept_SeveralAttemptsInOneBody", check: acceptSeveralAttempts},
		{name: "Accept_PartialSubmissionKeepsTheRestHeld", check: acceptPartial},
		{name: "Accept_AnyOrderOfLines", check: acceptAnyOrder},
		{name: "Accept_NothingIsNoFault", check: acceptNothing},
		{name: "L5_LargeSubmissionIsOne", needs: Large, check: acceptL5Large},
	}
}

func acceptL3InTime(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 5)
	lease := f.claim(t, 5)
	f.mustAccept(t, f.lines(t, lease)...)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 5})
	wantSame(t, "claimed afterwards", claimed(f.claim(t, 5)), nil)
	f.age(t, 2*leaseTime)
	wantSame(t, "claimed after the lease would have ended", claimed(f.claim(t, 5)), nil)
}

func acceptL3Late(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 3)
	lines := f.lines(t, f.claim(t, 3))
	f.age(t, leaseTime)
	err := f.accept(t, lines...)
	wantRefused(t, err, leaseLost(versions)...)
	wantError(t, err, seqlease.ErrLeaseLost)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 3})
	wantSame(t, "claimed after the late result", claimed(f.claim(t, suspects(3))), versions)
}

func acceptL3AfterTakeover(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 3)
	late := f.lines(t, f.claim(t, 3))
	f.age(t, leaseTime)
	second := f.claim(t, suspects(3))
	wantRefused(t, f.accept(t, late...), leaseLost(versions)...)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.InProcessing: 3})

	stored := f.line(t, 1, versions[0], second.AttemptID, "by the second worker", seqlease.NoIssues)
	f.mustAccept(t, stored)
	wantRefused(t, f.accept(t, late...), leaseLost(versions)...)
	f.mustAccept(t, f.lines(t, second)[1:]...)
	f.approveAll(t)
	_, released := f.released(t)
	wantSame(t, "released result", string(released[0].Result), string(processed("by the second worker", seqlease.NoIssues)))
}

func acceptL3WrongAttempt(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 4)
	first, second := f.claim(t, 2), f.claim(t, 2)
	lines := slices.Concat(f.lines(t, first), f.lines(t, second))
	for i := range lines {
		lines[i].Number = i + 1
	}
	lines[1].AttemptID = seqlease.NewAttemptID() // names no claim
	lines[2].AttemptID = first.AttemptID         // holds other entries
	lines[3].AttemptID = seqlease.AttemptID{}
	wantRefused(t, f.accept(t, lines...), leaseLost(versions)[1:]...)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.InProcessing: 4})
}

func acceptL3AnotherUser(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 2)
	lines := f.lines(t, f.claim(t, 2))
	other := results(lines...)
	other.ClaimedBy = "another_pipeline"
	wantRefused(t, f.submitResults(t, other), leaseLost(versions)...)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.InProcessing: 2})
	f.mustAccept(t, lines...)
}

func acceptL3WrongOrganism(t *testing.T, h Harness) {
	f := newFixture(t, h)
	nile, cchf := f.submit(t, 1), f.submitTo(t, CCHF, 2)
	nileLease, cchfLease := f.claim(t, 1), f.claimFrom(t, CCHF, 2)
	lines := []queue.Line{
		f.line(t, 1, cchf[0], cchfLease.AttemptID, "held elsewhere", seqlease.NoIssues),
		f.line(t, 2, nile[0], nileLease.AttemptID, "fine", seqlease.NoIssues),
		f.line(t, 3, cchf[1], nileLease.AttemptID, "wrong attempt too", seqlease.NoIssues),
	}
	wantRefused(t, f.accept(t, lines...),
		refused(1, cchf[0], seqlease.RefusedWrongOrganism), refused(3, cchf[1], seqlease.RefusedWrongOrganism))
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.InProcessing: 1})

	misdirected := results(lines[1])
	misdirected.Organism = CCHF
	wantRefused(t, f.submitResults(t, misdirected), refused(2, nile[0], seqlease.RefusedWrongOrganism))
}

func acceptL5Organisms(t *testing.T, h Harness) {
	f := newFixture(t, h)
	nile, cchf := f.submit(t, 1)[0], f.submitTo(t, CCHF, 1)[0]
	missing := []seqlease.AccessionVersion{{Accession: nile.Accession, Version: 2}, {Accession: "NONE", Version: 1}}
	for _, tt := range []struct {
		asked []seqlease.AccessionVersion
		want  map[seqlease.AccessionVersion]seqlease.Organism
	}{
		{append(missing, cchf, nile), map[seqlease.AccessionVersion]seqlease.Organism{nile: WestNile, cchf: CCHF}},
		{missing, map[seqlease.AccessionVersion]seqlease.Organism{}},
		{nil, map[seqlease.AccessionVersion]seqlease.Organism{}},
	} {
		got, err := f.OrganismsOf(t.Context(), tt.asked)
		if err != nil {
			t.Fatalf("organisms of %v: %v", tt.asked, err)
		}
		if !maps.Equal(got, tt.want) {
			t.Errorf("organisms of %v: got %v, want %v", tt.asked, got, tt.want)
		}
	}
}

func acceptL3WrongVersion(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 1)
	lines := f.lines(t, f.claim(t, 1))
	for _, version := range []seqlease.PipelineVersion{0, 2} {
		other := results(lines...)
		other.PipelineVersion = version
		if err := f.submitResults(t, other); err == nil {
			t.Errorf("results of pipeline version %d were accepted from a lease of version 1", version)
		}
	}
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.InProcessing: 1})
	f.mustAccept(t, lines...)
}

func acceptL3Unknown(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 1)
	lease := f.claim(t, 1)
	unknown := []seqlease.AccessionVersion{
		{Accession: versions[0].Accession, Version: 2},
		{Accession: seqlease.NewAccession(prefix, 999_999), Version: 1},
		{Accession: "", Version: 0},
	}
	var lines []queue.Line
	var want []seqlease.Refusal
	for i, av := range unknown {
		lines = append(lines, f.line(t, i+1, av, lease.AttemptID, "of nothing", seqlease.NoIssues))
		want = append(want, refused(i+1, av, seqlease.RefusedNotFound))
	}
	wantRefused(t, f.accept(t, lines...), want...)
}

func acceptL3NotClaimed(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 2)
	lease := f.claim(t, 1)
	waiting := f.line(t, 1, versions[1], lease.AttemptID, "not mine", seqlease.NoIssues)
	wantRefused(t, f.accept(t, waiting), leaseLost(versions[1:])...)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.InProcessing: 1, seqlease.Received: 1})
}

func acceptL3AgainstGiveBack(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for round := range 10 {
		versions := f.submit(t, 4)
		lease := f.claim(t, 4)
		lines := f.lines(t, lease)
		givenBack := make(chan int, 1)
		go func() {
			n, err := f.GiveBack(t.Context(), returned(lease.AttemptID))
			if err != nil && !errors.Is(err, seqlease.ErrLeaseLost) {
				n = -1
			}
			givenBack <- n
		}()
		err := f.accept(t, lines...)
		switch n := <-givenBack; {
		case n == -1:
			t.Errorf("round %d: give back failed", round)
		case err == nil && n == 0:
			f.wantStatus(t, versions[0], seqlease.Processed)
		case errors.Is(err, seqlease.ErrLeaseLost) && n == 4:
			again := f.claim(t, 4)
			wantSame(t, "claimed after the give back", claimed(again), versions)
			f.mustAccept(t, f.lines(t, again)...)
		default:
			t.Errorf("round %d: accept answered %v and %d entries were given back", round, err, n)
		}
	}
}

// acceptL3AtTheLeaseEnd submits results around the instant of the lease end while
// another worker claims without pause: one of the two gets the entries.
func acceptL3AtTheLeaseEnd(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for round := range 12 {
		versions := f.submit(t, 3)
		lease := f.claim(t, 3)
		lines := f.lines(t, lease)
		f.age(t, leaseTime-time.Duration(round)*3*time.Millisecond)
		stored := make(chan struct{})
		takenOver := make(chan queue.Lease, 1)
		go func() {
			for {
				next, err := f.Claim(t.Context(), ask(suspects(3)))
				if err != nil {
					t.Errorf("round %d: claim: %v", round, err)
				}
				select {
				case <-stored:
				default:
					if err == nil && len(next.Entries) == 0 {
						continue
					}
				}
				takenOver <- next
				return
			}
		}()
		if err := f.accept(t, lines...); err == nil {
			close(stored)
			wantSame(t, "claimed though the results were stored", claimed(<-takenOver), nil)
		} else {
			wantRefused(t, err, leaseLost(versions)...)
			next := <-takenOver
			wantSame(t, "claimed after the refusal", claimed(next), versions)
			f.mustAccept(t, f.lines(t, next)...)
		}
	}
}

func acceptL5AllOrNothing(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions, cchf := f.submit(t, 100), f.submitTo(t, CCHF, 1)
	lines := f.lines(t, f.claim(t, 100))
	missing := seqlease.AccessionVersion{Accession: seqlease.NewAccession(prefix, 999_999), Version: 1}
	foreign := f.claimFrom(t, CCHF, 1)

	bad := slices.Clone(lines)
	bad[6].AccessionVersion = missing
	bad[29].AttemptID = seqlease.NewAttemptID()
	bad[54].AccessionVersion, bad[54].AttemptID = cchf[0], foreign.AttemptID
	bad = slices.Delete(bad, 79, 80)
	s := results(bad...)
	wantRefused(t, f.submitResults(t, s),
		refused(7, missing, seqlease.RefusedNotFound),
		refused(30, versions[29], seqlease.RefusedLeaseLost),
		refused(55, cchf[0], seqlease.RefusedWrongOrganism))
	s.Invalid = []seqlease.Refusal{{AccessionVersion: versions[79], Line: 80, Reason: seqlease.RefusedInvalid, Detail: "unknown field"}}

	wantRefused(t, f.submitResults(t, s),
		refused(7, missing, seqlease.RefusedNotFound),
		refused(30, versions[29], seqlease.RefusedLeaseLost),
		refused(55, cchf[0], seqlease.RefusedWrongOrganism),
		refused(80, versions[79], seqlease.RefusedInvalid))
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.InProcessing: 100})

	f.mustAccept(t, slices.Concat(lines[:6], lines[7:29], lines[30:54], lines[55:79], lines[80:])...)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.InProcessing: 4, seqlease.Processed: 96})
	f.mustAccept(t, lines...)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 100})
}

func acceptL5OnlyInvalid(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 1)
	s := results()
	s.Invalid = []seqlease.Refusal{
		{AccessionVersion: versions[0], Line: 1, Reason: seqlease.RefusedInvalid, Detail: "unknown field"},
		{Line: 2, Reason: seqlease.RefusedInvalid, Detail: "not JSON"},
	}
	wantRefused(t, f.submitResults(t, s),
		refused(1, versions[0], seqlease.RefusedInvalid), refused(2, seqlease.AccessionVersion{}, seqlease.RefusedInvalid))
}

func acceptL5Duplicates(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 250)
	lease := f.claim(t, 250)
	lines := f.lines(t, lease)
	for name, second := range map[string]queue.Line{
		"equal":           f.line(t, 251, versions[2], lease.AttemptID, "result of "+versions[2].String(), seqlease.NoIssues),
		"different":       f.line(t, 251, versions[2], lease.AttemptID, "something else", seqlease.HasErrors),
		"another attempt": f.line(t, 251, versions[2], seqlease.NewAttemptID(), "something else", seqlease.NoIssues),
	} {
		err := f.accept(t, append(slices.Clone(lines), second)...)
		var refusal *seqlease.RefusedError
		if !errors.As(err, &refusal) {
			t.Fatalf("%s: got error %v, want a refusal", name, err)
		}
		for _, r := range refusal.Refused {
			if r.AccessionVersion != versions[2] {
				t.Errorf("%s: %s in line %d was refused, want only %s", name, r.AccessionVersion, r.Line, versions[2])
			}
		}
		f.wantStatuses(t, inProcessing(lease))
	}
	f.mustAccept(t, lines...)
}

func acceptSeveralAttempts(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 7)
	var lines []queue.Line
	for _, n := range []int{3, 1, 3} {
		lines = append(lines, f.lines(t, f.claim(t, n))...)
	}
	for i := range lines {
		lines[i].Number = i + 1
	}
	f.mustAccept(t, lines...)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 7})
	f.mustAccept(t, lines...)
}

func acceptPartial(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 10)
	lines := f.lines(t, f.claim(t, 10))
	f.mustAccept(t, lines[3:7]...)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.InProcessing: 6, seqlease.Processed: 4})
	wantSame(t, "claimed while the rest is held", claimed(f.claim(t, 10)), nil)
	f.mustAccept(t, lines[:3]...)
	f.age(t, leaseTime)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 3, seqlease.Processed: 7})
	wantRefused(t, f.accept(t, lines[7:]...),
		refused(8, versions[7], seqlease.RefusedLeaseLost), refused(9, versions[8], seqlease.RefusedLeaseLost),
		refused(10, versions[9], seqlease.RefusedLeaseLost))
	wantSame(t, "claimed after the lease end", claimed(f.claim(t, suspects(3))), versions[7:])
}

func acceptAnyOrder(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 5)
	lines := f.lines(t, f.claim(t, 5))
	slices.Reverse(lines)
	f.mustAccept(t, lines...)
	f.approveAll(t)
	_, released := f.released(t)
	for i, e := range released {
		want := processed("result of "+versions[i].String(), seqlease.NoIssues)
		wantSame(t, fmt.Sprintf("result %d", i), string(e.Result), string(want))
	}
}

func acceptNothing(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 1)
	lease := f.claim(t, 1)
	f.mustAccept(t)
	f.wantStatuses(t, inProcessing(lease))
}

// inProcessing counts what a running lease shows.
func inProcessing(l queue.Lease) map[seqlease.Status]int64 {
	return map[seqlease.Status]int64{seqlease.InProcessing: int64(len(l.Entries))}
}
