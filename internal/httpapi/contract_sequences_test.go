package httpapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// listing is the answer of get-sequences.
type listing struct {
	SequenceEntries []struct {
		Accession string
		Version   int
		Status    string
	}
	StatusCounts           map[string]int
	ProcessingResultCounts map[string]int
}

// stages are entries in every state: one processed with each result, one released,
// one in processing, one waiting; and one of another group.
type stages struct {
	group, otherGroup int64
	entries           []seqlease.SubmissionIDMapping // in that order
}

func (d *door) everyStage(t *testing.T) stages {
	t.Helper()
	s := stages{group: d.newGroup(t, anna), otherGroup: d.newGroup(t, bob)}
	s.entries = d.submit(t, s.group, 6, 20)
	claimed := d.claim(t, pipe, 5)
	lines := strings.Split(resultsOf(claimed[:4]), "\n")
	const note = `[{"unprocessedFields":[],"processedFields":[],"message":"m"}]`
	lines[1] = strings.Replace(lines[1], `"warnings":[]`, `"warnings":`+note, 1)
	lines[2] = strings.Replace(lines[2], `"errors":[]`, `"errors":`+note, 1)
	d.sendResults(t, strings.Join(lines, "\n")).want(t, 204)
	d.approve(t, "zika", s.entries[3].AccessionVersion)
	s.entries = append(s.entries, d.submitFiles(t, "zika", s.otherGroup, bob, "id\tcountry\nx\tPeru\n", ">x\nACGT\n")...)
	return s
}

// approve releases entries of an organism.
func (d *door) approve(t *testing.T, organism string, entries ...seqlease.AccessionVersion) {
	t.Helper()
	filter, err := json.Marshal(entries)
	if err != nil {
		t.Fatal(err)
	}
	var approved []seqlease.AccessionVersion
	d.call(t, "POST", "/"+organism+"/approve-processed-data", root, strings.NewReader(`{"scope":"ALL","accessionVersionsFilter":`+string(filter)+`}`),
		"Content-Type", "application/json").want(t, 200).into(t, &approved)
	if len(approved) != len(entries) {
		t.Fatalf("released %v, want %v", approved, entries)
	}
}

func TestContract_Sequences_8_6(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		s := d.everyStage(t)
		const processed, warned, failed, released, held, waiting, foreign = 0, 1, 2, 3, 4, 5, 6
		own := []int{processed, warned, failed, released, held, waiting}
		all := append(slices.Clone(own), foreign)
		ownCounts := map[string]int{"RECEIVED": 1, "IN_PROCESSING": 1, "PROCESSED": 3, "APPROVED_FOR_RELEASE": 1}
		results := map[string]int{"NO_ISSUES": 1, "HAS_WARNINGS": 1, "HAS_ERRORS": 1}
		foreignCounts := map[string]int{"RECEIVED": 1, "IN_PROCESSING": 0, "PROCESSED": 0, "APPROVED_FOR_RELEASE": 0}
		none := map[string]int{"RECEIVED": 0, "IN_PROCESSING": 0, "PROCESSED": 0, "APPROVED_FOR_RELEASE": 0}
		noResults := map[string]int{"NO_ISSUES": 0, "HAS_WARNINGS": 0, "HAS_ERRORS": 0}
		allCounts := map[string]int{"RECEIVED": 2, "IN_PROCESSING": 1, "PROCESSED": 3, "APPROVED_FOR_RELEASE": 1}
		groups := fmt.Sprintf("%d,%d", s.group, s.otherGroup)
		for _, tt := range []struct {
			name, token, query string
			want               []int
			counts, results    map[string]int
		}{
			{"own groups", anna, "", own, ownCounts, results},
			{"unknown parameters", anna, "?organism=zika", own, ownCounts, results},
			{"another user's own", bob, "", []int{foreign}, foreignCounts, noResults},
			{"a super user sees all groups", root, "", all, allCounts, results},
			{"groups, comma-separated", root, "?groupIdsFilter=" + groups, all, allCounts, results},
			{"groups, repeated", root, fmt.Sprintf("?groupIdsFilter=%d&groupIdsFilter=%d", s.group, s.otherGroup), all, allCounts, results},
			{"one group", root, fmt.Sprintf("?groupIdsFilter=%d", s.otherGroup), []int{foreign}, foreignCounts, noResults},
			{"an empty list of groups selects nothing", anna, "?groupIdsFilter=", nil, none, noResults},
			{"a status", anna, "?statusesFilter=PROCESSED", []int{processed, warned, failed}, ownCounts, results},
			{"statuses", anna, "?statusesFilter=RECEIVED,APPROVED_FOR_RELEASE", []int{released, waiting}, ownCounts, results},
			{"statuses, repeated", anna, "?statusesFilter=RECEIVED&statusesFilter=IN_PROCESSING", []int{held, waiting}, ownCounts, results},
			{"an empty list of statuses selects nothing", anna, "?statusesFilter=", nil, ownCounts, results},
			{"a result restricts processed entries only", anna, "?processingResultFilter=HAS_ERRORS", []int{failed, released, held, waiting}, ownCounts, results},
			{"an empty list of results", anna, "?processingResultFilter=", []int{released, held, waiting}, ownCounts, results},
			{"both", anna, "?statusesFilter=PROCESSED&processingResultFilter=NO_ISSUES,HAS_WARNINGS", []int{processed, warned}, ownCounts, results},
			{"the first page", anna, "?page=0&size=4", own[:4], ownCounts, results},
			{"the last page", anna, "?page=1&size=4", own[4:], ownCounts, results},
			{"past the last page", anna, "?page=7&size=4", nil, ownCounts, results},
			{"a page far beyond all", anna, "?page=2147483647&size=2147483647", nil, ownCounts, results},
			{"pages of nothing", anna, "?page=0&size=0", nil, ownCounts, results},
			{"a page without a size", anna, "?page=1", own, ownCounts, results},
			{"a size without a page", anna, "?size=1", own, ownCounts, results},
			{"a page of what a filter takes", anna, "?statusesFilter=PROCESSED&page=1&size=2", []int{failed}, ownCounts, results},
		} {
			var got listing
			a := d.call(t, "GET", "/zika/get-sequences"+tt.query, tt.token, nil, "Content-Type", "application/json").want(t, 200)
			if kind := a.Header.Get("Content-Type"); kind != "application/json" {
				t.Errorf("%s: content type %q", tt.name, kind)
			}
			a.into(t, &got)
			var listed []int
			for _, e := range got.SequenceEntries {
				listed = append(listed, slices.IndexFunc(s.entries, func(m seqlease.SubmissionIDMapping) bool { return string(m.Accession) == e.Accession }))
			}
			if !slices.Equal(listed, tt.want) {
				t.Errorf("%s: listed %v, want %v", tt.name, listed, tt.want)
			}
			if got.SequenceEntries == nil {
				t.Errorf("%s: sequenceEntries is null", tt.name)
			}
			if diff := cmp.Diff(got.StatusCounts, tt.counts); diff != "" {
				t.Errorf("%s: status counts (-got +want):\n%s", tt.name, diff)
			}
			if diff := cmp.Diff(got.ProcessingResultCounts, tt.results); diff != "" {
				t.Errorf("%s: result counts (-got +want):\n%s", tt.name, diff)
			}
		}
	})
}

func TestContract_Sequences_8_6_Members(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{terms: submission.TermsOptions{Enabled: true}}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		until := time.Now().UTC().AddDate(0, 6, 0).Format(time.DateOnly)
		var want []any
		for i, terms := range []object{{"type": "OPEN"}, {"type": "RESTRICTED", "restrictedUntil": until}} {
			query := fmt.Sprintf("?groupId=%d&dataUseTermsType=%s", group, terms["type"])
			status, result := any("IN_PROCESSING"), any(nil)
			if i > 0 {
				query += "&restrictedUntil=" + until
				status, result = "RECEIVED", "NO_ISSUES"
			}
			body, contentType := upload(t, "metadataFile", "@m.tsv\nid\tcountry\ns1\tPeru\n", "sequenceFile", "@s.fasta\n>s1\nACGT\n")
			var stored []seqlease.SubmissionIDMapping
			d.call(t, "POST", "/zika/submit"+query, anna, body, "Content-Type", contentType).want(t, 200).into(t, &stored)
			want = append(want, object{
				"accession": string(stored[0].Accession), "version": 1.0, "status": status, "processingResult": result, "groupId": float64(group),
				"submitter": "anna", "isRevocation": false, "submissionId": "s1", "dataUseTerms": terms,
			})
		}
		d.claim(t, pipe, 1)
		var got object
		d.call(t, "GET", "/zika/get-sequences", anna, nil).want(t, 200).into(t, &got)
		if diff := cmp.Diff(got["sequenceEntries"], any(want)); diff != "" {
			t.Errorf("entries (-got +want):\n%s", diff)
		}
	})
}

func TestContract_Sequences_8_6_Refusals(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		group := strconv.FormatInt(d.newGroup(t, anna), 10)
		for _, tt := range []struct {
			token, query string
			status       int
			words        []string
		}{
			{anna, "?groupIdsFilter=98,99," + group, 404, []string{"98", "99"}},
			{bob, "?groupIdsFilter=" + group, 403, []string{"bob", group}},
			{bob, "?groupIdsFilter=99&groupIdsFilter=" + group, 404, []string{"99"}},
			{anna, "?statusesFilter=received", 400, []string{"statusesFilter", "received"}},
			{anna, "?processingResultFilter=FINE", 400, []string{"processingResultFilter", "FINE"}},
			{anna, "?groupIdsFilter=one", 400, []string{"groupIdsFilter", "one"}},
			{anna, "?page=-1&size=1", 400, []string{"page"}},
			{anna, "?page=0&size=-1", 400, []string{"size"}},
			{anna, "?page=x&size=1", 400, []string{"page"}},
		} {
			t.Log(tt.query)
			a := d.call(t, "GET", "/zika/get-sequences"+tt.query, tt.token, nil)
			a.problem(t, tt.status, tt.words...)
			if got := a.Header.Get("WWW-Authenticate"); tt.status == 403 && got != "Bearer" {
				t.Errorf("WWW-Authenticate is %q, want Bearer", got)
			}
		}
		d.call(t, "GET", "/moss/get-sequences", anna, nil).problem(t, 400, "moss", "zika", "cchf")
	})
}

// TestContract_Sequences_P3_IsWhole lists more than any page has: ingest relies on it.
func TestContract_Sequences_P3_IsWhole(t *testing.T) {
	t.Parallel()
	const entries = 3000
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		stored := d.submit(t, d.newGroup(t, anna), entries, 4)
		var got listing
		d.call(t, "GET", "/zika/get-sequences", anna, nil).want(t, 200).into(t, &got)
		if len(got.SequenceEntries) != entries || got.StatusCounts["RECEIVED"] != entries {
			t.Fatalf("%d entries and %v, want %d", len(got.SequenceEntries), got.StatusCounts, entries)
		}
		for i, e := range got.SequenceEntries {
			if e.Accession != string(stored[i].Accession) || e.Version != 1 {
				t.Fatalf("entry %d is %s.%d, want %s", i, e.Accession, e.Version, stored[i].AccessionVersion)
			}
		}
	})
}
