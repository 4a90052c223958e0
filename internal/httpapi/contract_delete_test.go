package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
)

func deleteJSON(scope string, entries any, more string) string {
	return fmt.Sprintf(`{"scope":%q,"accessionVersionsFilter":%s%s}`, scope, listJSON(entries), more)
}

const deletePath = "delete-sequence-entry-versions"

// TestContract_Delete takes what scope, filters and groups say, step by step from one
// set of entries.
func TestContract_Delete(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		groups := [2]int64{d.newGroup(t, anna), d.newGroup(t, bob)}
		all := append(d.judged(t, groups[0], "NWENWEWN"), d.submitAs(t, bob, groups[1]))
		d.approved(t, all[0], all[1])
		d.send(t, "POST", "revoke", anna, revokeJSON(all[:2], "")).want(t, 200)
		revoked := []seqlease.AccessionVersion{{Accession: all[0].Accession, Version: 2}, {Accession: all[1].Accession, Version: 2}}
		d.approved(t, revoked[1])
		d.processNewest(t, all[8])
		held := d.submit(t, groups[0], 1, 20)[0].AccessionVersion
		d.claim(t, pipe, 1)
		waiting := d.submit(t, groups[0], 1, 20)[0].AccessionVersion
		tag := d.call(t, "GET", "/zika/get-released-data", "", nil).want(t, 200).Header.Get("ETag")
		steps := []struct {
			name, token, body string
			want              []seqlease.AccessionVersion
		}{
			{"with errors, of one's own groups", bob, `{"scope":"PROCESSED_WITH_ERRORS"}`, nil},
			{"named ones with errors, one twice", anna, deleteJSON("PROCESSED_WITH_ERRORS", allOf(all, 2, 2, 3, 4), ""), allOf(all, 2)},
			{"no names", root, `{"scope":"ALL","accessionVersionsFilter":[]}`, nil},
			{"no groups", root, `{"scope":"ALL","groupIdsFilter":[]}`, nil},
			{"with warnings", anna, `{"scope":"PROCESSED_WITH_WARNINGS","accessionVersionsFilter":null,"groupIdsFilter":null,"later":1}`, allOf(all, 4, 6)},
			{"with errors", root, `{"scope":"PROCESSED_WITH_ERRORS"}`, allOf(all, 5)},
			{"named ones of another group", root, deleteJSON("ALL", allOf(all, 3), fmt.Sprintf(`,"groupIdsFilter":[%d]`, groups[1])), nil},
			{"named ones", anna, deleteJSON("ALL", allOf(all, 3), ""), allOf(all, 3)},
			{"all of a group", root, fmt.Sprintf(`{"scope":"ALL","groupIdsFilter":[%d]}`, groups[1]), allOf(all, 8)},
			{"all of one's own groups", anna, `{"scope":"ALL"}`, []seqlease.AccessionVersion{revoked[0], all[7], waiting}},
			{"all again", root, `{"scope":"ALL"}`, nil},
		}
		var rows []audited
		for _, step := range steps {
			d.send(t, "DELETE", deletePath, step.token, step.body).wantEntries(t, step.name, step.want...)
			for _, av := range step.want {
				rows = append(rows, audited{step.token, "delete", av.String(), 1})
			}
		}
		left := []string{
			all[0].String() + " APPROVED_FOR_RELEASE NO_ISSUES", all[1].String() + " APPROVED_FOR_RELEASE HAS_WARNINGS",
			revoked[1].String() + " APPROVED_FOR_RELEASE NO_ISSUES", held.String() + " IN_PROCESSING",
		}
		if diff := cmp.Diff(left, d.states(t)); diff != "" {
			t.Errorf("left (-want +got):\n%s", diff)
		}
		d.wantAudited(t, "delete", rows...)
		d.call(t, "GET", "/zika/get-released-data", "", nil, "If-None-Match", tag).want(t, 304)
		if entries := d.claim(t, pipe, 10); len(entries) > 0 {
			t.Errorf("claimed after the deletions: %v", entries)
		}
		// With the pending revocation gone, the accession can be revoked.
		a := d.send(t, "POST", "revoke", anna, revokeJSON(all[:1], "")).want(t, 200)
		if !strings.Contains(string(a.body), `"version":2`) {
			t.Errorf("revoked: %s", a.body)
		}
	})
}

// TestContract_DeleteRefuses has the protocol's order of checks; nothing changes.
func TestContract_DeleteRefuses(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		all := d.judged(t, group, "NE")
		d.approved(t, all[0])
		held := d.submit(t, group, 1, 20)[0].AccessionVersion
		d.claim(t, pipe, 1)
		foreign := d.submitCCHF(t, group)
		unknown := seqlease.AccessionVersion{Accession: all[1].Accession, Version: 2}
		before := d.states(t)
		many := make([]seqlease.AccessionVersion, 20_000)
		for i := range many {
			many[i] = seqlease.AccessionVersion{Accession: "NONE", Version: seqlease.Version(i + 1)}
		}
		for _, tt := range []struct {
			name, token, body string
			status            int
			words             []string
		}{
			{"unknown before the permission", bob, deleteJSON("ALL", []seqlease.AccessionVersion{unknown, all[0], held, foreign}, `,"groupIdsFilter":[99]`), 422, []string{unknown.String(), "do not exist"}},
			{"permission before the state", bob, deleteJSON("ALL", []seqlease.AccessionVersion{all[0], held, foreign}, `,"groupIdsFilter":[99]`), 403, []string{`"bob"`, all[0].String(), held.String(), foreign.String()}},
			{"state before the organism", anna, deleteJSON("ALL", []seqlease.AccessionVersion{foreign, held, all[0], all[1]}, `,"groupIdsFilter":[99]`), 422, []string{
				"[RECEIVED PROCESSED]", all[0].String() + " - APPROVED_FOR_RELEASE, " + held.String() + " - IN_PROCESSING",
			}},
			{"organism before the groups", anna, deleteJSON("ALL", []seqlease.AccessionVersion{foreign, all[1]}, `,"groupIdsFilter":[99]`), 422, []string{foreign.String(), "cchf"}},
			{"the scope narrows no check", anna, deleteJSON("PROCESSED_WITH_WARNINGS", allOf(all, 0, 1), ""), 422, []string{all[0].String() + " - APPROVED_FOR_RELEASE"}},
			{"unknown group of named ones", anna, deleteJSON("ALL", allOf(all, 1), `,"groupIdsFilter":[99]`), 404, []string{"99"}},
			{"unknown group", anna, `{"scope":"ALL","groupIdsFilter":[99]}`, 404, []string{"99"}},
			{"group of others", bob, fmt.Sprintf(`{"scope":"ALL","groupIdsFilter":[%d]}`, group), 403, []string{`"bob"`}},
			{"many unknown ones", anna, deleteJSON("ALL", many, ""), 422, []string{"NONE.1, NONE.2", "19980 more"}},
			{"no scope", anna, `{}`, 400, []string{"scope"}},
			{"empty scope", anna, `{"scope":""}`, 400, []string{"scope"}},
			{"unknown scope", anna, `{"scope":"RECEIVED"}`, 400, []string{"scope", "RECEIVED", "PROCESSED_WITH_ERRORS"}},
			{"no list", anna, `{"scope":"ALL","accessionVersionsFilter":{}}`, 400, []string{"accessionVersionsFilter"}},
			{"no version", anna, `{"scope":"ALL","accessionVersionsFilter":[{"accession":"A"}]}`, 400, []string{"version"}},
			{"no accession that can be", anna, `{"scope":"ALL","accessionVersionsFilter":[{"accession":"A\u0000","version":1}]}`, 400, []string{"accessionVersionsFilter[0].accession", "NUL"}},
			{"no JSON", anna, `nonsense`, 400, []string{"deserialised"}},
		} {
			t.Log(tt.name)
			d.send(t, "DELETE", deletePath, tt.token, tt.body).problem(t, tt.status, tt.words...)
		}
		d.call(t, "DELETE", "/zika/"+deletePath, anna, nil).problem(t, 415, "application/json")
		d.send(t, "POST", deletePath, anna, `{"scope":"ALL"}`).problem(t, 405, "DELETE")
		d.call(t, "DELETE", "/nowhere/"+deletePath, anna, strings.NewReader(`{"scope":"ALL"}`), "Content-Type", "application/json").problem(t, 400, "nowhere")
		if diff := cmp.Diff(before, d.states(t)); diff != "" {
			t.Errorf("something has changed (-before +after):\n%s", diff)
		}
		d.wantAudited(t, "delete")
	})
}

// TestContract_DeleteEndsLeases: the result of a deleted entry, which a newer pipeline
// version held, is refused, and its neighbour's is stored (L10).
func TestContract_DeleteEndsLeases(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{versions: true}, func(t *testing.T, d *door) {
		all := d.judged(t, d.newGroup(t, anna), "NN")
		held := map[seqlease.AccessionVersion]seqlease.Entry{}
		eventually(t, "the newer version has both entries", func() bool {
			for _, e := range d.claimVersion(t, "zika", 2, 10) {
				held[e.AccessionVersion] = e
			}
			return len(held) == 2
		})
		d.send(t, "DELETE", deletePath, anna, deleteJSON("ALL", allOf(all, 0), "")).wantEntries(t, "deleted", all[0])
		send := func(e seqlease.Entry) answer {
			return d.call(t, "POST", "/zika/submit-processed-data?pipelineVersion=2", pipe, strings.NewReader(resultOf(e)), "Content-Type", "application/x-ndjson")
		}
		if p := send(held[all[0]]).problem(t, 422); len(p.Refused) != 1 || p.Refused[0].Reason != seqlease.RefusedNotFound {
			t.Errorf("the late result is refused with %+v", p.Refused)
		}
		send(held[all[1]]).want(t, 204)
	})
}
