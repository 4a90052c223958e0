package storetest

import (
	"crypto/sha256"
	"slices"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

func quarantineCases() []testCase {
	return []testCase{
		{name: "L9_QuarantineEndsSpentTickets", check: quarantineL9Ends},
		{name: "L9_B001_QuarantineTestsAgain", check: quarantineB001},
		{name: "L9_B001_QuarantineLeavesWhatWaitsAnew", check: quarantineB001Anew},
		{name: "L9_RequeuedEntryHasAllItsAttempts", check: quarantineL9Requeue},
		{name: "L10_EditTakesOutOfQuarantine", check: quarantineL10Edit},
		{name: "L10_DeleteTakesOutOfQuarantine", check: quarantineL10Delete},
		{name: "L9_SpentTellsWhatWentWrongLast", check: quarantineL9Failures},
		{name: "L9_TwoKeepersQuarantineOnce", needs: SecondStore, check: quarantineL9TwoKeepers},
	}
}

// systemResult is the packed result document whose one error is the reason.
func (f *fixture) systemResult(t *testing.T, reason string) queue.PackedResult {
	t.Helper()
	doc := document(seqlease.StoredResult{
		Errors: []seqlease.Annotation{{Message: reason}}, Warnings: []seqlease.Annotation{},
	})
	digest := sha256.Sum256(doc)
	return queue.PackedResult{Packed: f.pack(WestNile, doc), Digest: [16]byte(digest[:16])}
}

// spent sweeps and reads what is used up.
func (f *fixture) spent(t *testing.T) []queue.SpentTicket {
	t.Helper()
	f.sweep(t)
	spent, err := f.Spent(t.Context(), 1000)
	if err != nil {
		t.Fatalf("spent: %v", err)
	}
	slices.SortFunc(spent, func(a, b queue.SpentTicket) int { return a.Compare(b.AccessionVersion) })
	return spent
}

func spentEntries(spent []queue.SpentTicket) []seqlease.AccessionVersion {
	versions := make([]seqlease.AccessionVersion, len(spent))
	for i, s := range spent {
		versions[i] = s.AccessionVersion
	}
	return versions
}

// judge quarantines the tickets and wants that many to be as they were read.
func (f *fixture) judge(t *testing.T, spent []queue.SpentTicket, want int) {
	t.Helper()
	verdicts := make([]queue.Verdict, len(spent))
	for i, s := range spent {
		verdicts[i] = queue.Verdict{SpentTicket: s, Reason: usedUp, Result: f.systemResult(t, usedUp)}
	}
	n, err := f.Quarantine(t.Context(), verdicts)
	if err != nil {
		t.Fatalf("quarantine: %v", err)
	}
	wantSame(t, "tickets quarantined", n, want)
}

// usedUp is why the fixtures' keeper quarantines.
const usedUp = "preprocessing failed 5 times"

// quarantineSpent does what the keeper does.
func (f *fixture) quarantineSpent(t *testing.T) {
	t.Helper()
	spent := f.spent(t)
	f.judge(t, spent, len(spent))
}

// spoil submits n entries and uses up their attempts.
func (f *fixture) spoil(t *testing.T, n int) []seqlease.AccessionVersion {
	t.Helper()
	versions := f.submit(t, n)
	f.expire(t, n, queue.DefaultRetry.Attempts)
	return versions
}

// quarantined lists the quarantine of West Nile virus.
func (f *fixture) quarantined(t *testing.T) []queue.Quarantined {
	t.Helper()
	list, err := f.Quarantined(t.Context(), WestNile, 0, 1000)
	if err != nil {
		t.Fatalf("quarantined: %v", err)
	}
	return list
}

func quarantineL9Ends(t *testing.T, h Harness) {
	f := newFixture(t, h)
	before := f.now(t)
	versions := f.spoil(t, 3)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 3})
	f.judge(t, f.spent(t)[:2], 2)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 2, seqlease.Received: 1})
	_, counts := f.list(t, submission.ListFilter{Organism: WestNile})
	wantSame(t, "result counts", present(counts.Results), map[seqlease.ProcessingResult]int64{seqlease.HasErrors: 2})
	wantSame(t, "left", spentEntries(f.spent(t)), versions[2:])
	list := f.quarantined(t)
	wantSame(t, "quarantined", len(list), 2)
	for i, q := range list {
		wantBetween(t, "quarantined", q.At, before, f.now(t))
		wantSame(t, "failures", len(q.Failures), 5)
		q.At, q.Failures, q.EntryID = time.Time{}, nil, 0
		wantSame(t, "quarantined", q, queue.Quarantined{
			AccessionVersion: versions[i], PipelineVersion: 1, Attempts: 5, HandOuts: 5, Reason: usedUp,
		})
	}
	wantSame(t, "approved", f.approveAll(t), nil)
	f.age(t, 24*time.Hour)
	wantSame(t, "claimed", claimed(f.claim(t, 100)), nil)
}

// quarantineB001 has something happen between the keeper's look and its write:
// the write must touch only what is as it was read.
func quarantineB001(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.spoil(t, 6)
	spent := f.spent(t)
	wantSame(t, "used up", spentEntries(spent), versions)
	f.judge(t, spent[:1], 1)
	f.mustEdit(t, versions[0], submitted(50))                                    // 0: edited, and it waits again
	f.mustDelete(t, versions[1])                                                 // 1: deleted
	f.quarantineEntries(t, versions[2:4], 2)                                     // 2: quarantined by an operator,
	f.requeue(t, queue.Selection{Organism: WestNile, Entries: versions[3:4]}, 1) // 3: and requeued,
	lease := f.claim(t, 10)                                                      // and claimed
	wantOnce(t, counted(lease), []seqlease.AccessionVersion{versions[0], versions[3]})
	f.mustAccept(t, f.line(t, 1, versions[3], lease.AttemptID, "at last", seqlease.NoIssues))
	f.judge(t, spent, 2) // 4 and 5
	f.judge(t, spent, 0)
	wantStatus := map[seqlease.Status]int64{seqlease.InProcessing: 1, seqlease.Processed: 4}
	f.wantStatuses(t, wantStatus)
	f.mustAccept(t, f.line(t, 1, versions[0], lease.AttemptID, "of the edited data", seqlease.NoIssues))
	var by []string
	for _, q := range f.quarantined(t) {
		by = append(by, q.String()+" by "+q.By)
	}
	wantSame(t, "quarantined", by, []string{
		versions[2].String() + " by " + operatorName, versions[4].String() + " by ", versions[5].String() + " by ",
	})
}

// quarantineB001Anew judges entries that wait again since they were read: with
// fewer attempts, or with as many, but of another revision.
func quarantineB001Anew(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.spoil(t, 3)
	spent := f.spent(t)
	f.quarantineEntries(t, versions, 3)
	f.mustEdit(t, versions[0], submitted(50))
	f.expire(t, 1, queue.DefaultRetry.Attempts) // it is used up once more
	f.sweep(t)
	f.mustEdit(t, versions[1], submitted(51))
	f.requeue(t, queue.Selection{Organism: WestNile}, 1)
	f.judge(t, spent, 0)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 3})
	lease := f.claim(t, 10)
	wantOnce(t, counted(lease), versions[1:])
	f.mustAccept(t, f.lines(t, lease)...)
	f.quarantineSpent(t)
	f.wantResults(t, map[seqlease.ProcessingResult]int64{seqlease.HasErrors: 1, seqlease.NoIssues: 2})
}

func quarantineL9Requeue(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.spoil(t, 2)
	f.quarantineSpent(t)
	mark := f.mark(t)
	f.requeue(t, queue.Selection{Organism: WestNile}, 2)
	if f.mark(t) == mark {
		t.Error("the mark is the same before and after requeuing")
	}
	wantSame(t, "quarantined", f.quarantined(t), nil)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 2})
	lease := f.claim(t, 2)
	wantSame(t, "claimed", claimed(lease), versions)
	wantSame(t, "attempts", attempts(lease), []int{1, 1})
	f.mustAccept(t, f.lines(t, lease)...)
	f.wantResults(t, map[seqlease.ProcessingResult]int64{seqlease.NoIssues: 2})
	f.requeue(t, queue.Selection{Organism: WestNile}, 0)
}

func quarantineL10Edit(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.spoil(t, 1)
	f.quarantineSpent(t)
	f.mustEdit(t, versions[0], submitted(4))
	wantSame(t, "quarantined", f.quarantined(t), nil)
	lease := f.claim(t, 1)
	wantSame(t, "attempts", attempts(lease), []int{1})
	f.mustAccept(t, f.lines(t, lease)...)
	f.wantResults(t, map[seqlease.ProcessingResult]int64{seqlease.NoIssues: 1})
}

func quarantineL10Delete(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.spoil(t, 2)
	f.quarantineSpent(t)
	f.mustDelete(t, versions[0])
	list := f.quarantined(t)
	wantSame(t, "quarantined", len(list), 1)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 1})
}

func quarantineL9Failures(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 1)
	for i := range 12 { // uncounted, so that there are more than are told
		g := returned(f.claim(t, 1).AttemptID)
		g.Reason = string(rune('a' + i))
		if _, err := f.GiveBack(t.Context(), g); err != nil {
			t.Fatalf("give back: %v", err)
		}
		f.age(t, time.Second)
	}
	f.expire(t, 1, queue.DefaultRetry.Attempts)
	spent := f.spent(t)
	if len(spent) != 1 {
		t.Fatalf("%d tickets are used up, want 1", len(spent))
	}
	wantSame(t, "hand-outs", spent[0].HandOuts, 17)
	var told []string
	for i, failure := range spent[0].Failures {
		told = append(told, string(failure.Kind)+failure.Reason)
		if i > 0 && failure.At.After(spent[0].Failures[i-1].At) {
			t.Errorf("failure %d at %s is newer than the one before it", i, failure.At)
		}
	}
	expired := slices.Repeat([]string{string(queue.FailureExpired)}, 5)
	wantSame(t, "failures, newest first", told, append(expired, "given-backl", "given-backk", "given-backj", "given-backi", "given-backh"))
}

func quarantineL9TwoKeepers(t *testing.T, h Harness) {
	f := newFixture(t, h)
	other := f.second(t)
	const n = 40
	f.spoil(t, n)
	spent := f.spent(t)
	verdicts := make([]queue.Verdict, len(spent))
	for i, s := range spent {
		verdicts[i] = queue.Verdict{SpentTicket: s, Reason: usedUp, Result: f.systemResult(t, usedUp)}
	}
	counts := make(chan int, 2)
	for _, keeper := range []queue.KeeperStore{f.Store, other.Store} {
		go func() {
			n, err := keeper.Quarantine(t.Context(), verdicts)
			if err != nil {
				t.Errorf("quarantine: %v", err)
			}
			counts <- n
		}()
	}
	wantSame(t, "quarantined by both", <-counts+<-counts, n)
	f.wantResults(t, map[seqlease.ProcessingResult]int64{seqlease.HasErrors: n})
}
