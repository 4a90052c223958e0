package httpapi_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
)

// acceptedResults is the answer of a submission that skips what is refused.
type acceptedResults struct {
	Stored  int
	Refused []seqlease.Refusal
}

const skipRefused = "/zika/submit-processed-data?pipelineVersion=1&onRefused=skip"

// sendSkipping sends results of which the good ones are to be stored.
func (d *door) sendSkipping(t *testing.T, lines ...string) acceptedResults {
	t.Helper()
	var a acceptedResults
	answer := d.call(t, "POST", skipRefused, pipe, strings.NewReader(strings.Join(lines, "\n")), "Content-Type", "application/x-ndjson")
	answer.want(t, 200).into(t, &a)
	if !strings.Contains(string(answer.body), `"refused":[`) {
		t.Errorf("%s has no list", answer.body)
	}
	return a
}

// TestResults_L5_B068_SkipStoresTheGoodOnes has one line of every fault between
// good ones.
func TestResults_L5_B068_SkipStoresTheGoodOnes(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		d.submit(t, d.newGroup(t, anna), 10, 20)
		mine, foreign := d.claim(t, pipe, 9), d.claim(t, pipe2, 1)
		unknown := mine[0]
		unknown.Accession = "LOC_UNKNOWN"
		with := func(i int, old, now string) string { return strings.Replace(resultOf(mine[i]), old, now, 1) }
		lines := []string{
			resultOf(mine[0]),
			resultOf(mine[1])[:120], // broken off
			"",
			with(2, `"data"`, `"date"`),
			with(3, `"Kenya"`, `"\udc00"`),
			with(4, `"`+mine[4].AttemptID.String()+`"`, "5"),
			"no JSON at all",
			resultOf(mine[5]),
			resultOf(mine[5]),
			resultOf(foreign[0]),
			resultOf(unknown),
			with(6, `"age"`, `"colour"`),
			resultOf(mine[7]),
		}
		want := []seqlease.Refusal{
			{AccessionVersion: mine[1].AccessionVersion, Line: 2, Reason: seqlease.RefusedInvalid},
			{AccessionVersion: mine[2].AccessionVersion, Line: 4, Reason: seqlease.RefusedInvalid},
			{AccessionVersion: mine[3].AccessionVersion, Line: 5, Reason: seqlease.RefusedInvalid},
			{AccessionVersion: mine[4].AccessionVersion, Line: 6, Reason: seqlease.RefusedInvalid},
			{Line: 7, Reason: seqlease.RefusedInvalid},
			{AccessionVersion: mine[5].AccessionVersion, Line: 9, Reason: seqlease.RefusedDuplicate},
			{AccessionVersion: foreign[0].AccessionVersion, Line: 10, Reason: seqlease.RefusedLeaseLost},
			{AccessionVersion: unknown.AccessionVersion, Line: 11, Reason: seqlease.RefusedNotFound},
			{AccessionVersion: mine[6].AccessionVersion, Line: 12, Reason: seqlease.RefusedInvalid},
		}
		wantAll := func(refused []seqlease.Refusal) {
			t.Helper()
			for i := range refused {
				if refused[i].Detail == "" {
					t.Errorf("line %d is refused without a detail", refused[i].Line)
				}
				refused[i].Detail = ""
			}
			if diff := cmp.Diff(want, refused); diff != "" {
				t.Errorf("refused (-want +got):\n%s", diff)
			}
		}
		// Else nothing is stored; that there are lines which can't be read decides the
		// status, and hides no other.
		problem := d.sendResults(t, strings.Join(lines, "\n")).problem(t, 400, "line 2", "deserialised")
		if problem.Type != "urn:seqlease:problem:invalid-request" {
			t.Errorf("got a problem of type %s", problem.Type)
		}
		wantAll(problem.Refused)
		got := d.sendSkipping(t, lines...)
		if got.Stored != 3 {
			t.Errorf("%d stored, want 3", got.Stored)
		}
		wantAll(got.Refused)
		if n := d.statusCounts(t, "zika")[seqlease.Processed]; n != 3 {
			t.Errorf("%d processed, want 3", n)
		}
		if again := d.sendSkipping(t, lines...); again.Stored != 3 || len(again.Refused) != len(want) {
			t.Errorf("sent again (L6): %d stored, %d refused", again.Stored, len(again.Refused))
		}
		if got := d.sendSkipping(t); got.Stored != 0 || len(got.Refused) != 0 {
			t.Errorf("nothing was sent, but the answer is %+v", got)
		}
	})
}

// TestResults_B014_UnstorableTextLeavesTheOthersAlone has characters that can't be
// stored in every place; what only looks like them is kept.
func TestResults_B014_UnstorableTextLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		places := []struct{ old, now string }{
			{`"Kenya"`, `"a\u0000b"`},
			{`"country"`, `"coun\u0000try"`},
			{`"E":"MKT*"`, `"E\u0000":"MKT*"`},
			{`"3:AC"`, `"3:A\u0000C"`},
			{`"errors":[]`, `"errors":[{"unprocessedFields":[],"processedFields":[],"message":"quotes \u0000"}]`},
			{`"warnings":[]`, `"warnings":[{"unprocessedFields":[],"processedFields":[],"message":"\ud800"}]`},
			{`"Kenya"`, `"\ud800 alone"`},
			{`"Kenya"`, "\"a\xffb\""},
		}
		d.submit(t, d.newGroup(t, anna), 20, 20)
		mine := d.claim(t, pipe, 20)
		lines := make([]string, len(mine))
		for i, e := range mine {
			lines[i] = resultOf(e)
			if i < len(places) {
				lines[i] = strings.Replace(lines[i], places[i].old, places[i].now, 1)
			}
		}
		lines[19] = strings.Replace(lines[19], `"Kenya"`, `"back\\u0000slash"`, 1)
		got := d.sendSkipping(t, lines...)
		if got.Stored != len(mine)-len(places) || len(got.Refused) != len(places) {
			t.Fatalf("%d stored, refused %+v", got.Stored, got.Refused)
		}
		for i, refused := range got.Refused {
			if refused.Line != i+1 || refused.AccessionVersion != mine[i].AccessionVersion || refused.Reason != seqlease.RefusedInvalid {
				t.Errorf("refusal %d: %+v", i, refused)
			}
		}
		d.call(t, "POST", "/zika/approve-processed-data", anna, strings.NewReader(`{"scope":"ALL"}`), "Content-Type", "application/json").want(t, 200)
		if released := d.call(t, "GET", "/zika/get-released-data", "", nil).want(t, 200); !strings.Contains(string(released.body), `"back\\u0000slash"`) {
			t.Error("the literal characters did not survive")
		}
	})
}

// TestResults_B055_WorkersThatSendNoAttemptIDAreToldWhatToCopy has lines of an old
// pipeline beside those of one that sends it.
func TestResults_B055_WorkersThatSendNoAttemptIDAreToldWhatToCopy(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		d.submit(t, d.newGroup(t, anna), 6, 20)
		mine := d.claim(t, pipe, 6)
		forms := []string{`"x":0`, `"processingAttemptId":""`, `"processingAttemptId":null`, `"processingAttemptId":17`, `"processingAttemptId":"` + seqlease.NewAttemptID().String() + `"`}
		lines := []string{resultOf(mine[5])}
		for i, form := range forms {
			lines = append(lines, strings.Replace(resultOf(mine[i]), `"processingAttemptId":"`+mine[i].AttemptID.String()+`"`, form, 1))
		}
		got := d.sendSkipping(t, lines...)
		if got.Stored != 1 || len(got.Refused) != len(forms) {
			t.Fatalf("%d stored, refused %+v", got.Stored, got.Refused)
		}
		for i, refused := range got.Refused[:4] {
			if refused.Reason != seqlease.RefusedInvalid || !strings.Contains(refused.Detail, "processingAttemptId") {
				t.Errorf("%s: %s, %q", forms[i], refused.Reason, refused.Detail)
			}
		}
		if last := got.Refused[4]; last.Reason != seqlease.RefusedLeaseLost {
			t.Errorf("unknown attempt id: %s", last.Reason)
		}
	})
}
