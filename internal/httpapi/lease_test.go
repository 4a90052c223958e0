package httpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/httpapi"
)

// post sends a JSON body to a call of zika.
func (d *door) post(t *testing.T, path, token, body string) answer {
	t.Helper()
	return d.call(t, "POST", "/zika/"+path, token, strings.NewReader(body), "Content-Type", "application/json")
}

// ofAttempt is a body that names the attempt, with further members.
func ofAttempt(id seqlease.AttemptID, more string) string {
	return fmt.Sprintf(`{"processingAttemptId":%q%s}`, id, more)
}

// jsonList is the JSON list of entries.
func jsonList(entries ...seqlease.Entry) string {
	list := []seqlease.AccessionVersion{}
	for _, e := range entries {
		list = append(list, e.AccessionVersion)
	}
	text, _ := json.Marshal(list)
	return string(text)
}

func TestRenew_L7_ExtendsTheWholeLease(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		d.submit(t, d.newGroup(t, anna), 3, 20)
		mine := d.claim(t, pipe, 3)
		id := mine[0].AttemptID
		for _, tt := range []struct {
			more string
			want int64
		}{{"", 600}, {`,"leaseSeconds":10`, 10}, {`,"leaseSeconds":"86400","later":true`, 86400}, {`,"leaseSeconds":null`, 600}} {
			var got httpapi.RenewedLease
			d.post(t, "renew-lease", pipe, ofAttempt(id, tt.more)).want(t, 200).into(t, &got)
			if got.LeaseSeconds != tt.want || got.Held != 3 || got.Lost == nil || len(got.Lost) != 0 {
				t.Errorf("%s: %+v, want %d s and 3 held", tt.more, got, tt.want)
			}
			if left := time.Until(got.LeaseUntil); left > time.Duration(tt.want)*time.Second || left < time.Duration(tt.want-9)*time.Second {
				t.Errorf("%s: %s are left", tt.more, left)
			}
		}
		d.post(t, "leases/free", root, `{"accessionVersions":`+jsonList(mine[1])+`}`).want(t, 200)
		var got httpapi.RenewedLease
		d.post(t, "renew-lease", pipe, ofAttempt(id, "")).want(t, 200).into(t, &got)
		if want := []seqlease.AccessionVersion{mine[1].AccessionVersion}; got.Held != 2 || !cmp.Equal(got.Lost, want) {
			t.Errorf("%d held, lost %v; want 2 and %v", got.Held, got.Lost, want)
		}
		d.sendResults(t, resultOf(mine[0])+"\n"+resultOf(mine[2])).want(t, 204)
		d.post(t, "renew-lease", pipe, ofAttempt(id, "")).problem(t, 409)
	})
}

func TestRenew_L7_AnEndedLeaseIsNotRevived(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		d.submit(t, d.newGroup(t, anna), 1, 20)
		id := d.claim(t, pipe, 1)[0].AttemptID
		d.ageLeases(t)
		for _, path := range []string{"renew-lease", "return-lease"} {
			if p := d.post(t, path, pipe, ofAttempt(id, "")).problem(t, 409); p.Type != "urn:seqlease:problem:lease-lost" {
				t.Errorf("%s: type %s", path, p.Type)
			}
		}
		if again := d.claim(t, pipe2, 1); len(again) != 1 || again[0].Attempt != 2 {
			t.Errorf("claimed %+v, want the entry in its second attempt", again)
		}
	})
}

// TestLease_B095_WhatIsNotYoursIsUnknown compares the answers to whoever may not
// touch a lease with that to an id that never was.
func TestLease_B095_WhatIsNotYoursIsUnknown(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		d.submit(t, d.newGroup(t, anna), 1, 20)
		mine := d.claim(t, pipe, 1)[0]
		never := seqlease.NewAttemptID()
		for _, path := range []string{"renew-lease", "return-lease"} {
			plain := func(a answer, id seqlease.AttemptID) string {
				return strings.ReplaceAll(string(a.want(t, 409).body), id.String(), "ID")
			}
			want := plain(d.post(t, path, pipe, ofAttempt(never, "")), never)
			if got := plain(d.post(t, path, pipe2, ofAttempt(mine.AttemptID, "")), mine.AttemptID); got != want {
				t.Errorf("%s by another user: %s, want %s", path, got, want)
			}
			elsewhere := func(id seqlease.AttemptID) string {
				return plain(d.call(t, "POST", "/cchf/"+path, pipe, strings.NewReader(ofAttempt(id, "")), "Content-Type", "application/json"), id)
			}
			if got, want := elsewhere(mine.AttemptID), elsewhere(never); got != want {
				t.Errorf("%s under another organism: %s, want %s", path, got, want)
			}
			d.call(t, "POST", "/nowhere/"+path, pipe, strings.NewReader(ofAttempt(never, "")), "Content-Type", "application/json").problem(t, 400, "nowhere")
		}
		elsewhere := d.call(t, "POST", "/cchf/submit-processed-data?pipelineVersion=1&onRefused=skip", pipe, strings.NewReader(resultOf(mine)), "Content-Type", "application/x-ndjson")
		var refused acceptedResults
		elsewhere.want(t, 200).into(t, &refused)
		if refused.Stored != 0 || len(refused.Refused) != 1 {
			t.Errorf("results under another organism: %+v", refused)
		}
		d.post(t, "renew-lease", pipe, ofAttempt(mine.AttemptID, "")).want(t, 200) // nothing has changed
		d.sendResults(t, resultOf(mine)).want(t, 204)
	})
}

func TestReturn_L8_WaitsAgainAtOnceAndCostsNoAttempt(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		d.submit(t, d.newGroup(t, anna), 4, 20)
		mine := d.claim(t, pipe, 4)
		id := mine[0].AttemptID
		returned := func(more string) int {
			t.Helper()
			var got httpapi.ReturnedLease
			d.post(t, "return-lease", pipe, ofAttempt(id, more)).want(t, 200).into(t, &got)
			return got.Returned
		}
		if n := returned(`,"accessionVersions":` + jsonList(mine[0]) + `,"reason":"the machine goes down"`); n != 1 {
			t.Errorf("%d returned, want 1", n)
		}
		if again := d.claim(t, pipe2, 4); len(again) != 1 || again[0].Attempt != 1 || again[0].AccessionVersion != mine[0].AccessionVersion {
			t.Errorf("claimed %+v, want %s in its first attempt", again, mine[0].AccessionVersion)
		}
		if n := returned(`,"accessionVersions":` + jsonList(mine[0], mine[1]) + `,"countsAsAttempt":true`); n != 1 {
			t.Errorf("%d returned, want 1: the other is another's", n)
		}
		if again := d.claim(t, pipe2, 4); len(again) != 1 || again[0].Attempt != 2 {
			t.Errorf("claimed %+v, want one entry in its second attempt", again)
		}
		if n := returned(`,"later":"a newer worker says more"`); n != 2 {
			t.Errorf("%d returned, want the 2 that were left", n)
		}
		d.post(t, "return-lease", pipe, ofAttempt(id, "")).problem(t, 409)
		if again := d.claim(t, pipe2, 4); len(again) != 2 || again[0].Attempt != 1 {
			t.Errorf("claimed %+v, want two entries in their first attempt", again)
		}
	})
}

// TestReturn_B019_AnyReasonCanBeStored has reasons that are no proper text.
func TestReturn_B019_AnyReasonCanBeStored(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		reasons := []struct{ name, sent, keeps string }{
			{"NUL", `a\u0000b`, "b"},
			{"5 MB", strings.Repeat("x", 5<<20), "xxx"},
			{"wide characters", strings.Repeat("é", 5000), "é"},
			{"broken UTF-8", "a\xff\xfeb", "b"},
			{"lone surrogate", `a\ud800b`, "b"},
			{"terminal escapes", `a\u001b[31mb\u0007`, "ab"},
		}
		d.submit(t, d.newGroup(t, anna), len(reasons), 20)
		mine := d.claim(t, pipe, len(reasons))
		for i, tt := range reasons {
			body := `,"countsAsAttempt":true,"accessionVersions":` + jsonList(mine[i]) + `,"reason":"` + tt.sent + `"`
			d.post(t, "return-lease", pipe, ofAttempt(mine[i].AttemptID, body)).want(t, 200)
			history := d.history(t, anna, mine[i].AccessionVersion)
			if len(history.Failures) != 1 {
				t.Errorf("%s: failures %+v", tt.name, history.Failures)
				continue
			}
			f := history.Failures[0]
			if f.Kind != "given-back" || !f.Counted || len(f.Reason) > 2000 || !utf8.ValidString(f.Reason) ||
				!strings.Contains(f.Reason, tt.keeps) || strings.ContainsAny(f.Reason, "\x00\x1b\x07") {
				t.Errorf("%s: %+v", tt.name, f)
			}
		}
	})
}

// TestLease_Bodies has what the door refuses by itself, on one store.
func TestLease_Bodies(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	id := `"processingAttemptId":"` + seqlease.NewAttemptID().String() + `"`
	for _, tt := range []struct {
		path, body, contentType string
		status                  int
		words                   []string
	}{
		{"renew-lease", `{}`, "", 400, []string{"processingAttemptId"}},
		{"renew-lease", `{"processingAttemptId":null}`, "", 400, []string{"processingAttemptId"}},
		{"renew-lease", `{"processingAttemptId":""}`, "", 400, []string{"processingAttemptId"}},
		{"renew-lease", `{"processingAttemptId":5}`, "", 400, []string{"processingAttemptId"}},
		{"renew-lease", `{"processingAttemptId":"5"}`, "", 400, []string{"processingAttemptId"}},
		{"renew-lease", `{` + id + `,"leaseSeconds":9}`, "", 400, []string{"leaseSeconds", "10"}},
		{"renew-lease", `{` + id + `,"leaseSeconds":0}`, "", 400, []string{"leaseSeconds"}},
		{"renew-lease", `{` + id + `,"leaseSeconds":4294967306}`, "", 400, []string{"leaseSeconds"}},
		{"renew-lease", `{` + id + `,"leaseSeconds":[]}`, "", 400, []string{"leaseSeconds"}},
		{"renew-lease", `{` + id, "", 400, []string{"JSON"}},
		{"renew-lease", `[]`, "", 400, nil},
		{"renew-lease", ``, "", 400, nil},
		{"renew-lease", `{` + id + `}`, "text/plain", 415, []string{"application/json"}},
		{"renew-lease", `{"x":"` + strings.Repeat("x", 70<<10) + `",` + id + `}`, "", 413, nil},
		{"return-lease", `{"accessionVersions":[]}`, "", 400, []string{"processingAttemptId"}},
		{"return-lease", `{` + id + `,"accessionVersions":{}}`, "", 400, []string{"accessionVersions"}},
		{"return-lease", `{` + id + `,"accessionVersions":[{"accession":"LOC_1"}]}`, "", 400, []string{"accessionVersions", "version"}},
		{"return-lease", `{` + id + `,"accessionVersions":[{"accession":"LOC_1","version":"x"}]}`, "", 400, []string{"accessionVersions", "version"}},
		{"return-lease", `{` + id + `,"reason":[]}`, "", 400, []string{"reason"}},
		{"return-lease", `{` + id + `,"countsAsAttempt":"yes"}`, "", 400, []string{"countsAsAttempt"}},
		{"return-lease", `{` + id + `,"accessionVersions":[` + strings.Repeat(`{"accession":"A","version":1},`, 100_000) + `{"accession":"A","version":1}]}`, "", 400, []string{"accessionVersions", "100000"}},
		{"return-lease", `{` + id + `,"reason":"` + strings.Repeat("x", 33<<20) + `"}`, "", 413, nil},
		{"return-lease", `{` + id + `,"accessionVersions":[{"accession":"A\u0000","version":1}]}`, "", 400, []string{"accessionVersions[0].accession", "NUL"}},
	} {
		contentType := tt.contentType
		if contentType == "" {
			contentType = "application/json"
		}
		t.Logf("%s %.100s", tt.path, tt.body)
		d.call(t, "POST", "/zika/"+tt.path, pipe, strings.NewReader(tt.body), "Content-Type", contentType).problem(t, tt.status, tt.words...)
	}
}
