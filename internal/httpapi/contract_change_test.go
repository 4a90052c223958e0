package httpapi_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
)

// audited is a row of the audit log.
type audited struct {
	User, Action, Entry string // Entry is empty for a whole call
	Entries             int64
}

// wantAudited checks the rows of the audit log that name one of the actions.
func (d *door) wantAudited(t *testing.T, actions string, want ...audited) {
	t.Helper()
	const query = `SELECT user_name, action, coalesce(accession || '.' || version, ''), entries FROM audit ORDER BY number`
	var all []audited
	scan := func(next func() bool, scan func(...any) error) {
		for next() {
			var a audited
			if err := scan(&a.User, &a.Action, &a.Entry, &a.Entries); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(actions, a.Action) {
				all = append(all, a)
			}
		}
	}
	if strings.HasPrefix(d.address, "file:") {
		db, err := sql.Open("sqlite", d.address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		rows, err := db.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
		scan(rows.Next, rows.Scan)
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	} else {
		conn, err := pgx.Connect(t.Context(), d.address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(t.Context()) }()
		rows, err := conn.Query(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		scan(rows.Next, rows.Scan)
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("audit log of %s (-want +got):\n%s", actions, diff)
	}
}

// send sends a JSON body to an operation of zika.
func (d *door) send(t *testing.T, method, path, token, body string) answer {
	t.Helper()
	return d.call(t, method, "/zika/"+path, token, strings.NewReader(body), "Content-Type", "application/json")
}

// judged submits an entry for each judgement (N, W, E for no issues, a warning, an
// error; R for one that stays received, at the end) in one group and has it processed
// so.
func (d *door) judged(t *testing.T, group int64, judgements string) []seqlease.AccessionVersion {
	t.Helper()
	all := make([]seqlease.AccessionVersion, len(judgements))
	for i, judgement := range judgements {
		all[i] = d.submit(t, group, 1, 20)[0].AccessionVersion
		if judgement != 'R' {
			d.sendResults(t, judgedLine(d.claim(t, pipe, 1)[0], judgement)).want(t, 204)
		}
	}
	return all
}

// judgedLine is the line of a result that is judged so.
func judgedLine(e seqlease.Entry, judgement rune) string {
	const note = `[{"unprocessedFields":[{"type":"Metadata","name":"country"}],"processedFields":[],"message":"odd"}]`
	switch line := resultOf(e); judgement {
	case 'E':
		return strings.Replace(line, `"errors":[]`, `"errors":`+note, 1)
	case 'W':
		return strings.Replace(line, `"warnings":[]`, `"warnings":`+note, 1)
	default:
		return line
	}
}

// approved approves the entries.
func (d *door) approved(t *testing.T, entries ...seqlease.AccessionVersion) {
	t.Helper()
	d.send(t, "POST", "approve-processed-data", root, `{"scope":"ALL","accessionVersionsFilter":`+listJSON(entries)+`}`).want(t, 200)
}

// claimVersion claims entries of an organism with a pipeline version.
func (d *door) claimVersion(t *testing.T, organism string, version, n int) []seqlease.Entry {
	t.Helper()
	path := fmt.Sprintf("/%s/extract-unprocessed-data?numberOfSequenceEntries=%d&pipelineVersion=%d", organism, n, version)
	return entriesOf(t, d.call(t, "POST", path, pipe, nil).want(t, 200).body)
}

// submitCCHF uploads one entry of the organism cchf.
func (d *door) submitCCHF(t *testing.T, group int64) seqlease.AccessionVersion {
	t.Helper()
	body, contentType := upload(t, "metadataFile", "@m.tsv\nid\tcountry\ns\tx\n", "sequenceFile", "@s.fasta\n>s\nACGT\n")
	var stored []seqlease.SubmissionIDMapping
	d.call(t, "POST", fmt.Sprintf("/cchf/submit?groupId=%d", group), anna, body, "Content-Type", contentType).want(t, 200).into(t, &stored)
	return stored[0].AccessionVersion
}

// states lists the entries of zika as root sees them: "ACC.1 STATUS RESULT".
func (d *door) states(t *testing.T) []string {
	t.Helper()
	var list struct {
		SequenceEntries []struct {
			seqlease.AccessionVersion
			Status, ProcessingResult string
		}
	}
	d.call(t, "GET", "/zika/get-sequences", root, nil).want(t, 200).into(t, &list)
	var states []string
	for _, e := range list.SequenceEntries {
		states = append(states, strings.TrimSpace(e.String()+" "+e.Status+" "+e.ProcessingResult))
	}
	return states
}

// entries reads a list of entries from an answer.
func (a answer) entries(t *testing.T) []seqlease.AccessionVersion {
	t.Helper()
	var list []seqlease.AccessionVersion
	a.want(t, 200).into(t, &list)
	return list
}

// wantEntries checks a list of entries in an answer, which must be one and not null.
func (a answer) wantEntries(t *testing.T, what string, want ...seqlease.AccessionVersion) {
	t.Helper()
	got := a.entries(t)
	if len(want) == 0 && string(a.body) != "[]" || len(want) > 0 && !cmp.Equal(got, want) {
		t.Errorf("%s: got %s, want %v", what, a.body, want)
	}
}

func listJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// allOf is a list of accession versions by place.
func allOf(all []seqlease.AccessionVersion, places ...int) []seqlease.AccessionVersion {
	list := []seqlease.AccessionVersion{}
	for _, i := range places {
		list = append(list, all[i])
	}
	return list
}
