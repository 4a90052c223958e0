package httpapi_test

import (
	"strings"
	"testing"

	"github.com/seqlease/seqlease"
)

// TestSelection_L18_AccessionsThatAreNone sends accessions that no store can hold
// to every call that lists some, on both stores.
func TestSelection_L18_AccessionsThatAreNone(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]doorOptions{"sqlite": {}, "postgres": {open: openPostgres(newPostgres(t), 4)}} {
		d := newDoor(t, open)
		d.submit(t, d.newGroup(t, anna), 1, 20)
		entry := d.claim(t, pipe, 1)[0]
		for accession, word := range map[string]string{
			`A\u0000`: "NUL", strings.Repeat("A", 256): "255", strings.Repeat("é", 256): "255",
		} {
			list := `"accessionVersions":` + jsonList(entry)
			list = list[:len(list)-1] + `,{"accession":"` + accession + `","version":1}]`
			for path, token := range map[string]string{
				"return-lease": pipe, "leases/free": root, "quarantine": root, "quarantine/requeue": root, "reprocess": root,
			} {
				body := `{` + list + `}`
				if path == "return-lease" {
					body = ofAttempt(entry.AttemptID, ","+list)
				}
				t.Logf("%s: %s %.60q", name, path, accession)
				d.post(t, path, token, body).problem(t, 400, "accessionVersions[1].accession", word)
			}
			filter := strings.Replace(list, "accessionVersions", "accessionVersionsFilter", 1)
			d.post(t, "approve-processed-data", anna, `{"scope":"ALL",`+filter+`}`).problem(t, 400, "accessionVersionsFilter[1].accession", word)
		}
		long := strings.Repeat("é", 255)
		d.post(t, "quarantine", root, `{"accessionVersions":[{"accession":"`+long+`","version":1}]}`).want(t, 200)
		if n := d.statusCounts(t, "zika")[seqlease.InProcessing]; n != 1 {
			t.Errorf("%s: %d entries are held, want 1: something was done", name, n)
		}
	}
}

// TestResults_L5_B094_EndlessAccessionsAreRefused sends them in every place of a
// line from which an accession is read.
func TestResults_L5_B094_EndlessAccessionsAreRefused(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	d.submit(t, d.newGroup(t, anna), 2, 20)
	mine := d.claim(t, pipe, 2)
	endless := strings.Repeat("A", 20_000)
	long := strings.Replace(resultOf(mine[0]), string(mine[0].Accession), endless, 1)
	undecodable := strings.Replace(long, `"data"`, `"date"`, 1)
	a := d.sendResults(t, long).want(t, 422)
	if !strings.Contains(string(a.body), "255 characters") || len(a.body) > 2000 {
		t.Errorf("got %d bytes: %.500s", len(a.body), a.body)
	}
	if body := d.sendResults(t, undecodable).want(t, 400).body; len(body) > 2000 {
		t.Errorf("an undecodable line is answered with %d bytes: %.500s", len(body), body)
	}
	got := d.sendSkipping(t, long, undecodable, resultOf(mine[1]))
	if got.Stored != 1 || len(got.Refused) != 2 {
		t.Fatalf("got %.500v", got)
	}
	for _, r := range got.Refused {
		if r.Reason != seqlease.RefusedInvalid || r.Accession != "" || len(r.Detail) > 500 {
			t.Errorf("refused %.500v", r)
		}
	}
}

// TestSubmit_L9_B095_StrangersSlowNobodyDown names a worker's attempt in invalid
// results of another user.
func TestSubmit_L9_B095_StrangersSlowNobodyDown(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		d.submit(t, d.newGroup(t, anna), 8, 20)
		mine := entriesOf(t, d.claimAs(t, "w1", 4).body)
		invalid := strings.Replace(resultOf(mine[0]), `"age"`, `"colour"`, 1)
		send := func(token string) {
			t.Helper()
			d.call(t, "POST", "/zika/submit-processed-data?pipelineVersion=1", token, strings.NewReader(invalid),
				"Content-Type", "application/x-ndjson").problem(t, 422)
		}
		for range 8 {
			send(pipe2)
		}
		if a := d.claimAs(t, "w1", 1); len(a.body) == 0 || a.Header.Get("Retry-After") != "" {
			t.Errorf("the worker is slowed down for %s s by a stranger", a.Header.Get("Retry-After"))
		}
		for range 8 {
			send(pipe)
		}
		if a := d.claimAs(t, "w1", 1); a.Header.Get("Retry-After") == "" {
			t.Error("the worker's own failures don't slow it down")
		}
	})
}
