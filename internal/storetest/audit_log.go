package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// auditCases check what the audit log says of operators, and how it is read (L16).
func auditCases() []testCase {
	return []testCase{
		{name: "L16_OperatorsCallIsOneRowThatCountsItsPages", check: auditPages},
		{name: "L16_OperatorsCallThatEndsMidwayIsNoted", check: auditMidway},
		{name: "L16_CallThatChangesNothingLeavesNoRow", check: auditNothing},
		{name: "L16_PauseAndResumeAreNoted", check: auditPause},
		{name: "Audit_FiltersTakeWhatEveryConditionTakes", check: auditFilters},
		{name: "Audit_ComesInPagesNewestFirst", check: auditReadPages},
	}
}

// note begins the row of an operator's call.
func note(detail string) *queue.OperatorNote {
	return &queue.OperatorNote{By: operatorName, Detail: detail}
}

// audit reads the rows of operators that the filter takes, newest first.
func (f *fixture) audit(t *testing.T, filter queue.AuditFilter) []seqlease.AuditEvent {
	t.Helper()
	filter.User = operatorName
	events, err := f.AuditLog(t.Context(), filter, 0, 1000)
	if err != nil {
		t.Fatalf("audit log: %v", err)
	}
	return events
}

// wantAudit checks the rows of operators, but for their numbers and instants.
func (f *fixture) wantAudit(t *testing.T, what string, want ...seqlease.AuditEvent) {
	t.Helper()
	for i := range want {
		want[i].User, want[i].Organism = operatorName, WestNile
	}
	got := f.audit(t, queue.AuditFilter{})
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(seqlease.AuditEvent{}, "Number", "At"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("audit log %s (-want +got):\n%s", what, diff)
	}
}

func auditPages(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 7)
	for range 7 {
		f.claim(t, 1)
	}
	begun := f.now(t)
	f.free(t, queue.FreeLeases{Organism: WestNile, WorkerID: "worker 1", Note: note("freed")}, 7)
	all := queue.Selection{Organism: WestNile, All: true, Note: note("put")}
	wantSame(t, "quarantined", f.quarantining(t)(all, 3), 7)
	if all.Note.Number == 0 {
		t.Error("the number of the row is unknown after the call")
	}
	all.Note = note("taken out")
	wantSame(t, "requeued", f.requeueing(t)(all, 2), 7)
	f.mustAccept(t, f.lines(t, f.claim(t, 3))...)
	all.Note = note("again")
	wantSame(t, "to be processed again", f.reprocessing(t)(all, 1), 3)
	f.wantAudit(t, "after all calls",
		seqlease.AuditEvent{Action: seqlease.ActionReprocess, Entries: 3, Detail: "again"},
		seqlease.AuditEvent{Action: seqlease.ActionRequeue, Entries: 7, Detail: "taken out"},
		seqlease.AuditEvent{Action: seqlease.ActionQuarantine, Entries: 7, Detail: "put"},
		seqlease.AuditEvent{Action: seqlease.ActionFreeLeases, Entries: 7, Detail: "freed"})
	for _, e := range f.audit(t, queue.AuditFilter{}) {
		wantBetween(t, string(e.Action), e.At, begun, f.now(t))
	}
}

// auditMidway makes only the first page of a call.
func auditMidway(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 5)
	verdict := queue.OperatorVerdict{By: operatorName, Reason: byOperator, Result: f.systemResult(t, byOperator)}
	all := queue.Selection{Organism: WestNile, All: true, Note: note("all of it")}
	if n, last, err := f.PutInQuarantine(t.Context(), all, verdict, 0, 2); n != 2 || last == 0 || err != nil {
		t.Fatalf("the first page: %d entries, last %d, %v", n, last, err)
	}
	f.wantAudit(t, "after the first page", seqlease.AuditEvent{Action: seqlease.ActionQuarantine, Entries: 2, Detail: "all of it"})
}

func auditNothing(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 2)
	all := queue.Selection{Organism: WestNile, All: true, Note: note("nothing is there")}
	f.requeue(t, all, 0)
	f.reprocess(t, all, 0)
	none := queue.Selection{Organism: WestNile, WorkerID: "nobody", Note: note("nobody's")}
	wantSame(t, "quarantined", f.quarantining(t)(none, 10), 0)
	f.free(t, queue.FreeLeases{Organism: WestNile, WorkerID: "nobody", Note: note("nobody's")}, 0)
	wantError(t, f.SetPaused(t.Context(), WestNile, 7, true, note("unknown")), seqlease.ErrPipelineUnknown)
	f.wantAudit(t, "after calls that changed nothing")
	f.quarantineEntries(t, f.submit(t, 1), 1) // without a note
	f.wantAudit(t, "after a call without a note")
}

func auditPause(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for _, step := range []struct {
		version seqlease.PipelineVersion
		paused  bool
		detail  string
	}{{0, true, "all"}, {1, true, "one"}, {1, false, "one again"}, {0, false, "all again"}} {
		if err := f.SetPaused(t.Context(), WestNile, step.version, step.paused, note(step.detail)); err != nil {
			t.Fatalf("set paused: %v", err)
		}
	}
	f.wantAudit(t, "of pauses",
		seqlease.AuditEvent{Action: seqlease.ActionResume, Detail: "all again"}, seqlease.AuditEvent{Action: seqlease.ActionResume, Detail: "one again"},
		seqlease.AuditEvent{Action: seqlease.ActionPause, Detail: "one"}, seqlease.AuditEvent{Action: seqlease.ActionPause, Detail: "all"})
	f.wantPaused(t, queue.PauseState{})
}

// pauseFor notes a pause by the user.
func (f *fixture) pauseFor(t *testing.T, o seqlease.Organism, user string) {
	t.Helper()
	if err := f.SetPaused(t.Context(), o, 0, true, &queue.OperatorNote{By: user, Detail: "by " + user}); err != nil {
		t.Fatalf("pause: %v", err)
	}
}

func auditFilters(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.pauseFor(t, WestNile, "olga")
	f.pauseFor(t, WestNile, "Olga")
	f.age(t, time.Hour)
	f.pauseFor(t, CCHF, "olga")
	now := f.now(t)
	paused := seqlease.ActionPause
	for name, tc := range map[string]struct {
		filter queue.AuditFilter
		want   int
	}{
		"action":                  {queue.AuditFilter{Action: paused}, 3},
		"user, byte for byte":     {queue.AuditFilter{User: "olga", Action: paused}, 2},
		"organism":                {queue.AuditFilter{Organism: CCHF, Action: paused}, 1},
		"organism and user":       {queue.AuditFilter{Organism: WestNile, User: "Olga"}, 1},
		"another action":          {queue.AuditFilter{User: "olga", Action: seqlease.ActionResume}, 0},
		"from":                    {queue.AuditFilter{From: now.Add(-time.Minute), Action: paused}, 1},
		"to":                      {queue.AuditFilter{To: now.Add(-time.Minute), Action: paused}, 2},
		"from and to":             {queue.AuditFilter{From: now.Add(-2 * time.Hour), To: now.Add(time.Minute), User: "olga"}, 2},
		"before everything":       {queue.AuditFilter{To: now.Add(-2 * time.Hour)}, 0},
		"an accession without":    {queue.AuditFilter{Accession: "LOC_1", User: "olga"}, 0},
		"a group without":         {queue.AuditFilter{GroupID: 4711}, 0},
		"an unknown user":         {queue.AuditFilter{User: "nobody"}, 0},
		"a part of the user name": {queue.AuditFilter{User: "olg"}, 0},
	} {
		events, err := f.AuditLog(t.Context(), tc.filter, 0, 100)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		wantSame(t, name, len(events), tc.want)
	}
	_, err := f.AuditLog(t.Context(), queue.AuditFilter{Organism: "measles"}, 0, 10)
	wantError(t, err, seqlease.ErrUnknownOrganism)
}

func auditReadPages(t *testing.T, h Harness) {
	f := newFixture(t, h)
	const rows = 5
	for range rows {
		f.pauseFor(t, WestNile, "olga")
	}
	var all []int64
	for before := int64(0); ; {
		page, err := f.AuditLog(t.Context(), queue.AuditFilter{User: "olga"}, before, 2)
		if err != nil {
			t.Fatalf("audit log: %v", err)
		}
		for _, e := range page {
			all = append(all, e.Number)
			before = e.Number
		}
		if len(page) < 2 {
			break
		}
	}
	wantSame(t, "rows in pages", len(all), rows)
	for i := range all[1:] {
		if all[i] <= all[i+1] {
			t.Errorf("row %d comes before row %d, want the newest first", all[i], all[i+1])
		}
	}
}
