package httpapi_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

var withTerms = doorOptions{terms: submission.TermsOptions{Enabled: true, OpenURL: "https://open", RestrictedURL: "https://restricted"}}

// dayIn is today, or a day so many years, months and days from now.
func dayIn(date ...int) string {
	at := time.Now().UTC()
	if len(date) == 3 {
		at = at.AddDate(date[0], date[1], date[2])
	}
	return at.Format(time.DateOnly)
}

// submitUnder uploads n entries of zika under the terms, restricted until a day or
// open, and returns their accessions.
func (d *door) submitUnder(t *testing.T, group int64, n int, restrictedUntil string) []seqlease.Accession {
	t.Helper()
	var metadata, sequences strings.Builder
	metadata.WriteString("@metadata.tsv\nid\tcountry\n")
	sequences.WriteString("@sequences.fasta\n")
	for i := range n {
		fmt.Fprintf(&metadata, "s%d\tKenya\n", i)
		fmt.Fprintf(&sequences, ">s%d\nACGT\n", i)
	}
	kind := seqlease.TermsOpen
	if restrictedUntil != "" {
		kind = seqlease.TermsRestricted
	}
	body, contentType := upload(t, "groupId", strconv.FormatInt(group, 10), "dataUseTermsType", string(kind), "restrictedUntil", restrictedUntil,
		"metadataFile", metadata.String(), "sequenceFile", sequences.String())
	var stored []seqlease.SubmissionIDMapping
	d.call(t, "POST", "/zika/submit", anna, body, "Content-Type", contentType).want(t, 200).into(t, &stored)
	accessions := make([]seqlease.Accession, len(stored))
	for i, m := range stored {
		accessions[i] = m.Accession
	}
	return accessions
}

// changeTerms asks for open terms, or for a restriction until a day.
func (d *door) changeTerms(t *testing.T, token, restrictedUntil string, accessions ...seqlease.Accession) answer {
	t.Helper()
	terms := map[string]string{"type": "OPEN"}
	if restrictedUntil != "" {
		terms = map[string]string{"type": "RESTRICTED", "restrictedUntil": restrictedUntil}
	}
	body, err := json.Marshal(map[string]any{"accessions": append([]seqlease.Accession{}, accessions...), "newDataUseTerms": terms})
	if err != nil {
		t.Fatal(err)
	}
	return d.putJSON(t, "/data-use-terms", token, string(body))
}

// termsHistory returns "user TYPE until" for each step of an accession's history,
// and checks the form of everything else.
func (d *door) termsHistory(t *testing.T, accession seqlease.Accession) []string {
	t.Helper()
	var history []map[string]any
	d.call(t, "GET", "/data-use-terms/"+string(accession), "", nil).want(t, 200).into(t, &history)
	steps, last := []string{}, ""
	for _, change := range history {
		date, _ := change["changeDate"].(string)
		if !regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$`).MatchString(date) || date < last {
			t.Errorf("changeDate %v after %q", change["changeDate"], last)
		}
		last = date
		terms, _ := change["dataUseTerms"].(map[string]any)
		if len(change) != 4 || change["accession"] != string(accession) || (len(terms) == 2) != (terms["type"] == "RESTRICTED") {
			t.Errorf("a step is %v", change)
		}
		steps = append(steps, strings.TrimSuffix(fmt.Sprint(change["userName"], " ", terms["type"], " ", terms["restrictedUntil"]), " <nil>"))
	}
	if at, err := time.Parse("2006-01-02T15:04:05.000000", last); err != nil || time.Since(at).Abs() > time.Hour {
		t.Errorf("the last change was at %s: %v", last, err)
	}
	return steps
}

func TestContract_TermsThatCanNotBeAre400(t *testing.T) {
	t.Parallel()
	onBothStores(t, withTerms, func(t *testing.T, d *door) {
		restricted := d.submitUnder(t, d.newGroup(t, anna), 1, dayIn(0, 6, 0))[0]
		for _, tc := range []struct{ body, says string }{
			{`{"newDataUseTerms":{"type":"OPEN"}}`, "accessions is missing"},
			{`{"accessions":null,"newDataUseTerms":{"type":"OPEN"}}`, "accessions is missing"},
			{`{"accessions":["LOC_X"]}`, "newDataUseTerms is missing"},
			{`{"accessions":["LOC_X"],"newDataUseTerms":null}`, "newDataUseTerms is missing"},
			{`{"accessions":["LOC_X"],"newDataUseTerms":{}}`, "newDataUseTerms.type is missing"},
			{`{"accessions":["LOC_X"],"newDataUseTerms":{"type":""}}`, "newDataUseTerms.type is missing"},
			{`{"accessions":["LOC_X"],"newDataUseTerms":{"type":"open"}}`, "newDataUseTerms.type"},
			{`{"accessions":["LOC_X"],"newDataUseTerms":{"type":"SECRET"}}`, "SECRET"},
			{`{"accessions":["LOC_X"],"newDataUseTerms":{"type":"RESTRICTED"}}`, "newDataUseTerms.restrictedUntil is missing"},
			{`{"accessions":["LOC_X"],"newDataUseTerms":{"type":"RESTRICTED","restrictedUntil":null}}`, "restrictedUntil is missing"},
			{`{"accessions":["LOC_X"],"newDataUseTerms":{"type":"RESTRICTED","restrictedUntil":"tomorrow"}}`, "YYYY-MM-DD"},
			{`{"accessions":["LOC_X"],"newDataUseTerms":{"type":"RESTRICTED","restrictedUntil":"2027-02-30"}}`, "YYYY-MM-DD"},
			{`{"accessions":["LOC_X"],"newDataUseTerms":{"type":"RESTRICTED","restrictedUntil":"` + dayIn(0, 0, -1) + `"}}`, "from today"},
			{`{"accessions":["LOC_X"],"newDataUseTerms":{"type":"RESTRICTED","restrictedUntil":"` + dayIn(1, 0, 1) + `"}}`, "a year"},
			{`{"accessions":["LOC_X",null],"newDataUseTerms":{"type":"OPEN"}}`, "accessions[1]"},
			{`{"accessions":["LOC_\u0000"],"newDataUseTerms":{"type":"OPEN"}}`, "accessions[0]"},
			{`{"accessions":"LOC_X","newDataUseTerms":{"type":"OPEN"}}`, "deserialised"},
			{`{"accessions":`, "deserialised"},
		} {
			d.putJSON(t, "/data-use-terms", bob, tc.body).problem(t, 400, tc.says)
		}
		d.call(t, "PUT", "/data-use-terms", anna, strings.NewReader(`{}`)).problem(t, 415)
		// The day comes before what exists, who asks and what is allowed.
		d.changeTerms(t, bob, dayIn(0, 0, -1), restricted, "LOC_X").problem(t, 400, "restrictedUntil")
		wantList(t, "history", d.termsHistory(t, restricted), []string{"anna RESTRICTED " + dayIn(0, 6, 0)})
	})
}

func TestContract_TermsChecksInOrder(t *testing.T) {
	t.Parallel()
	onBothStores(t, withTerms, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		open, restricted := d.submitUnder(t, group, 1, "")[0], d.submitUnder(t, group, 2, dayIn(0, 6, 0))
		d.changeTerms(t, bob, "", "LOC_Y", open, "LOC_X").problem(t, 422, "do not exist: LOC_X, LOC_Y")
		d.changeTerms(t, bob, "", open, restricted[0]).problem(t, 403, bob, "group 1", string(open)+".1", string(restricted[0])+".1")
		d.changeTerms(t, anna, "", open, restricted[0]).problem(t, 422, string(open), "already")
		d.changeTerms(t, anna, dayIn(0, 1, 0), open, restricted[0]).problem(t, 422, string(open), "can't be restricted")
		d.changeTerms(t, anna, dayIn(0, 6, 1), restricted...).problem(t, 422, string(restricted[0]), dayIn(0, 6, 0), "extend")
		d.changeTerms(t, "", "", restricted...).problem(t, 403)
		d.changeTerms(t, "nobody", "", restricted...).want(t, 401)
		for _, accession := range append(restricted, open) {
			if history := d.termsHistory(t, accession); len(history) != 1 {
				t.Errorf("history of %s: %v", accession, history)
			}
		}
		if a := d.changeTerms(t, bob, "").want(t, 204); len(a.body) != 0 {
			t.Errorf("no accessions: body %q", a.body)
		}
	})
}

func TestContract_TermsHistory(t *testing.T) {
	t.Parallel()
	onBothStores(t, withTerms, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		open, restricted := d.submitUnder(t, group, 1, "")[0], d.submitUnder(t, group, 2, dayIn(1, 0, 0))
		first := "anna RESTRICTED " + dayIn(1, 0, 0)
		wantList(t, "history of open data", d.termsHistory(t, open), []string{"anna OPEN"})
		wantList(t, "history of restricted data", d.termsHistory(t, restricted[0]), []string{first})

		// One of the accessions twice is one change.
		d.changeTerms(t, anna, dayIn(0, 2, 0), restricted[0], restricted[1], restricted[0]).want(t, 204)
		d.changeTerms(t, anna, dayIn(0, 2, 0), restricted[0]).want(t, 204) // the same day
		d.changeTerms(t, root, dayIn(), restricted[0]).want(t, 204)
		d.changeTerms(t, anna, "", restricted[0]).want(t, 204)
		d.changeTerms(t, anna, "", restricted[0]).problem(t, 422, "already")
		wantList(t, "history", d.termsHistory(t, restricted[0]), []string{
			first, "anna RESTRICTED " + dayIn(0, 2, 0), "anna RESTRICTED " + dayIn(0, 2, 0), "root RESTRICTED " + dayIn(), "anna OPEN",
		})
		wantList(t, "history of the other", d.termsHistory(t, restricted[1]), []string{first, "anna RESTRICTED " + dayIn(0, 2, 0)})

		for _, unknown := range []string{"LOC_X", strings.ToLower(string(open)), string(open) + ".1", "%00"} {
			d.call(t, "GET", "/data-use-terms/"+unknown, "", nil).problem(t, 404)
		}
		for _, impossible := range []string{"%ff", strings.Repeat("X", 300)} {
			d.call(t, "GET", "/data-use-terms/"+impossible, "", nil).want(t, 404)
		}
		d.call(t, "GET", "/data-use-terms/"+string(open), bob, nil).want(t, 200)
		d.call(t, "GET", "/data-use-terms/"+string(open), "nobody", nil).want(t, 401)
		d.call(t, "GET", "/data-use-terms", anna, nil).problem(t, 405)
	})
}

// TestContract_LongTermsHistory: who repeats a change adds to the history each
// time; all of it comes.
func TestContract_LongTermsHistory(t *testing.T) {
	t.Parallel()
	onBothStores(t, withTerms, func(t *testing.T, d *door) {
		accession := d.submitUnder(t, d.newGroup(t, anna), 1, dayIn(0, 6, 0))[0]
		const changes = 510 // more than are read at once
		for range changes {
			d.changeTerms(t, anna, dayIn(0, 6, 0), accession).want(t, 204)
		}
		if got := len(d.termsHistory(t, accession)); got != changes+1 {
			t.Errorf("the history has %d steps, want %d", got, changes+1)
		}
	})
}

func TestContract_TermsHoldAtOnce(t *testing.T) {
	t.Parallel()
	onBothStores(t, withTerms, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		accession := d.submitUnder(t, group, 1, dayIn(0, 6, 0))[0]
		d.sendResults(t, resultsOf(d.claim(t, pipe, 1))).want(t, 204)
		d.call(t, "POST", "/zika/approve-processed-data", anna, strings.NewReader(`{"scope":"ALL"}`), "Content-Type", jsonType).want(t, 200)
		_, tag := d.publishedMetadata(t)
		other := d.call(t, "GET", "/cchf/get-released-data", "", nil).want(t, 200).Header.Get("ETag")
		for _, step := range []struct {
			until, terms, shown, openAt, url any
		}{
			{dayIn(0, 3, 0), "RESTRICTED", dayIn(0, 3, 0), nil, "https://restricted"},
			{dayIn(), "OPEN", nil, dayIn(), "https://open"}, // ends today: it is over
			{"", "OPEN", nil, dayIn(), "https://open"},
		} {
			until, _ := step.until.(string)
			d.changeTerms(t, anna, until, accession).want(t, 204)
			tag = d.wantTag(t, "zika", tag, 200)
			metadata, _ := d.publishedMetadata(t)
			got := map[string]any{}
			for _, key := range []string{"dataUseTerms", "dataUseTermsRestrictedUntil", "dataBecameOpenAt", "dataUseTermsUrl"} {
				got[key] = metadata[0][key]
			}
			if diff := cmp.Diff(got, map[string]any{
				"dataUseTerms": step.terms, "dataUseTermsRestrictedUntil": step.shown, "dataBecameOpenAt": step.openAt, "dataUseTermsUrl": step.url,
			}); diff != "" {
				t.Errorf("released after %q (-got +want):\n%s", until, diff)
			}
			var listed struct {
				SequenceEntries []struct{ DataUseTerms map[string]string }
			}
			d.call(t, "GET", "/zika/get-sequences", anna, nil).want(t, 200).into(t, &listed)
			want := map[string]string{"type": "OPEN"}
			if until != "" {
				want = map[string]string{"type": "RESTRICTED", "restrictedUntil": until}
			}
			if diff := cmp.Diff(listed.SequenceEntries[0].DataUseTerms, want); diff != "" {
				t.Errorf("listed after %q (-got +want):\n%s", until, diff)
			}
		}
		d.changeTerms(t, anna, "", accession).problem(t, 422)
		d.wantTag(t, "zika", tag, 304)
		d.wantTag(t, "cchf", other, 304)
	})
}

// TestContract_TermsDisabled: all that is submitted is open then, whatever an upload
// says, and the table allows no change of it.
func TestContract_TermsDisabled(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		for _, accession := range d.submitUnder(t, group, 2, dayIn(0, 6, 0)) {
			wantList(t, "history", d.termsHistory(t, accession), []string{"anna OPEN"})
			d.changeTerms(t, anna, "", accession).problem(t, 422, "already")
			d.changeTerms(t, anna, dayIn(0, 6, 0), accession).problem(t, 422, "can't be restricted")
			d.changeTerms(t, anna, dayIn(0, 0, -1), accession).problem(t, 400, "restrictedUntil")
			d.changeTerms(t, bob, "", accession).problem(t, 403)
		}
		d.changeTerms(t, anna, "", "LOC_X").problem(t, 422, "LOC_X")
	})
}
