package httpapi_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/httpapi"
)

// messy holds damaged uploads and what a server should do with each.
const messy = "../../testdata/messy"

// TestUpload_MessyFiles sends every case over HTTP, as a submission and as a revision: it
// is taken whole, or refused with a message that names what it must and with every
// problem's place and value, and then nothing is stored.
func TestUpload_MessyFiles(t *testing.T) {
	t.Parallel()
	rows := messyRows(t)
	for _, call := range []string{"submit", "revise"} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
				group := d.newGroup(t, anna)
				query := ""
				if call == "submit" {
					query = fmt.Sprintf("?groupId=%d", group)
				} else {
					d.makeMessyReleased(t, group)
				}
				for _, row := range rows {
					d.sendMessy(t, row, call, query)
				}
				if left := d.leftovers(t); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
			})
		})
	}
}

// messyRow is a line of expected.tsv.
type messyRow struct {
	name, decision, stage, names string
	problems                     []httpapi.InputProblem
}

func messyRows(t *testing.T) []messyRow {
	t.Helper()
	table, err := os.ReadFile(filepath.Join(messy, "expected.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	problems := messyProblems(t)
	var rows []messyRow
	for _, line := range strings.Split(strings.TrimSpace(string(table)), "\n")[1:] {
		f := strings.Split(line, "\t")
		rows = append(rows, messyRow{f[0], f[1], f[2], f[4], problems[f[0]]})
	}
	if len(rows) < 70 {
		t.Fatalf("only %d cases", len(rows))
	}
	return rows
}

// The accessions that the messy files name, and those that [addAccessions] does.
var (
	messyZika = []string{"KU501215", "KY317939", "KY785425", "ON843165"}
	messyCCHF = []string{"CCHF2", "CCHF3"}
)

// makeMessyReleased makes released entries of what the messy files name.
func (d *door) makeMessyReleased(t *testing.T, group int64) {
	t.Helper()
	for organism, accessions := range map[string][]string{"zika": messyZika, "cchf": messyCCHF} {
		for _, accession := range accessions {
			var made []seqlease.SubmissionIDMapping
			d.sendUpload(t, fmt.Sprintf("/%s/submit?groupId=%d", organism, group), anna,
				[]string{"metadataFile", goodMetadata, "sequenceFile", goodSequences}).want(t, 200).into(t, &made)
			d.changeBehind(t, fmt.Sprintf("UPDATE entry SET accession = '%s' WHERE accession = '%s'", accession, made[0].Accession))
		}
	}
	d.releaseBehind(t)
}

// releaseBehind makes everything released that is stored.
func (d *door) releaseBehind(t *testing.T) {
	t.Helper()
	d.changeBehind(t, "UPDATE entry SET approver = 'root', released_at = submitted_at")
}

// addAccessions puts a column before the others. Row n has the accession CCHFn.
func addAccessions(table []byte) []byte {
	var all []byte
	n := 0
	for line := range bytes.Lines(table) {
		if n++; n == 1 {
			all = append(all, "accession\t"...)
		} else {
			all = fmt.Appendf(all, "CCHF%d\t", n)
		}
		all = append(all, line...)
	}
	return all
}

// sendMessy sends a case and checks what becomes of it.
func (d *door) sendMessy(t *testing.T, row messyRow, call, query string) {
	t.Helper()
	organism := "zika"
	var change func([]byte) []byte
	if strings.Contains(row.name, "multi-segment") {
		organism = "cchf"
		if call == "revise" {
			change = addAccessions
		}
	}
	want := row.problems
	if call == "revise" && row.name == "11-duplicate-metadata-id" {
		want = slices.Concat([]httpapi.InputProblem{{
			File: "metadata file", Line: 5, Record: "Colombia/2016/ZC204Se", Field: "accession", Value: "KY317939", Message: "stands in line 3 already",
		}}, want)
	}
	before := d.statusCounts(t, organism)
	body, contentType := messyBody(t, row.name, change)
	a := d.call(t, "POST", "/"+organism+"/"+call+query, anna, body, "Content-Type", contentType)
	if a.StatusCode == http.StatusOK {
		var stored []any
		a.into(t, &stored)
		if row.decision == "reject" || len(want) > 0 || len(stored) == 0 {
			t.Errorf("%s: stored %d entries, want %s", row.name, len(stored), row.decision)
		}
		if call == "revise" {
			d.releaseBehind(t) // for the next case
		}
		return
	}
	if row.decision == "accept" || (row.decision == "either" && row.stage == "processing" && a.StatusCode >= 500) {
		t.Errorf("%s: got %d, want it accepted: %s", row.name, a.StatusCode, a.body)
		return
	}
	status := http.StatusUnprocessableEntity
	if row.name == "57-zst-bomb" {
		status = http.StatusRequestEntityTooLarge
	}
	words := []string{}
	if row.names != "" && (row.decision == "reject" || row.stage == "submit") {
		words = append(words, row.names)
	}
	got := a.problem(t, status, words...).Problems
	for i := range got {
		if i < len(want) && strings.Contains(got[i].Message, want[i].Message) {
			got[i].Message = want[i].Message
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: problems (-want +got):\n%s", row.name, diff)
	}
	if after := d.statusCounts(t, organism); !cmp.Equal(after, before) {
		t.Errorf("%s: refused, but the counts went from %v to %v", row.name, before, after)
	}
}

// messyProblems reads all problems of every refused case, with words of their messages.
func messyProblems(t *testing.T) map[string][]httpapi.InputProblem {
	t.Helper()
	table, err := os.ReadFile(filepath.Join(messy, "named.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	problems := map[string][]httpapi.InputProblem{}
	for _, row := range strings.Split(strings.TrimSpace(string(table)), "\n")[1:] {
		f := strings.Split(row, "\t")
		line, err := strconv.Atoi(f[2])
		if err != nil {
			t.Fatalf("%q: %v", row, err)
		}
		value := ""
		if f[5] != "" {
			if value, err = strconv.Unquote(f[5]); err != nil {
				t.Fatalf("%q: %v", row, err)
			}
		}
		problems[f[0]] = append(problems[f[0]], httpapi.InputProblem{
			File: f[1], Line: line, Record: f[3], Field: f[4], Value: value, Message: f[6],
		})
	}
	return problems
}

// messyBody makes the upload of a case, with the files' own names. change, if set,
// changes the metadata.
func messyBody(t *testing.T, name string, change func([]byte) []byte) (body *bytes.Buffer, contentType string) {
	t.Helper()
	body = &bytes.Buffer{}
	w := multipart.NewWriter(body)
	for part, pattern := range map[string]string{"metadataFile": "metadata*", "sequenceFile": "sequences*"} {
		found, err := filepath.Glob(filepath.Join(messy, name, pattern))
		if err != nil || len(found) > 1 {
			t.Fatalf("%s: %v, error %v", name, found, err)
		}
		if len(found) == 0 {
			continue
		}
		content, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		if part == "metadataFile" && change != nil {
			content = change(content)
		}
		file, err := w.CreateFormFile(part, filepath.Base(found[0]))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return body, w.FormDataContentType()
}
