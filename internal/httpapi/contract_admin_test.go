package httpapi_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/httpapi"
)

// refuseAllButOperators calls a path of operators as everybody else: role and token are
// looked at before anything of the request.
func (d *door) refuseAllButOperators(t *testing.T, method, path string) {
	t.Helper()
	without := 403
	if method == "GET" {
		without = 401
	}
	d.call(t, method, path, "", nil).problem(t, without)
	for _, token := range []string{anna, pipe} {
		a := d.call(t, method, path, token, nil).want(t, 403)
		if !strings.Contains(a.Header.Get("WWW-Authenticate"), "insufficient_scope") || len(a.body) > 0 {
			t.Errorf("%s %s as %s: %q, %q, want insufficient_scope and no body", method, path, token, a.Header.Get("WWW-Authenticate"), a.body)
		}
	}
}

func TestContract_PipelineStatistics(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		const path = "/admin/pipeline-statistics"
		d.refuseAllButOperators(t, "GET", path)
		counts := func(what string, want map[string]map[string]int64) {
			t.Helper()
			a := d.call(t, "GET", path, root, nil).want(t, 200)
			var got map[string]map[string]int64
			a.into(t, &got)
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || a.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %s (-want +got):\n%s", what, a.Header.Get("Content-Type"), diff)
			}
		}
		counts("of an empty server", nil)
		d.submit(t, d.newGroup(t, anna), 4, 20)
		counts("while all wait", nil)
		claimed := d.claim(t, pipe, 2)
		counts("while some are held", nil)
		withErrors := strings.Replace(resultOf(claimed[1]), `"errors":[]`, `"errors":[{"unprocessedFields":[],"processedFields":[],"message":"bad"}]`, 1)
		d.sendResults(t, resultOf(claimed[0])+"\n"+withErrors).want(t, 204)
		counts("with errors or without", map[string]map[string]int64{"zika": {"1": 2}})
		d.post(t, "quarantine", root, `{"all":true}`).want(t, 200)
		counts("with quarantine, which shows as processed", map[string]map[string]int64{"zika": {"1": 4}})
	})
}

func TestContract_CurrentPipelineVersions(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		const path = "/admin/current-pipeline-versions"
		d.refuseAllButOperators(t, "GET", path)
		var got map[string]int64
		d.call(t, "GET", path, root, nil).want(t, 200).into(t, &got)
		if diff := cmp.Diff(map[string]int64{"zika": 1, "cchf": 1}, got); diff != "" {
			t.Errorf("current versions (-want +got):\n%s", diff)
		}
	})
}

func TestContract_UnknownAdminPathsNeedTheRole(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	for _, path := range []string{"/admin/nothing", "/debug/nothing"} {
		d.refuseAllButOperators(t, "GET", path)
		d.refuseAllButOperators(t, "POST", path)
		d.call(t, "GET", path, root, nil).problem(t, 404, path)
	}
	d.call(t, "POST", "/admin/audit-log", root, nil).problem(t, 405, "GET")
}

const deleteAllPath = "/debug/delete-all-sequence-data"

func TestContract_DeleteAllIsNotThereOutsideDebugMode(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		d.submit(t, d.newGroup(t, anna), 2, 20)
		d.refuseAllButOperators(t, "POST", deleteAllPath)
		d.call(t, "POST", deleteAllPath, root, nil).problem(t, 404, "debugMode")
		if got := d.statusCounts(t, "zika")[seqlease.Received]; got != 2 {
			t.Errorf("%d entries are there, want 2", got)
		}
	})
}

func TestContract_DeleteAll(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{debug: true}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		before := d.submit(t, group, 4, 20)
		held := d.claim(t, pipe, 4)
		d.sendResults(t, resultsOf(held[:2])).want(t, 204)
		d.call(t, "POST", "/zika/approve-processed-data", anna, strings.NewReader(`{"scope":"ALL"}`), "Content-Type", "application/json").want(t, 200)
		released := d.call(t, "GET", "/zika/get-released-data", "", nil).want(t, 200).Header.Get("ETag")
		extract := d.call(t, "POST", "/zika/extract-unprocessed-data?numberOfSequenceEntries=5&pipelineVersion=1", pipe, nil).want(t, 200).Header.Get("ETag")
		d.refuseAllButOperators(t, "POST", deleteAllPath)
		d.call(t, "GET", deleteAllPath, root, nil).problem(t, 405, "POST")

		if a := d.call(t, "POST", deleteAllPath, root, nil).want(t, 204); len(a.body) > 0 {
			t.Errorf("a body came: %q", a.body)
		}

		for status, n := range d.statusCounts(t, "zika") {
			if n != 0 {
				t.Errorf("%d entries are %s", n, status)
			}
		}
		// ETags change, so that no 304 hides it.
		a := d.call(t, "GET", "/zika/get-released-data", "", nil, "If-None-Match", released).want(t, 200)
		if len(a.body) > 0 || a.Header.Get("x-total-records") != "0" {
			t.Errorf("%s records are released: %.100q", a.Header.Get("x-total-records"), a.body)
		}
		a = d.call(t, "POST", "/zika/extract-unprocessed-data?numberOfSequenceEntries=5&pipelineVersion=1", pipe, nil, "If-None-Match", extract).want(t, 200)
		if len(a.body) > 0 || a.Header.Get("ETag") == extract {
			t.Errorf("a claim found %.100q under the tag %s", a.body, a.Header.Get("ETag"))
		}
		// Running claims' results are refused.
		if p := d.sendResults(t, resultsOf(held[2:])).problem(t, 422); len(p.Refused) != 2 || p.Refused[0].Reason != seqlease.RefusedNotFound {
			t.Errorf("late results: %+v", p)
		}
		d.call(t, "GET", historyPath("zika", before[0].AccessionVersion), root, nil).problem(t, 404)
		var statistics map[string]any
		if d.call(t, "GET", "/admin/pipeline-statistics", root, nil).want(t, 200).into(t, &statistics); len(statistics) > 0 {
			t.Errorf("statistics: %v", statistics)
		}
		// Groups and accessions: neither is lost, none is given out again.
		after := d.submit(t, group, 1, 20)
		if after[0].Accession <= before[3].Accession {
			t.Errorf("%s was given out after %s", after[0].Accession, before[3].Accession)
		}
		if log := d.auditLog(t, "action=delete-all-sequence-data").Events; len(log) != 1 || log[0].User != root || log[0].Entries != 4 || log[0].Organism != nil {
			t.Errorf("audit log: %+v", log)
		}
	})
}

func TestContract_DeleteAllInReadOnlyMode(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{debug: true, readOnly: true})
	d.refuseAllButOperators(t, "POST", deleteAllPath)
	d.call(t, "POST", deleteAllPath, root, nil).problem(t, 503)
}

// auditLog reads the audit log with the query.
func (d *door) auditLog(t *testing.T, query string) httpapi.AuditLog {
	t.Helper()
	var log httpapi.AuditLog
	d.call(t, "GET", "/admin/audit-log?"+query, root, nil).want(t, 200).into(t, &log)
	return log
}

// TestContract_AuditLogOfOperators makes each call of an operator once: each has one
// row with what was meant, why, and how many entries it changed.
func TestContract_AuditLogOfOperators(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		d.refuseAllButOperators(t, "GET", "/admin/audit-log")
		d.submit(t, d.newGroup(t, anna), 3, 20)
		begun := time.Now()
		held := entriesOf(t, d.claimAs(t, "w1", 3).body)
		long := strings.Repeat("é", 3000)
		for _, c := range []struct{ path, body string }{
			{"pause", `{"reason":"maintenance"}`},
			{"resume", ``},
			{"pipelines/1/pause", `{"reason":"slow"}`},
			{"pipelines/1/resume", `{}`},
			{"leases/free", `{"workerId":"nobody","reason":"changes nothing"}`},
			{"leases/free", `{"workerId":"w1","reason":"hangs\u0000"}`},
			{"quarantine", `{"accessionVersions":` + jsonList(held[0], held[1]) + `,"reason":"` + long + `"}`},
			{"quarantine/requeue", `{"all":true,"pipelineVersion":1}`},
		} {
			d.post(t, c.path, root, c.body).want(t, 200)
		}
		d.sendResults(t, resultsOf(d.claim(t, pipe, 2))).want(t, 204)
		d.post(t, "reprocess", root, `{"submittedFrom":"2020-01-02T03:04:05Z","all":true,"reason":"again"}`).want(t, 200)

		type row struct {
			Action  seqlease.Action
			Entries int64
			Detail  string
		}
		var got []row
		for _, e := range d.auditLog(t, "organism=zika&user="+root).Events {
			got = append(got, row{e.Action, e.Entries, e.Detail})
			if e.User != root || *e.Organism != "zika" || e.GroupId != nil || e.Accession != nil || e.Version != nil || e.At.Sub(begun).Abs() > time.Hour {
				t.Errorf("row %+v", e)
			}
		}
		want := []row{
			{seqlease.ActionReprocess, 2, "submitted from 2020-01-02T03:04:05Z: again"},
			{seqlease.ActionRequeue, 2, "all entries, pipeline version 1"},
			{seqlease.ActionQuarantine, 2, "2 named entries: "},
			{seqlease.ActionFreeLeases, 3, "worker \"w1\": hangs\ufffd"},
			{seqlease.ActionResume, 0, "pipeline version 1"},
			{seqlease.ActionPause, 0, "pipeline version 1: slow"},
			{seqlease.ActionResume, 0, "every pipeline version"},
			{seqlease.ActionPause, 0, "every pipeline version: maintenance"},
		}
		if len(got) > 2 { // a long reason is shortened
			if d := got[2].Detail; len(d) > 1100 || !strings.HasPrefix(d, want[2].Detail+"éé") {
				t.Errorf("a long reason is noted as %q", d)
			}
			got[2].Detail = want[2].Detail
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("audit log, newest first (-want +got):\n%s", diff)
		}
	})
}

// TestContract_AuditLogFiltersAndPages asks for parts of a log of pauses.
func TestContract_AuditLogFiltersAndPages(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		for _, organism := range []string{"zika", "cchf", "zika"} {
			d.call(t, "POST", "/"+organism+"/pause", root, nil).want(t, 200)
		}
		d.call(t, "POST", "/zika/resume", root, nil).want(t, 200)
		past, future := url.QueryEscape(time.Now().Add(-time.Hour).Format(time.RFC3339)), url.QueryEscape(time.Now().Add(time.Hour).Format(time.RFC3339Nano))
		for query, want := range map[string]int{
			"user=root": 4, "action=pause": 3, "action=pause&organism=zika": 2, "organism=cchf": 1, "user=nobody": 0,
			"action=&user=root&organism=&accession=&from=&to=&after=": 4, "accession=LOC_000001Y": 0, "user=root&groupId=77": 0,
			"action=pause&from=" + past: 3, "action=pause&from=" + future: 0, "action=pause&to=" + past: 0, "action=pause&to=" + future: 3,
			"action=pause&from=" + past + "&to=" + future: 3, "action=pause&user=%00": 0,
		} {
			if log := d.auditLog(t, query); len(log.Events) != want || log.Next != nil {
				t.Errorf("%s: %d rows and next %v, want %d and none", query, len(log.Events), log.Next, want)
			}
		}
		var seen []httpapi.AuditEvent
		for after := ""; ; {
			page := d.auditLog(t, "user=root&limit=3&after="+after)
			seen = append(seen, page.Events...)
			if page.Next == nil {
				break
			}
			after = *page.Next
		}
		if len(seen) != 4 || seen[0].Action != seqlease.ActionResume || *seen[2].Organism != "cchf" {
			t.Errorf("in pages: %+v", seen)
		}
		for query, word := range map[string]string{
			"organism=nowhere": "nowhere", "action=nothing": "action", "action=PAUSE": "action", "groupId=0": "groupId", "groupId=x": "groupId",
			"from=yesterday": "from", "to=2026-13-01T00:00:00Z": "to", "limit=0": "limit", "limit=1001": "limit", "limit=-1": "limit",
			"after=x": "after", "after=-3": "after", "after=0": "after", fmt.Sprintf("from=%s&to=%s", future, past): "to",
		} {
			d.call(t, "GET", "/admin/audit-log?"+query, root, nil).problem(t, 400, word)
		}
	})
}
