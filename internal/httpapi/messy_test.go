package httpapi_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease/internal/httpapi"
)

// messy holds damaged uploads and what a server should do with each.
const messy = "../../testdata/messy"

// TestSubmit_MessyFiles submits every case over HTTP: it is taken whole, or
// refused with a message that names what it must and with every problem's place,
// and then nothing is stored.
func TestSubmit_MessyFiles(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile(filepath.Join(messy, "expected.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(table)), "\n")[1:]
	if len(rows) < 70 {
		t.Fatalf("only %d cases", len(rows))
	}
	d := newDoor(t, doorOptions{})
	group := d.newGroup(t, anna)
	problems := messyProblems(t)
	for _, row := range rows {
		fields := strings.Split(row, "\t")
		name, decision, stage, names := fields[0], fields[1], fields[2], fields[4]
		organism := "zika"
		if strings.Contains(name, "multi-segment") {
			organism = "cchf"
		}
		before := d.statusCounts(t, organism)
		body, contentType := d.messyBody(t, name)
		a := d.call(t, "POST", fmt.Sprintf("/%s/submit?groupId=%d", organism, group), anna, body, "Content-Type", contentType)
		if a.StatusCode == http.StatusOK {
			var stored []any
			a.into(t, &stored)
			if decision == "reject" || len(problems[name]) > 0 || len(stored) == 0 {
				t.Errorf("%s: stored %d entries, want %s", name, len(stored), decision)
			}
			continue
		}
		if decision == "accept" || (decision == "either" && stage == "processing" && a.StatusCode >= 500) {
			t.Errorf("%s: got %d, want it accepted: %s", name, a.StatusCode, a.body)
			continue
		}
		status := http.StatusUnprocessableEntity
		if name == "57-zst-bomb" {
			status = http.StatusRequestEntityTooLarge
		}
		words := []string{}
		if names != "" && (decision == "reject" || stage == "submit") {
			words = append(words, names)
		}
		got, want := a.problem(t, status, words...).Problems, problems[name]
		for i := range got {
			if i < len(want) && strings.Contains(got[i].Message, want[i].Message) {
				got[i].Message = want[i].Message
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: problems (-want +got):\n%s", name, diff)
		}
		if after := d.statusCounts(t, organism); !cmp.Equal(after, before) {
			t.Errorf("%s: refused, but the counts went from %v to %v", name, before, after)
		}
	}
	if left := d.leftovers(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
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
		problems[f[0]] = append(problems[f[0]], httpapi.InputProblem{File: f[1], Line: line, Record: f[3], Field: f[4], Message: f[5]})
	}
	return problems
}

// messyBody makes the upload of a case, with the files' own names.
func (d *door) messyBody(t *testing.T, name string) (body *bytes.Buffer, contentType string) {
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
