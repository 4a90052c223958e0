package queue_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

func TestSelection_L16_LimitsAreChecked(t *testing.T) {
	t.Parallel()
	h := open(t, 1, nil)
	now := time.Now()
	for name, tc := range map[string]struct {
		selection queue.Selection
		field     string
	}{
		"no condition":      {queue.Selection{}, "all"},
		"version alone":     {queue.Selection{PipelineVersion: 1}, "all"},
		"negative version":  {queue.Selection{PipelineVersion: -1, All: true}, "pipelineVersion"},
		"too many entries":  {queue.Selection{Entries: make([]seqlease.AccessionVersion, queue.MaxEntries+1)}, "accessionVersions"},
		"long text":         {queue.Selection{ErrorContains: strings.Repeat("é", queue.MaxErrorText+1)}, "errorContains"},
		"unstorable text":   {queue.Selection{ErrorContains: "a\x00"}, "errorContains"},
		"unstorable worker": {queue.Selection{WorkerID: "\x1b[1m"}, "workerId"},
		"no time between":   {queue.Selection{SubmittedFrom: now, SubmittedTo: now}, "submittedTo"},
	} {
		tc.selection.Organism = fern
		for what, act := range map[string]func() (int, error){
			"quarantine": func() (int, error) { return h.Quarantine(t.Context(), tc.selection, "root", "") },
			"requeue":    func() (int, error) { return h.Requeue(t.Context(), tc.selection, "root", "") },
			"reprocess":  func() (int, error) { return h.Reprocess(t.Context(), tc.selection, "root", "") },
		} {
			if n, err := act(); n != 0 || !isInvalid(err, tc.field) {
				t.Errorf("%s, %s: got %d and %v, want %s invalid", what, name, n, err, tc.field)
			}
		}
	}
	if _, err := h.FreeLeases(t.Context(), queue.FreeLeases{Organism: fern, Reason: "x"}, "root"); !isInvalid(err, "processingAttemptIds") {
		t.Errorf("free leases without a condition: %v", err)
	}
	for name, err := range map[string]error{
		"quarantine": second(h.Quarantine(t.Context(), queue.Selection{Organism: "nowhere", All: true}, "root", "")),
		"free":       second(h.FreeLeases(t.Context(), queue.FreeLeases{Organism: "nowhere", WorkerID: "w"}, "root")),
		"pause":      h.Pause(t.Context(), "nowhere", 0, "root", ""),
		"paused":     second(h.Paused(t.Context(), "nowhere")),
		"leases":     second(h.Leases(t.Context(), "nowhere", nil, 1)),
		"list":       second(h.Quarantined(t.Context(), "nowhere", 0, 1)),
		"workers":    second(h.FailingWorkers(t.Context(), "nowhere")),
		"history":    second(h.History(t.Context(), "nowhere", seqlease.AccessionVersion{})),
	} {
		if !errors.Is(err, seqlease.ErrUnknownOrganism) {
			t.Errorf("%s: got %v, want %v", name, err, seqlease.ErrUnknownOrganism)
		}
	}
	for _, limit := range []int{0, queue.MaxPage + 1} {
		if _, err := h.Leases(t.Context(), fern, nil, limit); !isInvalid(err, "limit") {
			t.Errorf("limit %d: got %v", limit, err)
		}
	}
	if h.log.String() != "" {
		t.Errorf("the log tells of what was refused:\n%s", h.log)
	}
}

func second[T any](_ T, err error) error { return err }

func TestQuarantine_L16_GoesOnUntilAllIsDoneAndIsLoggedOnce(t *testing.T) {
	t.Parallel()
	const n = 2050 // more than two pages
	h := open(t, n, nil)
	h.claim(t, 10) // some are being worked on
	got, err := h.Quarantine(t.Context(), queue.Selection{Organism: fern, All: true}, "root", "wrong\x00 reference\x1b[31m")
	if err != nil || got != n {
		t.Fatalf("got %d and %v, want %d", got, err, n)
	}
	if got, want := h.states(t), map[string]int{"PROCESSED HAS_ERRORS": n}; !cmp.Equal(got, want) {
		t.Errorf("states: got %v, want %v", got, want)
	}
	list, err := h.Quarantined(t.Context(), fern, 0, queue.MaxPage)
	if err != nil || len(list) != queue.MaxPage {
		t.Fatalf("list: got %d and %v", len(list), err)
	}
	if q := list[0]; q.By != "root" || q.Reason != "an operator took this entry out of preprocessing: wrong\uFFFD reference" {
		t.Errorf("got %+v, want who and why", q)
	}
	var entries []seqlease.AccessionVersion
	for after := int64(0); ; {
		page, err := h.Quarantined(t.Context(), fern, after, queue.MaxPage)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, q := range page {
			entries = append(entries, q.AccessionVersion)
		}
		after = page[len(page)-1].EntryID
	}
	slices.Reverse(entries)
	for name, tc := range map[string]queue.Selection{
		"another text":     {ErrorContains: "something else"},
		"no entry listed":  {Entries: []seqlease.AccessionVersion{}},
		"an unknown entry": {Entries: []seqlease.AccessionVersion{{Accession: "NONE_1", Version: 1}}},
	} {
		tc.Organism = fern
		if n, err := h.Requeue(t.Context(), tc, "root", ""); err != nil || n != 0 {
			t.Errorf("requeue of %s: got %d and %v, want none", name, n, err)
		}
	}
	got, err = h.Requeue(t.Context(), queue.Selection{Organism: fern, Entries: entries, ErrorContains: "reference"}, "root", "fixed")
	if err != nil || got != n {
		t.Errorf("requeue: got %d and %v, want %d", got, err, n)
	}
	if lease := h.claim(t, n+1); len(lease.Entries) != n || lease.Entries[0].Attempt != 1 {
		t.Errorf("claimed %d after the requeue, want %d in their first attempt", len(lease.Entries), n)
	}
	log := h.log.String()
	if strings.Count(log, "action=quarantine") != 1 || strings.Count(log, "rows=2050") != 2 || !strings.Contains(log, "by=root") || !strings.Contains(log, "reason=fixed") {
		t.Errorf("the log doesn't say once who did what to how many:\n%s", log)
	}
}

func TestReprocess_V9_ByErrorText(t *testing.T) {
	t.Parallel()
	const n = 250 // more pages than one
	h := open(t, n, nil)
	lease := h.claim(t, n)
	var results []*seqlease.Result
	var wanted []seqlease.AccessionVersion
	for i, e := range lease.Entries {
		message := "no alignment"
		switch i % 3 {
		case 0:
			message = "primer mismatch at 100%"
			wanted = append(wanted, e.AccessionVersion)
		case 1:
			results = append(results, good(t, lease, i))
			continue
		}
		r := result(t, lease, i, `{"data":{}}`)
		r.Errors = []seqlease.Annotation{{Message: "first"}, {Message: message}}
		results = append(results, r)
	}
	if err := h.send(t, results...); err != nil {
		t.Fatal(err)
	}
	selection := queue.Selection{Organism: fern, ErrorContains: "mismatch at 100%", Entries: append(slices.Clone(wanted[:5]), lease.Entries[1].AccessionVersion, lease.Entries[2].AccessionVersion)}
	if got, err := h.Reprocess(t.Context(), selection, "root", "try again"); err != nil || got != 5 {
		t.Errorf("of seven listed ones: got %d and %v, want 5", got, err)
	}
	selection.Entries = nil
	if got, err := h.Reprocess(t.Context(), selection, "root", "try again"); err != nil || got != len(wanted)-5 {
		t.Errorf("of all: got %d and %v, want the other %d", got, err, len(wanted)-5)
	}
	again := h.claim(t, n)
	var got []seqlease.AccessionVersion
	for _, e := range again.Entries {
		got = append(got, e.AccessionVersion)
	}
	byAccession := func(a, b seqlease.AccessionVersion) int { return strings.Compare(a.String(), b.String()) }
	slices.SortFunc(got, byAccession)
	slices.SortFunc(wanted, byAccession)
	if !slices.Equal(got, wanted) {
		t.Errorf("got %v to be processed again, want %v", got, wanted)
	}
	if strings.Count(h.log.String(), "action=reprocess") != 2 {
		t.Errorf("want two messages:\n%s", h.log)
	}
}

func TestFreeLeases_L16(t *testing.T) {
	t.Parallel()
	h := open(t, 6, nil)
	first, rest := h.claim(t, 2), h.claim(t, 4)
	leases, err := h.Leases(t.Context(), fern, nil, 10)
	if err != nil || len(leases) != 2 || leases[0].AttemptID != first.AttemptID || leases[0].Entries != 2 || leases[0].WorkerID != "w1" {
		t.Errorf("leases: got %+v and %v", leases, err)
	}
	free := queue.FreeLeases{Organism: fern, Entries: []seqlease.AccessionVersion{first.Entries[0].AccessionVersion}, Reason: "stuck\x00"}
	if n, err := h.FreeLeases(t.Context(), free, "root"); err != nil || n != 1 {
		t.Errorf("one entry: got %d and %v", n, err)
	}
	if n, err := h.FreeLeases(t.Context(), queue.FreeLeases{Organism: fern, WorkerID: "w1"}, "root"); err != nil || n != 5 {
		t.Errorf("the worker's: got %d and %v, want 5", n, err)
	}
	if err := h.send(t, good(t, rest, 0)); !errors.Is(err, seqlease.ErrLeaseLost) {
		t.Errorf("result of a freed lease: got %v, want %v", err, seqlease.ErrLeaseLost)
	}
	history, err := h.History(t.Context(), fern, first.Entries[0].AccessionVersion)
	if err != nil || len(history.Claims) != 1 || len(history.Failures) != 1 || history.Failures[0].Kind != queue.FailureFreed || history.Failures[0].Reason != "stuck\uFFFD" {
		t.Errorf("history: got %+v and %v, want a claim that was freed", history, err)
	}
	if _, err := h.History(t.Context(), fern, seqlease.AccessionVersion{Accession: "NONE_1", Version: 1}); !errors.Is(err, seqlease.ErrNotFound) {
		t.Errorf("history of nothing: got %v, want %v", err, seqlease.ErrNotFound)
	}
	workers, err := h.FailingWorkers(t.Context(), fern)
	if err != nil || len(workers) != 1 || workers[0].WorkerID != "w1" || workers[0].Failures != 6 {
		t.Errorf("failing workers: got %+v and %v, want w1 with six", workers, err)
	}
	if n := strings.Count(h.log.String(), `action="free leases"`); n != 2 {
		t.Errorf("%d messages, want 2:\n%s", n, h.log)
	}
}

func TestPause_L16(t *testing.T) {
	t.Parallel()
	h := open(t, 2, nil)
	if err := h.Pause(t.Context(), fern, 1, "root", "upgrade"); err != nil {
		t.Fatal(err)
	}
	if lease := h.claim(t, 2); !lease.Paused || len(lease.Entries) != 0 {
		t.Errorf("got %+v, want nothing and that it is paused", lease)
	}
	state, err := h.Paused(t.Context(), fern)
	if want := (queue.PauseState{Versions: []seqlease.PipelineVersion{1}}); err != nil || !cmp.Equal(state, want) {
		t.Errorf("got %+v and %v, want %+v", state, err, want)
	}
	if err := h.Resume(t.Context(), fern, 1, "root", "done"); err != nil {
		t.Fatal(err)
	}
	if lease := h.claim(t, 2); lease.Paused || len(lease.Entries) != 2 {
		t.Errorf("got %+v, want both entries", lease)
	}
	if err := h.Pause(t.Context(), fern, 7, "root", ""); !errors.Is(err, seqlease.ErrPipelineUnknown) {
		t.Errorf("got %v, want %v", err, seqlease.ErrPipelineUnknown)
	}
	if err := h.Pause(t.Context(), fern, -1, "root", ""); !isInvalid(err, "version") {
		t.Errorf("got %v, want the version invalid", err)
	}
	log := h.log.String()
	if strings.Count(log, "action=pause") != 1 || !strings.Contains(log, "reason=upgrade") || strings.Count(log, "action=resume") != 1 {
		t.Errorf("the log doesn't say who paused and resumed:\n%s", log)
	}
}
