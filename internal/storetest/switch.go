package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/reprocess"
	"github.com/seqlease/seqlease/internal/submission"
)

// switchCases check when a newer version may become current, and what that changes (V5).
func switchCases() []testCase {
	return []testCase{
		{name: "V5_EveryGoodEntryMustBeGood", check: switchEveryGood},
		{name: "V5_WaitingHeldAndFailedEntriesBlockIt", check: switchUnfinished},
		{name: "V5_OnlyLiveCompleteVersionsAreCandidates", check: switchCandidates},
		{name: "V5_EntriesOfOtherOrganismsDoNotMatter", check: switchOrganisms},
		{name: "V5_LooksPageByPage", check: switchPages},
		{name: "B056_RevokedAndDeletedEntriesDoNotBlockIt", check: switchRevoked},
		{name: "V9_ReprocessedEntriesDoNotBlockIt", check: switchReprocessed},
		{name: "L10_EditedEntriesBlockItUntilTheyAreProcessedAgain", check: switchEdited},
		{name: "V5_AVersionThatIsNoCandidateAnyMoreIsNotSwitchedTo", check: switchStale},
		{name: "V7_OldVersionsAreRefused", check: switchOutdated},
		{name: "V7_ResultsOfRunningLeasesAreAcceptedAndNotShown", check: switchLateResults},
		{name: "L8_LeasesOfOldVersionsAreGivenBack", check: switchGiveBack},
		{name: "L1_EntriesWaitForLiveVersionsAlone", check: switchTickets},
		{name: "L13_SwitchChangesWhatIsReleasedAndEveryLiveMark", check: switchMarks},
		{name: "L16_OperatorsActOnLiveVersionsAlone", check: switchOperators},
		{name: "V1_DeleteAllAfterASwitch", check: switchDeleteAll},
		{name: "V5_AnotherServerSeesIt", needs: SecondStore, check: switchElsewhere},
		{name: "V1_RegisteringTheOrganismAgainChangesNothing", check: switchRegister},
	}
}

// toNewer is the switch from the first version to the newer one.
var toNewer = reprocess.Candidate{Organism: WestNile, Current: 1, Version: newer}

// switches makes the candidate current, or wants the store to say that it may not.
func (f *fixture) switches(t *testing.T, c reprocess.Candidate, want bool) {
	t.Helper()
	switched, err := f.Switch(t.Context(), c)
	if err != nil {
		t.Fatalf("switch %s to version %d: %v", c.Organism, c.Version, err)
	}
	wantSame(t, fmt.Sprintf("switched to version %d", c.Version), switched, want)
	versions, err := f.CurrentPipelineVersions(t.Context())
	if err != nil {
		t.Fatalf("current pipeline versions: %v", err)
	}
	if (versions[c.Organism] == c.Version) != want {
		t.Errorf("version %d is current, switched: %t", versions[c.Organism], want)
	}
}

func (f *fixture) wantCandidates(t *testing.T, what string, want ...reprocess.Candidate) {
	t.Helper()
	list, err := f.Candidates(t.Context())
	if err != nil {
		t.Fatalf("candidates: %v", err)
	}
	wantSame(t, "candidates "+what, list, want)
}

// blocked says whether a look from the start finds an entry that blocks the candidate.
func (f *fixture) blocked(t *testing.T, c reprocess.Candidate) bool {
	t.Helper()
	look, err := f.FindBlocker(t.Context(), c, 0, 100)
	if err != nil {
		t.Fatalf("look for a blocker: %v", err)
	}
	return look.Blocker != 0
}

func (f *fixture) wantBlocked(t *testing.T, what string, want bool) {
	t.Helper()
	wantSame(t, "whether the switch is blocked, "+what, f.blocked(t, toNewer), want)
	f.switches(t, toNewer, !want)
}

// complete registers the newer version and makes its backfill complete.
func (f *fixture) complete(t *testing.T, tickets int) {
	t.Helper()
	f.registerVersion(t, newer)
	f.backfill(t, newer, 100, tickets)
}

// judgeNewer has the newer version process as many of the entries that wait for it, by
// accession, and gives the others back.
func (f *fixture) judgeNewer(t *testing.T, judged ...seqlease.ProcessingResult) {
	t.Helper()
	lease := f.claimNewer(t, 100)
	versions := claimed(lease)
	slices.SortFunc(versions, func(a, b seqlease.AccessionVersion) int { return cmp.Compare(a.Accession, b.Accession) })
	if len(versions) < len(judged) {
		t.Fatalf("the newer version got %v, want %d entries", versions, len(judged))
	}
	lines := make([]queue.Line, len(judged))
	for i, j := range judged {
		lines[i] = f.line(t, i+1, versions[i], lease.AttemptID, "newer "+versions[i].String(), j)
	}
	f.mustAcceptNewer(t, lines...)
	if left := len(versions) - len(judged); left > 0 {
		f.giveBack(t, lease.AttemptID, false, left)
	}
}

func switchEveryGood(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.process(t, seqlease.NoIssues, seqlease.HasErrors, seqlease.HasWarnings)
	f.approveAll(t)
	f.submit(t, 1) // waits for both
	f.complete(t, 4)
	f.wantCandidates(t, "with a complete backfill", toNewer)
	f.wantBlocked(t, "with nothing processed", true)
	f.judgeNewer(t, seqlease.HasWarnings, seqlease.HasErrors)
	f.wantBlocked(t, "with two of three processed", true)
	standing, err := f.Compare(t.Context(), toNewer)
	if err != nil {
		t.Fatalf("compare: %v", err)
	}
	wantSame(t, "standing", standing, reprocess.Standing{Current: 3, Candidate: 2})
	f.judgeNewer(t, seqlease.NoIssues)
	f.claimNewer(t, 1)
	if standing, err = f.Compare(t.Context(), toNewer); err != nil {
		t.Fatalf("compare: %v", err)
	}
	wantSame(t, "standing", standing, reprocess.Standing{Current: 3, Candidate: 3, Held: true})
	f.wantBlocked(t, "with all good ones processed", false)
	f.wantCandidates(t, "after the switch")
}

// switchUnfinished wants the last look of a switch to find whatever may have come to
// block it since all entries were looked at.
func switchUnfinished(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.process(t, seqlease.NoIssues)
	f.complete(t, 1)
	f.switches(t, toNewer, false)
	lease := f.claimNewer(t, 1)
	f.switches(t, toNewer, false)
	f.age(t, leaseTime)
	f.switches(t, toNewer, false)
	f.sweep(t)
	f.switches(t, toNewer, false)
	f.judgeNewer(t, seqlease.HasErrors)
	f.wantBlocked(t, "with errors", true)
	f.reprocess(t, queue.Selection{Organism: WestNile, PipelineVersion: newer, Entries: claimed(lease)}, 1)
	f.wantBlocked(t, "while it is processed again", true)
	f.putInQuarantine(t, queue.Selection{Organism: WestNile, PipelineVersion: newer, Entries: claimed(lease)}, 1)
	f.wantBlocked(t, "in quarantine", true)
	f.requeue(t, queue.Selection{Organism: WestNile, PipelineVersion: newer, Entries: claimed(lease)}, 1)
	f.judgeNewer(t, seqlease.HasWarnings)
	f.wantBlocked(t, "with warnings", false)
}

func switchCandidates(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.wantCandidates(t, "of the first version")
	f.process(t, seqlease.NoIssues)
	f.registerVersion(t, newer)
	f.registerVersion(t, newer+7)
	f.wantCandidates(t, "without their backfills")
	f.switches(t, toNewer, false)
	f.backfill(t, newer, 100, 1)
	f.backfill(t, newer+7, 100, 1)
	highest := reprocess.Candidate{Organism: WestNile, Current: 1, Version: newer + 7}
	f.wantCandidates(t, "of two", highest, toNewer)
	f.judgeNewer(t, seqlease.NoIssues)
	f.setPaused(t, newer, true)
	f.wantCandidates(t, "while one is paused", highest)
	f.switches(t, toNewer, false)
	f.setPaused(t, newer, false)
	f.switches(t, highest, false)
	f.switches(t, toNewer, true)
	highest.Current = newer
	f.wantCandidates(t, "after the switch", highest)
}

func switchOrganisms(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submitTo(t, CCHF, 3)
	c := ask(3)
	c.Organism = CCHF
	lease := f.claimAs(t, c)
	lines := f.lines(t, lease)
	s := results(lines...)
	s.Organism = CCHF
	if err := f.submitResults(t, s); err != nil {
		t.Fatalf("results of the other organism: %v", err)
	}
	f.process(t, seqlease.NoIssues)
	f.complete(t, 1)
	standing, err := f.Compare(t.Context(), toNewer)
	if err != nil {
		t.Fatalf("compare: %v", err)
	}
	wantSame(t, "standing", standing, reprocess.Standing{Current: 1})
	f.judgeNewer(t, seqlease.NoIssues)
	f.wantBlocked(t, "by another organism", false)
	versions, err := f.CurrentPipelineVersions(t.Context())
	if err != nil {
		t.Fatalf("current pipeline versions: %v", err)
	}
	wantSame(t, "current versions", versions, map[seqlease.Organism]seqlease.PipelineVersion{WestNile: newer, CCHF: 1})
}

func switchPages(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.process(t, seqlease.NoIssues, seqlease.NoIssues, seqlease.HasErrors, seqlease.NoIssues, seqlease.NoIssues)
	f.complete(t, 5)
	f.judgeNewer(t, seqlease.NoIssues, seqlease.NoIssues, seqlease.NoIssues, seqlease.NoIssues, seqlease.HasErrors)
	var looks []reprocess.Look
	for after := int64(0); ; {
		look, err := f.FindBlocker(t.Context(), toNewer, after, 2)
		if err != nil {
			t.Fatalf("look for a blocker: %v", err)
		}
		if looks = append(looks, look); look.Blocker != 0 || look.End {
			break
		}
		after = look.Last
	}
	if len(looks) != 3 || looks[0].Blocker+looks[1].Blocker != 0 || looks[2].Blocker != looks[2].Last {
		t.Errorf("looks of two entries each: %+v, want the last of five entries as the blocker", looks)
	}
	last := looks[2].Blocker
	for _, limit := range []int{1, 100} {
		look, err := f.FindBlocker(t.Context(), toNewer, last-1, limit)
		if err != nil || look.Blocker != last {
			t.Errorf("a look at %d from it on: %+v, %v, want it", limit, look, err)
		}
	}
}

func switchRevoked(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.releasedEntries(t, 3)
	deleted := f.process(t, seqlease.NoIssues)
	f.complete(t, 4)
	f.judgeNewer(t, seqlease.HasErrors, seqlease.HasErrors, seqlease.NoIssues)
	f.wantBlocked(t, "by two that fail and one that waits", true)
	f.mustDelete(t, deleted...)
	f.mustRevoke(t, versions[0].Accession, versions[1].Accession)
	f.wantBlocked(t, "while the revocations aren't released", true)
	f.approveAll(t)
	f.wantBlocked(t, "by revoked entries", false)
	_, released := f.released(t)
	wantSame(t, "released entries", len(released), 5)
}

func switchReprocessed(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues, seqlease.NoIssues)
	f.complete(t, 2)
	f.judgeNewer(t, seqlease.NoIssues, seqlease.NoIssues)
	f.reprocess(t, queue.Selection{Organism: WestNile, PipelineVersion: newer, Entries: versions}, 2)
	f.claimNewer(t, 1)
	f.wantBlocked(t, "by entries that are processed again", false)
}

func switchEdited(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.HasErrors)
	f.complete(t, 1)
	f.judgeNewer(t, seqlease.NoIssues)
	f.mustEdit(t, versions[0], submitted(7))
	lease := f.claim(t, 1)
	f.mustAccept(t, f.lines(t, lease)...)
	f.switches(t, toNewer, false)
	f.judgeNewer(t, seqlease.NoIssues)
	f.wantBlocked(t, "when the edited entry is processed", false)
}

func switchStale(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.process(t, seqlease.NoIssues)
	for _, c := range []reprocess.Candidate{
		{Organism: WestNile, Current: 1, Version: newer},
		{Organism: WestNile, Current: 1, Version: 1},
		{Organism: WestNile, Current: 0, Version: 1},
	} {
		switched, err := f.Switch(t.Context(), c)
		if err != nil || switched {
			t.Errorf("switch %+v: %t, %v, want that it isn't allowed", c, switched, err)
		}
	}
	f.complete(t, 1)
	f.judgeNewer(t, seqlease.NoIssues)
	f.switches(t, toNewer, true)
	f.registerVersion(t, newer+1)
	f.backfill(t, newer+1, 100, 1)
	for _, c := range []reprocess.Candidate{
		{Organism: WestNile, Current: newer, Version: 1},
		{Organism: WestNile, Current: 1, Version: newer + 1},
	} {
		switched, err := f.Switch(t.Context(), c)
		if err != nil || switched {
			t.Errorf("switch %+v: %t, %v, want that it isn't allowed", c, switched, err)
		}
	}
}

func switchOutdated(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.process(t, seqlease.NoIssues)
	f.complete(t, 1)
	f.judgeNewer(t, seqlease.NoIssues)
	f.switches(t, toNewer, true)
	for _, n := range []int{0, 1} {
		_, err := f.Claim(t.Context(), ask(n))
		wantError(t, err, seqlease.ErrPipelineOutdated)
	}
	r, err := f.RegisterVersion(t.Context(), WestNile, 1, ahead)
	if err != nil {
		t.Fatalf("register the old version: %v", err)
	}
	wantSame(t, "registration of the old version", r, reprocess.Registration{Current: newer})
	wantError(t, f.SetPaused(t.Context(), WestNile, 1, true, nil), seqlease.ErrPipelineUnknown)
	for _, version := range []seqlease.PipelineVersion{1, 77} {
		_, _, err = f.Reprocess(t.Context(), queue.Selection{Organism: WestNile, PipelineVersion: version, All: true}, 0, 10)
		wantError(t, err, seqlease.ErrPipelineUnknown)
	}
	awaited := []queue.Awaited{{Organism: WestNile, PipelineVersion: 1, Mark: "any"}}
	stirred, err := f.Stirred(t.Context(), awaited)
	if err != nil {
		t.Fatalf("stirred: %v", err)
	}
	wantSame(t, "whether who waits with the old version is told", stirred, []bool{true})
}

func switchLateResults(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues)
	f.approveAll(t)
	f.reprocess(t, queue.Selection{Organism: WestNile, Entries: versions}, 1)
	held := f.claim(t, 1)
	f.complete(t, 1)
	f.judgeNewer(t, seqlease.HasWarnings)
	f.switches(t, toNewer, true)
	mark := f.releasedMark(t)
	f.mustAccept(t, f.line(t, 1, versions[0], held.AttemptID, "late", seqlease.HasErrors))
	wantSame(t, "the mark of what is released", f.releasedMark(t), mark)
	_, released := f.released(t)
	wantSame(t, "the version of what is released", released[0].PipelineVersion, newer)
	listed, _ := f.list(t, submission.ListFilter{Organism: WestNile})
	wantSame(t, "the outcome", listed[0].Result, seqlease.HasWarnings)
}

// switchGiveBack has the workers of an old version stop after the switch, in each way.
func switchGiveBack(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.process(t, seqlease.NoIssues)
	f.submit(t, 4)
	whole, some, undelivered := f.claim(t, 1), f.claim(t, 2), f.claim(t, 1)
	f.complete(t, 5)
	f.judgeNewer(t, seqlease.NoIssues)
	f.switches(t, toNewer, true)
	f.giveBack(t, whole.AttemptID, true, 1)
	n, err := f.GiveBack(t.Context(), queue.GiveBack{
		AttemptID: some.AttemptID, Organism: WestNile, ClaimedBy: worker, Entries: claimed(some)[:1], Reason: "stopped",
	})
	if err != nil || n != 1 {
		t.Errorf("one of two given back: %d, %v", n, err)
	}
	f.giveBack(t, some.AttemptID, false, 1)
	if _, err := f.GiveBack(t.Context(), queue.GiveBack{AttemptID: undelivered.AttemptID, Undelivered: true}); err != nil {
		t.Errorf("an undelivered claim is given back: %v", err)
	}
	wantSame(t, "leases", len(f.leases(t, 10)), 0)
	_, err = f.Claim(t.Context(), ask(1))
	wantError(t, err, seqlease.ErrPipelineOutdated)
	wantSame(t, "claimed with the current version", len(f.claimNewer(t, 10).Entries), 4)
	f.retireAll(t, firstOfWestNile)
}

func switchTickets(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues, seqlease.HasErrors)
	f.approveAll(t)
	f.complete(t, 2)
	f.judgeNewer(t, seqlease.NoIssues, seqlease.HasErrors)
	f.switches(t, toNewer, true)
	f.registerVersion(t, newer+1)
	f.backfill(t, newer+1, 100, 2)
	more := f.submit(t, 2)
	f.mustEdit(t, versions[1], submitted(8))
	f.reconcile(t, 100, 0)
	wantSame(t, "claimed with the current version", len(f.claimNewer(t, 10).Entries), len(more)+1)
	newest := ask(10)
	newest.PipelineVersion = newer + 1
	wantSame(t, "claimed with the next version", len(f.claimAs(t, newest).Entries), len(more)+2)
}

func switchMarks(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.process(t, seqlease.NoIssues)
	f.approveAll(t)
	f.complete(t, 1)
	f.registerVersion(t, newer+1)
	f.backfill(t, newer+1, 100, 1)
	f.judgeNewer(t, seqlease.NoIssues)
	newest := ask(0)
	newest.PipelineVersion = newer + 1
	before := []string{f.releasedMark(t), f.claimNewer(t, 0).Mark, f.claimAs(t, newest).Mark}
	f.switches(t, toNewer, true)
	after := []string{f.releasedMark(t), f.claimNewer(t, 0).Mark, f.claimAs(t, newest).Mark}
	for i := range before {
		if after[i] <= before[i] {
			t.Errorf("mark %d is %q after %q: it doesn't rise", i, after[i], before[i])
		}
	}
	events, err := f.AuditLog(t.Context(), queue.AuditFilter{Action: seqlease.ActionSwitch}, 0, 10)
	if err != nil {
		t.Fatalf("audit log: %v", err)
	}
	if len(events) != 1 || events[0].User != seqlease.SystemUser || events[0].Organism != WestNile || events[0].Detail != "pipeline version 2 after 1" {
		t.Errorf("the audit log has %+v", events)
	}
}

func switchOperators(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.process(t, seqlease.NoIssues)
	waiting := f.submit(t, 3)
	f.putInQuarantine(t, queue.Selection{Organism: WestNile, PipelineVersion: 1, Entries: waiting[:1]}, 1)
	f.complete(t, 4)
	f.judgeNewer(t, seqlease.NoIssues, seqlease.HasErrors)
	f.switches(t, toNewer, true)
	wantSame(t, "in quarantine of live versions", len(f.inQuarantine(t)), 0)
	f.requeue(t, queue.Selection{Organism: WestNile, All: true}, 0)
	// The others wait for either version, and are put in quarantine for the newer one.
	f.putInQuarantine(t, queue.Selection{Organism: WestNile, All: true}, 2)
	for _, q := range f.inQuarantine(t) {
		wantSame(t, "version of the quarantine", q.PipelineVersion, newer)
	}
	f.putInQuarantine(t, queue.Selection{Organism: WestNile, PipelineVersion: 1, Entries: waiting}, 0)
	f.requeue(t, queue.Selection{Organism: WestNile, All: true}, 2)
	wantSame(t, "claimed", len(f.claimNewer(t, 10).Entries), 2)
}

func switchDeleteAll(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.process(t, seqlease.NoIssues)
	f.complete(t, 1)
	f.judgeNewer(t, seqlease.NoIssues)
	f.switches(t, toNewer, true)
	f.deleteAll(t, 1)
	f.process(t, seqlease.NoIssues)
	f.complete(t, 1)
	f.judgeNewer(t, seqlease.NoIssues)
	f.switches(t, toNewer, true)
	f.wantOutdated(t, 2)
}

func switchElsewhere(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.process(t, seqlease.NoIssues)
	f.complete(t, 1)
	f.judgeNewer(t, seqlease.NoIssues)
	other := f.second(t)
	wantSame(t, "claimed by the other server", len(other.claim(t, 1).Entries), 0)
	f.switches(t, toNewer, true)
	_, err := other.Claim(t.Context(), ask(1))
	wantError(t, err, seqlease.ErrPipelineOutdated)
	other.wantCandidates(t, "on the other server")
	versions, err := other.CurrentPipelineVersions(t.Context())
	if err != nil {
		t.Fatalf("current pipeline versions: %v", err)
	}
	wantSame(t, "the current version on the other server", versions[WestNile], newer)
}

func switchRegister(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.process(t, seqlease.NoIssues)
	f.complete(t, 1)
	f.judgeNewer(t, seqlease.NoIssues)
	f.switches(t, toNewer, true)
	f.retireAll(t, reprocess.Version{Organism: WestNile, PipelineVersion: 1})
	f.register(t, Organisms()...)
	f.wantOutdated(t, 1)
	wantSame(t, "claimed", len(f.claimNewer(t, 1).Entries), 0)
	f.submit(t, 1)
	wantSame(t, "claimed", len(f.claimNewer(t, 1).Entries), 1)
}
