package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/seqlease/seqlease"
)

// TestContract_QueriesThatCantBeRead checks that a filter is never left out since it
// couldn't be read: the answer would hold more than was asked for.
func TestContract_QueriesThatCantBeRead(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	for _, query := range []string{"groupIdsFilter=%zz", "groupIdsFilter=1;statusesFilter=RECEIVED", "%=1", "statusesFilter=%e"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.url+"/zika/get-sequences", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.URL.RawQuery = query
		r.Header.Set("Authorization", "Bearer "+anna)
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: got %d, want 400", query, response.StatusCode)
		}
	}
}

// TestContract_DataToEditIsInTheOrderOfTheSchema has a form show the fields in one order.
func TestContract_DataToEditIsInTheOrderOfTheSchema(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		e := d.submit(t, d.newGroup(t, anna), 1, 20)[0]
		d.sendResults(t, resultsOf(d.claim(t, pipe, 1))).want(t, 204)
		for range 5 {
			a := d.call(t, "GET", fmt.Sprintf("/zika/get-data-to-edit/%s/1", e.Accession), anna, nil).want(t, 200)
			if !strings.Contains(string(a.body), `"metadata":{"country":"Kenya","date":null,"age":7}`) {
				t.Errorf("got %s", a.body)
			}
		}
	})
}

// TestContract_NullIsNoInsertion sends what pipelines might write for none.
func TestContract_NullIsNoInsertion(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	d.submit(t, d.newGroup(t, anna), 1, 20)
	line := resultOf(d.claim(t, pipe, 1)[0])
	for _, member := range []string{`{"main":["3:AC"]}`, `{"E":[]}`} {
		broken := strings.Replace(line, member, strings.NewReplacer(`["3:AC"]`, "[null]", "[]", "[null]").Replace(member), 1)
		if broken == line {
			t.Fatalf("%s is not in %s", member, line)
		}
		d.sendResults(t, broken).problem(t, 400, "line 1", "null is not an insertion")
	}
	d.sendResults(t, line).want(t, 204)
}

// TestContract_CallsOnOneEntryNameItInTheAuditLog has an operator find them by its accession.
func TestContract_CallsOnOneEntryNameItInTheAuditLog(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		e := d.submit(t, d.newGroup(t, anna), 1, 20)[0]
		d.sendResults(t, resultsOf(d.claim(t, pipe, 1))).want(t, 204)
		approve := func() {
			d.call(t, "POST", "/zika/approve-processed-data", anna, strings.NewReader(`{"scope":"ALL"}`), "Content-Type", "application/json").want(t, 200)
		}
		approve()
		d.call(t, "POST", "/zika/revoke", anna, strings.NewReader(fmt.Sprintf(`{"accessions":[%q]}`, e.Accession)), "Content-Type", "application/json").want(t, 200)
		approve()
		var page struct {
			Events []struct {
				Action  seqlease.Action
				Version int64
			}
		}
		d.call(t, "GET", "/admin/audit-log?accession="+string(e.Accession), root, nil).want(t, 200).into(t, &page)
		var got []string
		for _, event := range page.Events {
			got = append(got, fmt.Sprint(event.Action, " ", event.Version))
		}
		if want := "approve 2, revoke 2, approve 1, submit 1"; strings.Join(got, ", ") != want {
			t.Errorf("the audit log of the accession has %q, want %q", strings.Join(got, ", "), want)
		}
	})
}
