package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/httpapi"
)

// history asks for the history of an entry of zika.
func (d *door) history(t *testing.T, token string, av seqlease.AccessionVersion) httpapi.EntryHistory {
	t.Helper()
	var h httpapi.EntryHistory
	d.call(t, "GET", historyPath("zika", av), token, nil).want(t, 200).into(t, &h)
	return h
}

func historyPath(organism string, av seqlease.AccessionVersion) string {
	return fmt.Sprintf("/%s/entries/%s/%d/history", organism, av.Accession, av.Version)
}

// claimAs claims up to n entries of zika for a worker.
func (d *door) claimAs(t *testing.T, workerID string, n int, headers ...string) answer {
	t.Helper()
	return d.call(t, "POST", fmt.Sprintf("/zika/extract-unprocessed-data?numberOfSequenceEntries=%d&pipelineVersion=1&workerId=%s", n, workerID), pipe, nil, headers...).want(t, 200)
}

func TestLeases_L16_AreListedInPagesAndFreed(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		d.submit(t, d.newGroup(t, anna), 9, 20)
		var held []seqlease.Entry
		for i := range 3 {
			held = append(held, entriesOf(t, d.claimAs(t, fmt.Sprintf("w%d", i), 3).body)...)
		}
		var all []httpapi.HeldLease
		pages := 0
		for after := ""; ; pages++ {
			var page httpapi.LeaseList
			d.call(t, "GET", "/zika/leases?limit=2&after="+after, root, nil).want(t, 200).into(t, &page)
			if (page.FailingWorkers != nil) != (after == "") {
				t.Errorf("page %d: failing workers %v", pages, page.FailingWorkers)
			}
			all = append(all, page.Leases...)
			if page.Next == nil {
				break
			}
			after = *page.Next
		}
		if len(all) != 3 || pages != 1 {
			t.Fatalf("%d leases in %d more pages", len(all), pages)
		}
		for i, l := range all {
			first := held[3*i]
			if l.ProcessingAttemptId != first.AttemptID || l.WorkerId != fmt.Sprintf("w%d", i) || l.ClaimedBy != pipe || l.Ended ||
				l.Entries != 3 || l.Claimed != 3 || len(l.First) != 3 || l.First[0] != first.AccessionVersion || l.PipelineVersion != 1 {
				t.Errorf("lease %d: %+v", i, l)
			}
			if d := l.LeaseUntil.Sub(l.ClaimedAt); d != 10*time.Minute {
				t.Errorf("lease %d runs for %s", i, d)
			}
		}
		for _, tt := range []struct {
			body string
			want int
		}{
			{`{"workerId":"nobody"}`, 0},
			{`{"workerId":"w0","processingAttemptIds":["` + held[3].AttemptID.String() + `"]}`, 0},
			{`{"workerId":"w0","reason":"hangs"}`, 3},
			{`{"accessionVersions":` + jsonList(held[3]) + `}`, 1},
			{`{"processingAttemptIds":["` + held[3].AttemptID.String() + `","` + held[6].AttemptID.String() + `"]}`, 5},
		} {
			var got httpapi.FreedLeases
			d.post(t, "leases/free", root, tt.body).want(t, 200).into(t, &got)
			if got.Freed != tt.want {
				t.Errorf("%s: %d freed, want %d", tt.body, got.Freed, tt.want)
			}
		}
		if again := d.claim(t, pipe2, 100); len(again) == 0 || again[0].Attempt != 2 {
			t.Errorf("claimed %+v, want entries in their second attempt", again)
		}
		if f := d.history(t, root, held[0].AccessionVersion).Failures; len(f) != 1 || f[0].Kind != "freed" || f[0].Reason != "hangs" {
			t.Errorf("failures of a freed entry: %+v", f)
		}
		if !strings.Contains(d.log.String(), "by=root") {
			t.Error("the log doesn't tell who freed leases")
		}
	})
}

func TestQuarantine_L16_InOutAndAgain(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		d.submit(t, d.newGroup(t, anna), 5, 20)
		mine := d.claim(t, pipe, 2)
		changed := func(path, body string) int {
			t.Helper()
			var got struct{ Quarantined, Requeued int }
			d.post(t, path, root, body).want(t, 200).into(t, &got)
			return got.Quarantined + got.Requeued
		}
		if n := changed("quarantine", `{"accessionVersions":`+jsonList(mine[0])+`,"reason":"looks like <b>spam</b>"}`); n != 1 {
			t.Errorf("%d quarantined, want 1", n)
		}
		if n := changed("quarantine", `{"all":true}`); n != 4 {
			t.Errorf("%d quarantined, want 4", n)
		}
		d.sendResults(t, resultOf(mine[1])).problem(t, 422)
		var listed []httpapi.QuarantinedEntry
		for after := ""; ; {
			var page httpapi.QuarantineList
			d.call(t, "GET", "/zika/quarantine?limit=2&after="+after, root, nil).want(t, 200).into(t, &page)
			listed = append(listed, page.Entries...)
			if page.Next == nil {
				break
			}
			after = *page.Next
		}
		if len(listed) != 5 || listed[0].Accession != mine[0].Accession || listed[0].QuarantinedBy != root || !strings.Contains(listed[0].Reason, "<b>spam</b>") {
			t.Errorf("listed %+v", listed)
		}
		var list struct {
			SequenceEntries []struct{ Status, ProcessingResult string }
		}
		d.call(t, "GET", "/zika/get-sequences", anna, nil).want(t, 200).into(t, &list)
		for _, e := range list.SequenceEntries {
			if e.Status != "PROCESSED" || e.ProcessingResult != "HAS_ERRORS" {
				t.Errorf("the submitter sees %+v", e)
			}
		}
		if n := changed("quarantine/requeue", `{"errorContains":"spam"}`); n != 1 {
			t.Errorf("%d requeued by their reason, want 1", n)
		}
		if again := d.claim(t, pipe, 5); len(again) != 1 || again[0].Attempt != 1 {
			t.Errorf("claimed %+v, want one entry in its first attempt", again)
		} else {
			d.sendResults(t, resultOf(again[0])).want(t, 204)
		}
		if n := changed("quarantine/requeue", `{"all":true,"reason":"try again"}`); n != 4 {
			t.Errorf("%d requeued, want 4", n)
		}
		if n := changed("reprocess", `{"submittedFrom":"2020-01-01T00:00:00Z","pipelineVersion":1}`); n != 1 {
			t.Errorf("%d reprocessed, want 1", n)
		}
		for _, path := range []string{"quarantine", "quarantine/requeue"} {
			if n := changed(path, `{"all":true,"submittedTo":"2020-01-01T00:00:00Z"}`); n != 0 {
				t.Errorf("%s: %d of long ago changed", path, n)
			}
		}
		if n := changed("reprocess", `{"submittedTo":"2020-01-01T00:00:00+01:00"}`); n != 0 {
			t.Errorf("%d of long ago reprocessed", n)
		}
		if got := d.claim(t, pipe, 10); len(got) != 5 {
			t.Errorf("claimed %d, want all 5 again", len(got))
		}
	})
}

// TestOperators_Bodies has what the door refuses by itself, on one store.
func TestOperators_Bodies(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	selections := []string{"quarantine", "quarantine/requeue", "reprocess"}
	for _, tt := range []struct {
		paths  []string
		body   string
		status int
		words  []string
	}{
		{selections, `{}`, 400, []string{"no condition", "all: true"}},
		{selections, `{"all":false,"reason":"x","pipelineVersion":1}`, 400, []string{"no condition"}},
		{selections, `{"workerId":""}`, 400, []string{"no condition"}},
		{selections, `{"all":"true"}`, 400, []string{"all"}},
		{selections, `{"all":1}`, 400, []string{"all"}},
		{selections, `{"errorContains":{}}`, 400, []string{"errorContains"}},
		{selections, `{"errorContains":"a\u0000"}`, 400, []string{"errorContains"}},
		{selections, `{"errorContains":"` + strings.Repeat("x", 1001) + `"}`, 400, []string{"errorContains"}},
		{selections, `{"accessionVersions":"LOC_1.1"}`, 400, []string{"accessionVersions"}},
		{selections, `{"accessionVersions":[null]}`, 400, []string{"accessionVersions"}},
		{selections, `{"all":true,"pipelineVersion":0}`, 400, []string{"pipelineVersion"}},
		{selections, `{"submittedFrom":"yesterday"}`, 400, []string{"submittedFrom"}},
		{selections, `{"submittedFrom":"2026-01-02T00:00:00Z","submittedTo":"2026-01-01T00:00:00Z"}`, 400, []string{"submittedTo"}},
		{selections, `{"all":true,"processingAttemptIds":[]}`, 400, []string{"processingAttemptIds", "workerId"}},
		{selections, `{"all":true`, 400, []string{"JSON"}},
		{selections, `{"x":"` + strings.Repeat("x", 33<<20) + `"}`, 413, nil},
		{[]string{"leases/free"}, `{}`, 400, []string{"processingAttemptIds", "workerId"}},
		{[]string{"leases/free"}, `{"all":true}`, 400, []string{"workerId"}},
		{[]string{"leases/free"}, `{"workerId":"w","errorContains":"x"}`, 400, []string{"errorContains"}},
		{[]string{"leases/free"}, `{"processingAttemptIds":["x"]}`, 400, []string{"processingAttemptId"}},
		{[]string{"leases/free"}, `{"processingAttemptIds":[null]}`, 400, []string{"processingAttemptIds"}},
		{[]string{"pause", "resume"}, `{"reason":[]}`, 400, []string{"reason"}},
		{[]string{"pipelines/0/pause", "pipelines/-1/resume", "pipelines/x/pause"}, `{}`, 400, []string{"version"}},
		{[]string{"pipelines/7/pause", "pipelines/7/resume"}, `{}`, 422, []string{"7"}},
	} {
		for _, path := range tt.paths {
			t.Logf("%s %.100s", path, tt.body)
			d.post(t, path, root, tt.body).problem(t, tt.status, tt.words...)
		}
	}
	for path, word := range map[string]string{
		"leases?limit=0": "limit", "leases?limit=1001": "limit", "leases?limit=x": "limit", "leases?after=x": "after",
		"leases?after=2026-01-01T00:00:00Z_": "after", "quarantine?after=x": "after", "quarantine?after=-1": "after", "quarantine?limit=-1": "limit",
	} {
		d.call(t, "GET", "/zika/"+path, root, nil).problem(t, 400, word)
	}
	for _, path := range []string{"leases", "quarantine"} {
		d.call(t, "GET", "/nowhere/"+path, root, nil).problem(t, 400, "nowhere")
	}
	for body, paths := range map[string][]string{
		`{"all":true,"workerId":"w"}`: selections, `{"workerId":"w"}`: {"leases/free"},
		`{"reason":"w"}`: {"pause", "resume", "pipelines/1/pause", "pipelines/1/resume"},
	} {
		for _, path := range paths {
			d.call(t, "POST", "/nowhere/"+path, root, strings.NewReader(body), "Content-Type", "application/json").problem(t, 400, "nowhere")
		}
	}
}

func TestPause_L16_StopsClaimsAlone(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		d.submit(t, d.newGroup(t, anna), 3, 20)
		mine := d.claim(t, pipe, 1)
		var state httpapi.PauseState
		d.call(t, "POST", "/zika/pause", root, nil).want(t, 200).into(t, &state) // the body may be missing
		if want := (httpapi.PauseState{Paused: true, PausedPipelineVersions: []seqlease.PipelineVersion{}}); !cmp.Equal(state, want) {
			t.Errorf("state %+v, want %+v", state, want)
		}
		if got := d.claim(t, pipe, 5); len(got) != 0 {
			t.Errorf("claimed %d entries of a paused organism", len(got))
		}
		d.post(t, "renew-lease", pipe, ofAttempt(mine[0].AttemptID, "")).want(t, 200)
		d.sendResults(t, resultOf(mine[0])).want(t, 204)
		var version httpapi.PipelineState
		d.post(t, "pipelines/1/pause", root, `{"reason":"bad reference"}`).want(t, 200).into(t, &version)
		if version.PipelineVersion != 1 || !version.Paused {
			t.Errorf("version %+v", version)
		}
		d.post(t, "resume", root, `{}`).want(t, 200).into(t, &state)
		if want := (httpapi.PauseState{PausedPipelineVersions: []seqlease.PipelineVersion{1}}); !cmp.Equal(state, want) {
			t.Errorf("state %+v, want %+v", state, want)
		}
		if got := d.claim(t, pipe, 5); len(got) != 0 {
			t.Errorf("claimed %d entries for a paused version", len(got))
		}
		for _, path := range []string{"pipelines/7/pause", "pipelines/7/resume"} {
			d.post(t, path, root, `{}`).problem(t, 422, "7")
		}
		d.post(t, "pipelines/1/resume", root, `{}`).want(t, 200).into(t, &version)
		if got := d.claim(t, pipe, 5); len(got) != 2 || version.Paused {
			t.Errorf("claimed %d entries, want 2; version %+v", len(got), version)
		}
	})
}

// TestHistory_B095_IsForTheGroup compares what strangers are told with what is
// told of an entry that doesn't exist.
func TestHistory_B095_IsForTheGroup(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		d.submit(t, d.newGroup(t, anna), 1, 20)
		first := entriesOf(t, d.claimAs(t, "w1", 1).body)[0]
		d.post(t, "return-lease", pipe, ofAttempt(first.AttemptID, `,"countsAsAttempt":true,"reason":"no memory"`)).want(t, 200)
		second := entriesOf(t, d.claimAs(t, "w2", 1).body)[0]
		av := first.AccessionVersion
		h := d.history(t, anna, av)
		if len(h.Claims) != 2 || h.Claims[1].LeaseUntil == nil || h.Claims[0].LeaseUntil != nil || h.Claims[1].AcceptedAt != nil {
			t.Errorf("while it is worked on: %+v", h.Claims)
		}
		d.sendResults(t, resultOf(second)).want(t, 204)
		for _, token := range []string{anna, root} {
			h = d.history(t, token, av)
			if len(h.Claims) != 2 || len(h.Failures) != 1 || h.Accession != av.Accession || h.Version != av.Version {
				t.Fatalf("as %s: %+v", token, h)
			}
			accepted := h.Claims[1]
			if accepted.AcceptedAt == nil || accepted.ProcessingAttemptId != second.AttemptID || accepted.Attempt != 2 || accepted.WorkerId != "w2" ||
				accepted.LeaseSeconds != 600 || accepted.Entries != 1 || h.Claims[0].AcceptedAt != nil {
				t.Errorf("as %s: claims %+v", token, h.Claims)
			}
			if f := h.Failures[0]; f.Kind != "given-back" || f.Reason != "no memory" || f.WorkerId != "w1" || f.ClaimedBy != pipe || f.ProcessingAttemptId != first.AttemptID {
				t.Errorf("as %s: failure %+v", token, f)
			}
		}
		never := seqlease.AccessionVersion{Accession: "LOC_000009X", Version: 1}
		plain := func(token, organism string, av seqlease.AccessionVersion) string {
			t.Helper()
			a := d.call(t, "GET", historyPath(organism, av), token, nil)
			p := a.problem(t, 404)
			return strings.NewReplacer(av.String(), "ENTRY", organism, "ORGANISM").Replace(p.Type + " " + p.Detail)
		}
		want := plain(bob, "zika", never)
		for _, got := range []string{
			plain(bob, "zika", av), plain(pipe, "zika", av), plain(anna, "zika", never), plain(root, "zika", never), plain(anna, "cchf", av),
			plain(root, "cchf", av), plain(anna, "zika", seqlease.AccessionVersion{Accession: av.Accession, Version: 2}),
		} {
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		d.call(t, "GET", "/zika/entries/%00/1/history", anna, nil).problem(t, 404)
		d.call(t, "GET", "/zika/entries/LOC_1/x/history", anna, nil).problem(t, 400, "version")
	})
}

// TestClaim_L9_SlowsDownWhoFailsEverything has a worker that gives every batch
// back as bad.
func TestClaim_L9_SlowsDownWhoFailsEverything(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		d.submit(t, d.newGroup(t, anna), 30, 20)
		for i := range 6 {
			a := d.claimAs(t, "broken", 2)
			if after := a.Header.Get("Retry-After"); after != "" {
				if i < 5 || len(a.body) != 0 || a.Header.Get("ETag") != `""` {
					t.Errorf("claim %d: Retry-After %s, ETag %q, body %q", i, after, a.Header.Get("ETag"), a.body)
				}
				continue
			}
			entries := entriesOf(t, a.body)
			if len(entries) == 0 || i >= 5 {
				t.Fatalf("claim %d has %d entries", i, len(entries))
			}
			d.post(t, "return-lease", pipe, ofAttempt(entries[0].AttemptID, `,"countsAsAttempt":true,"reason":"libgcc is missing"`)).want(t, 200)
		}
		// The tag of such an answer matches nothing: what waits is not "not modified".
		again := d.claimAs(t, "broken", 2, "If-None-Match", `""`)
		if again.StatusCode != http.StatusOK || again.Header.Get("Retry-After") == "" || again.Header.Get("ETag") != `""` {
			t.Errorf("with its tag: %s, Retry-After %q, ETag %q", again.Status, again.Header.Get("Retry-After"), again.Header.Get("ETag"))
		}
		if a := d.claimAs(t, "healthy", 2, "If-None-Match", `""`); len(a.body) == 0 || a.Header.Get("Retry-After") != "" {
			t.Error("another worker is slowed down, too")
		}
		var list httpapi.LeaseList
		d.call(t, "GET", "/zika/leases", root, nil).want(t, 200).into(t, &list)
		if workers := *list.FailingWorkers; len(workers) != 1 || workers[0].WorkerId != "broken" || workers[0].Failures < 5 || workers[0].LastReason != "libgcc is missing" {
			t.Errorf("failing workers %+v", workers)
		}
	})
}

// TestClaim_B022_ADamagedEntryIsGivenBack spoils what is stored of one of three
// entries: the others are served, and it doesn't wait for the lease end.
func TestClaim_B022_ADamagedEntryIsGivenBack(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		stored := d.submit(t, d.newGroup(t, anna), 3, 20)
		accession := fmt.Sprintf(" WHERE accession = '%s'", stored[1].Accession)
		d.exec(t, "UPDATE submitted SET body = substr(body, 1, length(body) / 2) WHERE entry_id = (SELECT id FROM entry"+accession+")",
			"UPDATE entry SET submitted = substring(submitted FOR octet_length(submitted) / 2)"+accession)
		if got := d.claim(t, pipe, 3); len(got) != 2 {
			t.Fatalf("%d entries came, want 2", len(got))
		}
		var failures []httpapi.Failure
		eventually(t, "the damage is noted", func() bool { // after the answer
			failures = d.history(t, anna, stored[1].AccessionVersion).Failures
			return len(failures) == 1
		})
		if f := failures[0]; f.Kind != "damaged" || !f.Counted || f.Reason == "" {
			t.Errorf("failure %+v", f)
		}
		if n := d.statusCounts(t, "zika")[seqlease.InProcessing]; n != 2 {
			t.Errorf("%d in processing, want 2", n)
		}
	})
}
