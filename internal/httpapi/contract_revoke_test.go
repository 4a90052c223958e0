package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
)

func revokeJSON(entries []seqlease.AccessionVersion, more string) string {
	var accessions []string
	for _, av := range entries {
		accessions = append(accessions, string(av.Accession))
	}
	return `{"accessions":` + listJSON(accessions) + more + `}`
}

// TestContract_Revoke takes revocations from the call to the release.
func TestContract_Revoke(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{versions: true}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		all := d.judged(t, group, "NNN")
		d.approved(t, all...)
		before := d.call(t, "GET", "/zika/get-released-data", "", nil).want(t, 200)

		// Unsorted, one of them twice; unknown members are ignored.
		asked := []seqlease.AccessionVersion{all[2], all[0], all[2]}
		a := d.send(t, "POST", "revoke", anna, revokeJSON(asked, `,"versionComment":"mixed \"up\" \u00e9","later":{}`)).want(t, 200)
		var made []map[string]any
		a.into(t, &made)
		want := []map[string]any{
			{"accession": string(all[0].Accession), "version": 2.0, "submissionId": "s0"},
			{"accession": string(all[2].Accession), "version": 2.0, "submissionId": "s0"},
		}
		if diff := cmp.Diff(want, made); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}

		var list struct{ SequenceEntries []map[string]any }
		d.call(t, "GET", "/zika/get-sequences?statusesFilter=PROCESSED", anna, nil).want(t, 200).into(t, &list)
		entry := func(av seqlease.AccessionVersion) map[string]any {
			return map[string]any{
				"accession": string(av.Accession), "version": 2.0, "status": "PROCESSED", "processingResult": "NO_ISSUES", "groupId": float64(group),
				"submitter": "anna", "isRevocation": true, "submissionId": "s0", "dataUseTerms": map[string]any{"type": "OPEN"},
			}
		}
		if diff := cmp.Diff([]map[string]any{entry(all[0]), entry(all[2])}, list.SequenceEntries); diff != "" {
			t.Errorf("listed (-want +got):\n%s", diff)
		}
		for version := range 2 { // never extracted, neither by a newer version
			for _, e := range d.claimVersion(t, "zika", version+1, 10) {
				if e.Version != 1 {
					t.Errorf("version %d was given %s", version+1, e.AccessionVersion)
				}
			}
		}
		after := d.call(t, "GET", "/zika/get-released-data", "", nil, "If-None-Match", before.Header.Get("ETag"))
		after.want(t, http.StatusNotModified)

		revocations := []seqlease.AccessionVersion{{Accession: all[0].Accession, Version: 2}, {Accession: all[2].Accession, Version: 2}}
		d.send(t, "POST", "approve-processed-data", anna, `{"scope":"WITHOUT_WARNINGS"}`).wantEntries(t, "approved", revocations...)
		released := d.call(t, "GET", "/zika/get-released-data", "", nil, "If-None-Match", before.Header.Get("ETag")).want(t, 200)
		if n := strings.Count(string(released.body), "\n"); n != 5 {
			t.Errorf("%d lines are released, want 5", n)
		}
		if n := strings.Count(string(released.body), `"isRevocation":true`); n != 2 {
			t.Errorf("%d revocations are released, want 2: %s", n, released.body)
		}
		d.wantAudited(t, "revoke", audited{"anna", "revoke", "", 2})

		// An approved revocation is the highest version, and is released.
		again := d.send(t, "POST", "revoke", root, revokeJSON(all[:1], `,"versionComment":null`)).want(t, 200)
		if !strings.Contains(string(again.body), `"version":3`) {
			t.Errorf("revoked again: %s", again.body)
		}
	})
}

// TestContract_RevokeRefuses spoils a request at one place and at all later ones, in
// the protocol's order of checks.
func TestContract_RevokeRefuses(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		all := d.judged(t, group, "NNEN")
		d.approved(t, all[0], all[1])
		held := d.submit(t, group, 1, 20)[0].AccessionVersion
		d.claim(t, pipe, 1)
		waiting := d.submit(t, group, 1, 20)[0].AccessionVersion
		foreign := d.submitCCHF(t, group)
		unknown := seqlease.AccessionVersion{Accession: "LOC_NONE"}
		before := d.states(t)
		for _, tt := range []struct {
			name, token string
			entries     []seqlease.AccessionVersion
			status      int
			words       []string
		}{
			{"unknown before all else", bob, []seqlease.AccessionVersion{all[0], unknown, waiting, foreign}, 422, []string{"LOC_NONE", "do not exist"}},
			{"permission before the state", bob, []seqlease.AccessionVersion{all[0], waiting, foreign}, 403, []string{`"bob"`, fmt.Sprintf("group %d", group), all[0].String(), waiting.String(), foreign.String()}},
			{"state before the organism", anna, []seqlease.AccessionVersion{all[0], waiting, foreign, held, all[2]}, 422, []string{
				"[APPROVED_FOR_RELEASE]", all[2].String() + " - PROCESSED, " + held.String() + " - IN_PROCESSING, " + waiting.String() + " - RECEIVED, " + foreign.String() + " - RECEIVED",
			}},
			{"one that isn't released", anna, []seqlease.AccessionVersion{all[0], all[1], all[3]}, 422, []string{all[3].String() + " - PROCESSED"}},
		} {
			t.Log(tt.name)
			d.send(t, "POST", "revoke", tt.token, revokeJSON(tt.entries, "")).problem(t, tt.status, tt.words...)
		}
		d.call(t, "POST", "/cchf/revoke", anna, strings.NewReader(revokeJSON(all[:1], "")), "Content-Type", "application/json").
			problem(t, 422, "organism", all[0].String(), "zika")
		d.call(t, "POST", "/nowhere/revoke", anna, strings.NewReader(revokeJSON(all[:1], "")), "Content-Type", "application/json").
			problem(t, 400, "nowhere", "zika")
		if diff := cmp.Diff(before, d.states(t)); diff != "" {
			t.Errorf("something has changed (-before +after):\n%s", diff)
		}
		d.wantAudited(t, "revoke")
	})
}

func TestContract_RevokeBody(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		all := d.judged(t, d.newGroup(t, anna), "N")
		d.approved(t, all...)
		one := revokeJSON(all, "")
		for _, tt := range []struct {
			body   string
			status int
			words  []string
		}{
			{`{}`, 400, []string{"the body could not be deserialised: accessions is missing or null"}},
			{`{"accessions":null}`, 400, []string{"the body could not be deserialised: accessions is missing or null"}},
			{`{"accessions":["A",null]}`, 400, []string{"deserialised", "accessions[1]"}},
			{`{"accessions":"` + string(all[0].Accession) + `"}`, 400, []string{"accessions", "deserialised"}},
			{`{"accessions":[{}]}`, 400, []string{"accessions", "deserialised"}},
			{`{"accessions":["A\u0000"]}`, 400, []string{"accessions[0]", "NUL"}},
			{`{"accessions":["` + strings.Repeat("A", 256) + `"]}`, 400, []string{"accessions[0]", "255"}},
			{`{"accessions":[` + strings.Repeat(`"A",`, 100_000) + `"A"]}`, 400, []string{"accessions", "100000"}},
			{strings.Replace(one, "}", `,"versionComment":"a\u0000b"}`, 1), 422, []string{"versionComment", "NUL"}},
			{strings.Replace(one, "}", `,"versionComment":"\ud800"}`, 1), 400, []string{"versionComment"}},
			{strings.Replace(one, "}", `,"versionComment":"`+strings.Repeat("é", 10_001)+`"}`, 1), 400, []string{"versionComment", "10000"}},
			{`nonsense`, 400, []string{"deserialised"}},
			{`{"accessions":["` + strings.Repeat("A", 33<<20) + `"]}`, 413, []string{"bytes"}},
		} {
			t.Logf("%.60s", tt.body)
			d.send(t, "POST", "revoke", anna, tt.body).problem(t, tt.status, tt.words...)
		}
		d.call(t, "POST", "/zika/revoke", anna, strings.NewReader(one)).problem(t, 415, "application/json")
		d.call(t, "GET", "/zika/revoke", anna, nil).problem(t, 405, "POST")
		d.send(t, "POST", "revoke", anna, `{"accessions":[]}`).wantEntries(t, "nothing")
		if got := d.states(t); len(got) != 1 {
			t.Errorf("something was revoked: %v", got)
		}
		longest := strings.Repeat("é", 10_000)
		d.send(t, "POST", "revoke", anna, strings.Replace(one, "}", `,"versionComment":"`+longest+`"}`, 1)).want(t, 200)
	})
}

// TestContract_RevokeAtOnce has exactly one of two requests win.
func TestContract_RevokeAtOnce(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		for range 5 {
			all := d.judged(t, group, "N")
			d.approved(t, all...)
			statuses := make(chan int, 2)
			for range cap(statuses) {
				go func() {
					a, err := d.try(t, "POST", "/zika/revoke", anna, strings.NewReader(revokeJSON(all, "")), "Content-Type", "application/json")
					if err != nil {
						t.Error(err)
						statuses <- 0
						return
					}
					statuses <- a.StatusCode
				}()
			}
			if first, second := <-statuses, <-statuses; first+second != 200+422 {
				t.Errorf("the requests were answered %d and %d, want 200 and 422", first, second)
			}
		}
	})
}
