package httpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
)

func approveJSON(scope string, entries any, more string) string {
	return fmt.Sprintf(`{"scope":%q,"accessionVersionsFilter":%s%s}`, scope, listJSON(entries), more)
}

// TestContract_Approve has one door for each row, as releases are final.
func TestContract_Approve(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, token string
		body        func(all []seqlease.AccessionVersion, groups [2]int64) string
		want        []int // of: anna's without issues, with a warning, with an error, received; bob's without issues
	}{
		{"all of one's own groups", anna, func([]seqlease.AccessionVersion, [2]int64) string { return `{"scope":"ALL"}` }, []int{0, 1}},
		{"null filters", anna, func([]seqlease.AccessionVersion, [2]int64) string {
			return `{"scope":"ALL","accessionVersionsFilter":null,"groupIdsFilter":null,"submitterNamesFilter":null}`
		}, []int{0, 1}},
		{"without warnings", anna, func([]seqlease.AccessionVersion, [2]int64) string { return `{"scope":"WITHOUT_WARNINGS"}` }, []int{0}},
		{"anything for a super user", root, func([]seqlease.AccessionVersion, [2]int64) string { return `{"scope":"ALL"}` }, []int{0, 1, 4}},
		{"nothing without a group", pipe, func([]seqlease.AccessionVersion, [2]int64) string { return `{"scope":"ALL"}` }, nil},
		{"by name", anna, func(all []seqlease.AccessionVersion, _ [2]int64) string {
			return approveJSON("ALL", allOf(all, 1, 0, 1), "")
		}, []int{0, 1}},
		{"by name, without warnings", anna, func(all []seqlease.AccessionVersion, _ [2]int64) string {
			return approveJSON("WITHOUT_WARNINGS", allOf(all, 0, 1), "")
		}, []int{0}},
		{"no names", root, func(all []seqlease.AccessionVersion, _ [2]int64) string { return approveJSON("ALL", allOf(all), "") }, nil},
		{"a group", root, func(_ []seqlease.AccessionVersion, groups [2]int64) string {
			return fmt.Sprintf(`{"scope":"ALL","groupIdsFilter":[%d]}`, groups[1])
		}, []int{4}},
		{"no group", root, func([]seqlease.AccessionVersion, [2]int64) string { return `{"scope":"ALL","groupIdsFilter":[]}` }, nil},
		{"names and another group", root, func(all []seqlease.AccessionVersion, groups [2]int64) string {
			return approveJSON("ALL", allOf(all, 0, 4), fmt.Sprintf(`,"groupIdsFilter":[%d]`, groups[1]))
		}, []int{4}},
		{"a submitter", root, func([]seqlease.AccessionVersion, [2]int64) string {
			return `{"scope":"ALL","submitterNamesFilter":["bob","nobody"]}`
		}, []int{4}},
		{"names and another submitter", root, func(all []seqlease.AccessionVersion, _ [2]int64) string {
			return approveJSON("ALL", allOf(all, 0, 4), `,"submitterNamesFilter":["bob"]`)
		}, []int{4}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
				groups := [2]int64{d.newGroup(t, anna), d.newGroup(t, bob)}
				all := append(d.judged(t, groups[0], "NWER"), d.submitAs(t, bob, groups[1]))
				d.processNewest(t, all[4])
				d.send(t, "POST", "approve-processed-data", tt.token, tt.body(all, groups)).wantEntries(t, "approved", allOf(all, tt.want...)...)
				var released []seqlease.AccessionVersion
				instants := map[float64]bool{}
				for line := range strings.Lines(string(d.call(t, "GET", "/zika/get-released-data", "", nil).want(t, 200).body)) {
					var record struct{ Metadata map[string]any }
					if err := json.Unmarshal([]byte(line), &record); err != nil {
						t.Fatal(err)
					}
					m := record.Metadata
					released = append(released, seqlease.AccessionVersion{
						Accession: seqlease.Accession(m["accession"].(string)), Version: seqlease.Version(m["version"].(float64)),
					})
					instants[m["releasedAtTimestamp"].(float64)] = true
				}
				if want := allOf(all, tt.want...); len(released) != len(want) || len(want) > 0 && (!cmp.Equal(released, want) || len(instants) != 1) {
					t.Errorf("released %v at %v, want %v at one instant", released, instants, want)
				}
				switch approved := allOf(all, tt.want...); len(approved) {
				case 0:
					d.wantAudited(t, "approve")
				case 1:
					d.wantAudited(t, "approve", audited{tt.token, "approve", approved[0].String(), 1})
				default:
					d.wantAudited(t, "approve", audited{tt.token, "approve", "", int64(len(approved))})
				}
			})
		})
	}
}

// submitAs uploads one entry of zika as another user than anna.
func (d *door) submitAs(t *testing.T, token string, group int64) seqlease.AccessionVersion {
	t.Helper()
	body, contentType := upload(t, "metadataFile", "@m.tsv\nid\tcountry\ns\tx\n", "sequenceFile", "@s.fasta\n>s\nACGT\n")
	var stored []seqlease.SubmissionIDMapping
	d.call(t, "POST", fmt.Sprintf("/zika/submit?groupId=%d", group), token, body, "Content-Type", contentType).want(t, 200).into(t, &stored)
	return stored[0].AccessionVersion
}

// processNewest claims what waits and sends a result for the entry alone; the others
// wait again.
func (d *door) processNewest(t *testing.T, av seqlease.AccessionVersion) {
	t.Helper()
	var others []seqlease.Entry
	for _, e := range d.claim(t, pipe, 100) {
		if e.AccessionVersion == av {
			d.sendResults(t, resultOf(e)).want(t, 204)
		} else {
			others = append(others, e)
		}
	}
	if len(others) > 0 {
		d.post(t, "return-lease", pipe, ofAttempt(others[0].AttemptID, "")).want(t, 200)
	}
}

// TestContract_ApproveRefuses spoils requests in the order of checks: exists, organism,
// state, errors, permission, and then the groups.
func TestContract_ApproveRefuses(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		all := d.judged(t, group, "NER")
		foreign := d.submitCCHF(t, group)
		unknown := seqlease.AccessionVersion{Accession: "LOC_NONE", Version: 1}
		before := d.states(t)
		for _, tt := range []struct {
			name, token, body string
			status            int
			words             []string
		}{
			{"unknown", bob, approveJSON("ALL", []seqlease.AccessionVersion{unknown, foreign, all[0], all[1], all[2]}, `,"groupIdsFilter":[99]`), 422, []string{"LOC_NONE.1", "do not exist"}},
			{"organism", bob, approveJSON("ALL", []seqlease.AccessionVersion{foreign, all[0], all[1], all[2]}, `,"groupIdsFilter":[99]`), 422, []string{foreign.String(), "cchf"}},
			{"state", bob, approveJSON("ALL", allOf(all, 0, 1, 2), `,"groupIdsFilter":[99]`), 422, []string{"[PROCESSED]", all[2].String() + " - RECEIVED"}},
			{"errors", bob, approveJSON("ALL", allOf(all, 0, 1), `,"groupIdsFilter":[99]`), 422, []string{"errors", all[1].String()}},
			{"permission", bob, approveJSON("ALL", allOf(all, 0), `,"groupIdsFilter":[99]`), 403, []string{`"bob"`, all[0].String()}},
			{"unknown group", anna, approveJSON("ALL", allOf(all, 0), `,"groupIdsFilter":[99]`), 404, []string{"99"}},
			{"group of others", bob, fmt.Sprintf(`{"scope":"ALL","groupIdsFilter":[%d]}`, group), 403, []string{`"bob"`}},
			{"no scope", anna, `{"accessionVersionsFilter":null}`, 400, []string{"scope"}},
			{"empty scope", anna, `{"scope":""}`, 400, []string{"scope"}},
			{"scope in small letters", anna, `{"scope":"all"}`, 400, []string{"scope", "all"}},
			{"version missing", anna, `{"scope":"ALL","accessionVersionsFilter":[{"accession":"A"}]}`, 400, []string{"version"}},
			{"group that is no number", anna, `{"scope":"ALL","groupIdsFilter":["x"]}`, 400, []string{"groupIdsFilter"}},
		} {
			t.Log(tt.name)
			d.send(t, "POST", "approve-processed-data", tt.token, tt.body).problem(t, tt.status, tt.words...)
		}
		if diff := cmp.Diff(before, d.states(t)); diff != "" {
			t.Errorf("something has changed (-before +after):\n%s", diff)
		}
		d.wantAudited(t, "approve")
		d.approved(t, all[0])
		d.send(t, "POST", "approve-processed-data", anna, approveJSON("ALL", allOf(all, 0), "")).
			problem(t, 422, all[0].String()+" - APPROVED_FOR_RELEASE")
	})
}
