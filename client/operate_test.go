package client_test

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
)

// asked notes what a call sends and answers with a document.
type asked struct{ path, body string }

func (a *asked) answering(document string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		a.path, a.body = r.Method+" "+r.URL.RequestURI(), string(body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, document)
	}
}

var (
	someAttempt = seqlease.AttemptID{1, 2, 3}
	someEntry   = seqlease.AccessionVersion{Accession: "LOC_000001Y", Version: 2}
	someTime    = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
)

// What several answers have in them.
const (
	someID      = "01020300-0000-0000-0000-000000000000"
	someFailure = `{"at":"2026-03-04T05:06:07Z","pipelineVersion":1,"processingAttemptId":"` + someID + `","kind":"expired","workerId":"w","claimedBy":"p","counted":true,"reason":"r","later":1}`
)

var someFailureRead = client.Failure{At: someTime, PipelineVersion: 1, AttemptID: someAttempt, Kind: "expired", WorkerID: "w", ClaimedBy: "p", Counted: true, Reason: "r"}

// calls have what each call sends, and what it makes of an answer.
var calls = []struct {
	name, answer, path, body string
	call                     func(ctx context.Context, c *client.Client) (any, error)
	want                     any
}{
	{
		"renew", `{"leaseUntil":"2026-03-04T05:06:07Z","leaseSeconds":60,"held":3,"lost":[{"accession":"LOC_000001Y","version":2}]}`,
		"POST /zika/renew-lease", `{"processingAttemptId":"` + someID + `","leaseSeconds":60}`,
		func(ctx context.Context, c *client.Client) (any, error) {
			return c.RenewLease(ctx, "zika", someAttempt, time.Minute)
		},
		client.RenewedLease{Until: someTime, Lease: time.Minute, Entries: 3, Lost: []seqlease.AccessionVersion{someEntry}},
	},
	{
		"renew as claimed", `{"leaseUntil":"2026-03-04T05:06:07Z","leaseSeconds":60,"held":3,"lost":[]}`,
		"POST /zika/renew-lease", `{"processingAttemptId":"` + someID + `"}`,
		func(ctx context.Context, c *client.Client) (any, error) {
			return c.RenewLease(ctx, "zika", someAttempt, 0)
		},
		client.RenewedLease{Until: someTime, Lease: time.Minute, Entries: 3, Lost: []seqlease.AccessionVersion{}},
	},
	{
		"return all", `{"returned":5}`, "POST /zika/return-lease", `{"processingAttemptId":"` + someID + `"}`,
		func(ctx context.Context, c *client.Client) (any, error) {
			return c.ReturnLease(ctx, "zika", client.LeaseReturn{AttemptID: someAttempt})
		}, 5,
	},
	{
		"return some", `{"returned":1}`, "POST /zika/return-lease",
		`{"processingAttemptId":"` + someID + `","accessionVersions":[{"accession":"LOC_000001Y","version":2}],"reason":"r","countsAsAttempt":true}`,
		func(ctx context.Context, c *client.Client) (any, error) {
			return c.ReturnLease(ctx, "zika", client.LeaseReturn{AttemptID: someAttempt, Entries: []seqlease.AccessionVersion{someEntry}, Reason: "r", CountsAsAttempt: true})
		}, 1,
	},
	{
		"leases", `{"leases":[{"processingAttemptId":"` + someID + `","pipelineVersion":1,"claimedBy":"p","workerId":"w","claimedAt":"2026-03-04T05:06:07Z",` +
			`"leaseUntil":"2026-03-04T05:06:07Z","ended":true,"entries":1,"claimed":2,"first":[{"accession":"LOC_000001Y","version":2}]}],` +
			`"failingWorkers":[{"workerId":"w","claimedBy":"p","failures":3,"lastAt":"2026-03-04T05:06:07Z","lastKind":"expired","lastReason":""}],"next":"a_b"}`,
		"GET /zika/leases?after=x&limit=7", "",
		func(ctx context.Context, c *client.Client) (any, error) {
			return c.Leases(ctx, "zika", client.Page{After: "x", Limit: 7})
		},
		client.LeasePage{
			Leases: []client.HeldLease{{
				AttemptID: someAttempt, PipelineVersion: 1, ClaimedBy: "p", WorkerID: "w", ClaimedAt: someTime, Until: someTime,
				Ended: true, Entries: 1, Claimed: 2, First: []seqlease.AccessionVersion{someEntry},
			}},
			FailingWorkers: []client.FailingWorker{{WorkerID: "w", ClaimedBy: "p", Failures: 3, LastAt: someTime, LastKind: "expired"}},
			Next:           "a_b",
		},
	},
	{
		"free", `{"freed":4}`, "POST /zika/leases/free", `{"processingAttemptIds":["` + someID + `"],"workerId":"w","reason":"r"}`,
		func(ctx context.Context, c *client.Client) (any, error) {
			return c.FreeLeases(ctx, "zika", client.LeaseSelection{AttemptIDs: []seqlease.AttemptID{someAttempt}, WorkerID: "w", Reason: "r"})
		}, 4,
	},
	{
		"quarantined", `{"entries":[{"accession":"LOC_000001Y","version":2,"pipelineVersion":1,"quarantinedAt":"2026-03-04T05:06:07Z","quarantinedBy":"","attempts":5,"handOuts":6,"reason":"r","failures":[` + someFailure + `]}],"next":null}`,
		"GET /zika/quarantine", "",
		func(ctx context.Context, c *client.Client) (any, error) {
			return c.Quarantined(ctx, "zika", client.Page{})
		},
		client.QuarantinePage{Entries: []client.QuarantinedEntry{{
			AccessionVersion: someEntry, PipelineVersion: 1, At: someTime, Attempts: 5, HandOuts: 6, Reason: "r", Failures: []client.Failure{someFailureRead},
		}}},
	},
	{
		"quarantine", `{"quarantined":2}`, "POST /zika/quarantine", `{"accessionVersions":[{"accession":"LOC_000001Y","version":2}],"reason":"r"}`,
		func(ctx context.Context, c *client.Client) (any, error) {
			return c.Quarantine(ctx, "zika", client.Selection{Entries: []seqlease.AccessionVersion{someEntry}, Reason: "r"})
		}, 2,
	},
	{
		"requeue", `{"requeued":2}`, "POST /zika/quarantine/requeue", `{"errorContains":"e","workerId":"w"}`,
		func(ctx context.Context, c *client.Client) (any, error) {
			return c.Requeue(ctx, "zika", client.Selection{ErrorContains: "e", WorkerID: "w"})
		}, 2,
	},
	{
		"reprocess", `{"requeued":2}`, "POST /zika/reprocess", `{"pipelineVersion":3,"submittedFrom":"2026-03-04T05:06:07Z","all":true}`,
		func(ctx context.Context, c *client.Client) (any, error) {
			return c.Reprocess(ctx, "zika", client.Selection{PipelineVersion: 3, SubmittedFrom: someTime, All: true})
		}, 2,
	},
	{
		"pause", `{"paused":true,"pausedPipelineVersions":[2]}`, "POST /zika/pause", `{"reason":"r"}`,
		func(ctx context.Context, c *client.Client) (any, error) { return c.SetPaused(ctx, "zika", true, "r") },
		client.PauseState{Paused: true, PipelineVersions: []seqlease.PipelineVersion{2}},
	},
	{
		"resume", `{"paused":false,"pausedPipelineVersions":[]}`, "POST /zika/resume", `{}`,
		func(ctx context.Context, c *client.Client) (any, error) { return c.SetPaused(ctx, "zika", false, "") },
		client.PauseState{PipelineVersions: []seqlease.PipelineVersion{}},
	},
	{
		"pause a version", `{"pipelineVersion":4,"paused":true}`, "POST /zika/pipelines/4/pause", `{}`,
		func(ctx context.Context, c *client.Client) (any, error) {
			return nil, c.SetPipelinePaused(ctx, "zika", 4, true, "")
		}, nil,
	},
	{
		"history", `{"accession":"LOC_000001Y","version":2,"claims":[{"processingAttemptId":"` + someID + `","pipelineVersion":1,"claimedBy":"p","workerId":"w",` +
			`"claimedAt":"2026-03-04T05:06:07Z","leaseSeconds":60,"attempt":1,"entries":9,"acceptedAt":"2026-03-04T05:06:07Z","leaseUntil":null}],"failures":[` + someFailure + `],` +
			`"quarantine":[{"pipelineVersion":1,"at":"2026-03-04T05:06:07Z","by":"o","reason":"r","attempts":2,"handOuts":3}]}`,
		"GET /zika/entries/LOC_000001Y/2/history", "",
		func(ctx context.Context, c *client.Client) (any, error) { return c.History(ctx, "zika", someEntry) },
		client.History{
			AccessionVersion: someEntry, Failures: []client.Failure{someFailureRead},
			Claims: []client.ClaimRecord{{
				AttemptID: someAttempt, PipelineVersion: 1, ClaimedBy: "p", WorkerID: "w", ClaimedAt: someTime, LeaseSeconds: 60,
				Attempt: 1, Entries: 9, AcceptedAt: &someTime,
			}},
			Quarantine: []client.QuarantineRecord{{PipelineVersion: 1, At: someTime, By: "o", Reason: "r", Attempts: 2, HandOuts: 3}},
		},
	},
	{
		"revoke", `[{"accession":"LOC_000001Y","version":2,"submissionId":"s"}]`, "POST /zika/revoke", `{"accessions":["LOC_000001Y"],"versionComment":"mixed up"}`,
		func(ctx context.Context, c *client.Client) (any, error) {
			return c.Revoke(ctx, "zika", []seqlease.Accession{"LOC_000001Y"}, "mixed up")
		},
		[]seqlease.SubmissionIDMapping{{AccessionVersion: someEntry, SubmissionID: "s"}},
	},
	{
		"revoke without a comment", `[]`, "POST /zika/revoke", `{"accessions":[]}`,
		func(ctx context.Context, c *client.Client) (any, error) { return c.Revoke(ctx, "zika", nil, "") },
		[]seqlease.SubmissionIDMapping{},
	},
	{
		"delete", `[{"accession":"LOC_000001Y","version":2}]`, "DELETE /zika/delete-sequence-entry-versions",
		`{"scope":"PROCESSED_WITH_ERRORS","accessionVersionsFilter":[{"accession":"LOC_000001Y","version":2}],"groupIdsFilter":[7]}`,
		func(ctx context.Context, c *client.Client) (any, error) {
			return c.Delete(ctx, "zika", client.Deletion{Scope: seqlease.DeleteWithErrors, Entries: []seqlease.AccessionVersion{someEntry}, GroupIDs: []int64{7}})
		},
		[]seqlease.AccessionVersion{someEntry},
	},
	{
		"delete all", `[]`, "DELETE /zika/delete-sequence-entry-versions", `{"scope":"ALL"}`,
		func(ctx context.Context, c *client.Client) (any, error) {
			return c.Delete(ctx, "zika", client.Deletion{Scope: seqlease.DeleteAll})
		},
		[]seqlease.AccessionVersion{},
	},
	{
		"data to edit", `{"accession":"LOC_000001Y","version":2,"status":"PROCESSED","groupId":7,"submissionId":"s","processedData":{"metadata":{"age":7},` +
			`"nucleotideInsertions":{"main":["3:AC"]},"files":null},"submittedData":{"metadata":{"age":"7"},"unalignedNucleotideSequences":{},"files":null},` +
			`"errors":[{"unprocessedFields":[],"processedFields":[],"message":"odd"}],"warnings":[]}`,
		"GET /zika/get-data-to-edit/LOC_000001Y/2", "",
		func(ctx context.Context, c *client.Client) (any, error) {
			return c.GetDataToEdit(ctx, "zika", someEntry)
		},
		client.EditableEntry{
			AccessionVersion: someEntry, Status: seqlease.Processed, GroupID: 7, SubmissionID: "s",
			Submitted: seqlease.SubmittedData{Metadata: map[string]string{"age": "7"}, UnalignedNucleotideSequences: map[string]string{}},
			Processed: seqlease.ProcessedData{
				Metadata:             map[string]stdjson.RawMessage{"age": stdjson.RawMessage("7")},
				NucleotideInsertions: map[string][]seqlease.Insertion{"main": {{Position: 3, Sequence: "AC"}}},
			},
			Errors:   []seqlease.Annotation{{Message: "odd", UnprocessedFields: []seqlease.Source{}, ProcessedFields: []seqlease.Source{}}},
			Warnings: []seqlease.Annotation{},
		},
	},
	{
		"edit", ``, "POST /zika/submit-edited-data",
		`{"accession":"LOC_000001Y","version":2,"data":{"metadata":{"country":"Peru"},"unalignedNucleotideSequences":{"s":"ACGT"},"files":{}}}`,
		func(ctx context.Context, c *client.Client) (any, error) {
			return nil, c.SubmitEditedData(ctx, "zika", someEntry, seqlease.SubmittedData{
				Metadata: map[string]string{"country": "Peru"}, UnalignedNucleotideSequences: map[string]string{"s": "ACGT"},
			})
		}, nil,
	},
}

func TestCalls_SendAndRead(t *testing.T) {
	t.Parallel()
	for _, tt := range calls {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var sent asked
			got, err := tt.call(t.Context(), serve(t, sent.answering(tt.answer)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if want := (asked{tt.path, tt.body}); sent != want {
				t.Errorf("sent %+v, want %+v", sent, want)
			}
			lost := answer(409, `{"type":"urn:seqlease:problem:lease-lost","title":"Conflict","status":409,"detail":"over"}`, "Content-Type", "application/problem+json")
			if _, err := tt.call(t.Context(), serve(t, lost)); !errors.Is(err, seqlease.ErrLeaseLost) || !strings.Contains(err.Error(), "zika") && !strings.Contains(err.Error(), someID) && !strings.Contains(err.Error(), "LOC_") {
				t.Errorf("a refusal is %v", err)
			}
		})
	}
}

// TestSubmitGoodResults_B068_RefusalsAreAnError has answers to three results.
func TestSubmitGoodResults_B068_RefusalsAreAnError(t *testing.T) {
	t.Parallel()
	results := slices.Values(make([]seqlease.Result, 3))
	const refused = `{"accession":"LOC_000001Y","version":2,"line":2,"reason":"lease-lost","detail":"over"}`
	for _, tt := range []struct{ name, answer, says string }{
		{"all stored", `{"stored":3,"refused":[]}`, ""},
		{"one refused", `{"stored":2,"refused":[` + refused + `]}`, "1 of 3 result lines were refused and the others stored; the first: line 2 (LOC_000001Y.2): lease-lost: over"},
		{"one forgotten", `{"stored":2,"refused":[]}`, "accounts for 2 results, but 3 were sent"},
		{"no JSON", `<html>`, "read the answer"},
	} {
		var sent asked
		c := serve(t, sent.answering(tt.answer))
		err := c.SubmitGoodResults(t.Context(), "zika", 4, results)
		if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.says)
		}
		var partly *client.PartlyRefusedError
		if errors.As(err, &partly) != (tt.name == "one refused") || errors.Is(err, seqlease.ErrLeaseLost) != (tt.name == "one refused") {
			t.Errorf("%s: %T", tt.name, err)
		}
		if want := "POST /zika/submit-processed-data?onRefused=skip&pipelineVersion=4"; sent.path != want || strings.Count(sent.body, "\n") != 3 {
			t.Errorf("%s: sent %+v", tt.name, sent)
		}
	}
}

func TestClaim_WaitsLongerThanTheSilence(t *testing.T) {
	t.Parallel()
	const silence = 300 * time.Millisecond
	var form string
	slow := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		form = string(body)
		timer := time.NewTimer(2 * silence)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
		}
		w.Header().Set("Content-Type", "application/x-ndjson")
		w.WriteHeader(http.StatusOK)
	}
	c := serve(t, slow, client.WithSilence(silence))
	began := time.Now()
	claimed, err := c.Claim(t.Context(), client.ClaimRequest{Organism: "zika", PipelineVersion: 1, Entries: 1, Wait: 20 * time.Second})
	if err != nil || !strings.Contains(form, "waitSeconds=20") {
		t.Errorf("%v; form %q", err, form)
	}
	if claimed.Began.Before(began.Add(silence)) {
		t.Error("the lease is said to have begun before the answer did")
	}
	if _, err := c.Claim(t.Context(), client.ClaimRequest{Organism: "zika", PipelineVersion: 1, Entries: 1}); err == nil {
		t.Error("a claim that doesn't wait outlives the silence")
	}
}

func TestApart_SharesNoConnection(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	busy := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
		answer(200, "[]", "Content-Type", "application/json")(w, r)
	}
	c := serve(t, busy, client.WithHTTP(&http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}))
	done := make(chan error)
	go func() { done <- c.Ready(t.Context()) }()
	apart := c.Apart()
	if _, err := apart.UserGroups(t.Context()); err != nil {
		t.Error(err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
	apart.CloseIdle()
	c.CloseIdle()
}
