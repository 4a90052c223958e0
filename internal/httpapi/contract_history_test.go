package httpapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
)

// journeyOf asks for the history of an entry and returns its events as texts: kind,
// user, worker, pipeline version and detail.
func (d *door) journeyOf(t *testing.T, token string, av seqlease.AccessionVersion) []string {
	t.Helper()
	h := d.history(t, token, av)
	var texts []string
	var last time.Time
	for _, e := range h.Events {
		if e.At.Before(last) || time.Since(e.At).Abs() > time.Hour {
			t.Errorf("%s at %s comes after %s", e.Kind, e.At, last)
		}
		last = e.At
		text := e.Kind
		for _, part := range []*string{e.By, e.WorkerId, e.Detail} {
			if part != nil {
				text += " " + *part
			}
		}
		if e.PipelineVersion != nil {
			text += fmt.Sprintf(" v%d", *e.PipelineVersion)
		}
		texts = append(texts, text)
	}
	return texts
}

// TestContract_HistoryTellsTheWholeJourney follows two entries: one call gives, in
// order of time, who did what to them, to members of the group and super users.
func TestContract_HistoryTellsTheWholeJourney(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		stored := d.submit(t, d.newGroup(t, anna), 2, 20)
		first, second := stored[0].AccessionVersion, stored[1].AccessionVersion
		held := entriesOf(t, d.claimAs(t, "w1", 2).body)
		d.sendResults(t, resultOf(held[0])).want(t, 204)
		d.post(t, "approve-processed-data", anna, `{"scope":"ALL"}`).want(t, 200)
		d.post(t, "return-lease", pipe, ofAttempt(held[1].AttemptID, `,"countsAsAttempt":true,"reason":"no memory"`)).want(t, 200)
		d.post(t, "quarantine", root, `{"all":true,"reason":"mixed up"}`).want(t, 200)
		for _, token := range []string{anna, root} {
			if diff := cmp.Diff([]string{
				"submitted anna", "claimed pipe w1 v1", "processed pipe w1 NO_ISSUES v1", "approved anna",
			}, d.journeyOf(t, token, first)); diff != "" {
				t.Errorf("a released entry's journey as %s (-want +got):\n%s", token, diff)
			}
		}
		got := d.journeyOf(t, anna, second)
		if len(got) == 4 && strings.HasPrefix(got[3], "quarantined root ") && strings.Contains(got[3], "mixed up") {
			got[3] = "quarantined"
		}
		want := []string{"submitted anna", "claimed pipe w1 v1", "failed pipe w1 given-back: no memory v1", "quarantined"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("a quarantined entry's journey (-want +got):\n%s", diff)
		}
		h := d.history(t, anna, first)
		if e := h.Events[2]; e.ProcessingAttemptId == nil || *e.ProcessingAttemptId != held[0].AttemptID || h.OmittedEvents != 0 {
			t.Errorf("event %+v, %d omitted, want the attempt %s and 0", e, h.OmittedEvents, held[0].AttemptID)
		}
		for _, token := range []string{bob, pipe} {
			d.call(t, "GET", historyPath("zika", first), token, nil).problem(t, 404, string(first.Accession))
		}
		d.call(t, "GET", historyPath("zika", first), "", nil).problem(t, 401)
		d.call(t, "GET", historyPath("cchf", first), anna, nil).problem(t, 404)
		d.call(t, "GET", historyPath("nowhere", first), anna, nil).problem(t, 400, "nowhere")
		d.call(t, "GET", historyPath("zika", seqlease.AccessionVersion{Accession: first.Accession, Version: 9}), anna, nil).problem(t, 404)
	})
}

// TestContract_HistoryMembers has what an event doesn't have left out, and the older
// members of the answer as they were.
func TestContract_HistoryMembers(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		stored := d.submit(t, d.newGroup(t, anna), 1, 20)
		d.claimAs(t, "", 1)
		var got map[string]json.RawMessage
		d.call(t, "GET", historyPath("zika", stored[0].AccessionVersion), anna, nil).want(t, 200).into(t, &got)
		var names []string
		for name := range got {
			names = append(names, name)
		}
		slices.Sort(names)
		if diff := cmp.Diff([]string{"accession", "claims", "events", "failures", "omittedEvents", "quarantine", "version"}, names); diff != "" {
			t.Errorf("members (-want +got):\n%s", diff)
		}
		var events []map[string]any
		if err := json.Unmarshal(got["events"], &events); err != nil || len(events) != 2 {
			t.Fatalf("%d events, %v, want 2", len(events), err)
		}
		for i, want := range []int{3, 5} { // at, kind, by; and pipelineVersion, processingAttemptId
			if len(events[i]) != want {
				t.Errorf("event %v has %d members, want %d", events[i], len(events[i]), want)
			}
		}
	})
}

// TestContract_HistoryIsBounded has an entry fail more often than is told.
func TestContract_HistoryIsBounded(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		const told, rounds = 200, 203
		stored := d.submit(t, d.newGroup(t, anna), 1, 20)
		for round := range rounds {
			claimed := d.claim(t, pipe, 1)
			if len(claimed) != 1 {
				t.Fatalf("round %d: claimed %d entries", round, len(claimed))
			}
			d.post(t, "return-lease", pipe, ofAttempt(claimed[0].AttemptID, "")).want(t, 200)
			if round%20 == 19 { // else its hand-outs are used up
				d.post(t, "quarantine", root, `{"all":true}`).want(t, 200)
				d.post(t, "quarantine/requeue", root, `{"all":true}`).want(t, 200)
			}
		}
		h := d.history(t, anna, stored[0].AccessionVersion)
		if len(h.Claims) != told || len(h.Failures) != told || len(h.Events) != 2*told+1 || h.OmittedEvents != 2*(rounds-told) {
			t.Errorf("%d claims, %d failures, %d events and %d omitted, want %d, %d, %d and %d",
				len(h.Claims), len(h.Failures), len(h.Events), h.OmittedEvents, told, told, 2*told+1, 2*(rounds-told))
		}
		if h.Events[0].Kind != "submitted" {
			t.Errorf("the journey begins with %s", h.Events[0].Kind)
		}
	})
}
