package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSubmit_CutAnywhereStoresNothing cuts a whole upload at every byte of its end
// and at some before. Only what has the closing boundary is whole.
func TestSubmit_CutAnywhereStoresNothing(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	path := "/zika/submit?groupId=" + strconv.FormatInt(d.newGroup(t, anna), 10)
	const contentType = "multipart/form-data; boundary=XbX"
	whole := "--XbX\r\nContent-Disposition: form-data; name=\"metadataFile\"; filename=\"m.tsv\"\r\n\r\nid\tcountry\na\tx\n\r\n" +
		"--XbX\r\nContent-Disposition: form-data; name=\"sequenceFile\"; filename=\"s.fasta\"\r\n\r\n>a\nACGT\n\r\n" +
		"--XbX\r\nContent-Disposition: form-data; name=\"unknown\"\r\n\r\n--XbX--\r\n--XbX--\r\n"
	before := d.statusCounts(t, "zika")
	closing := strings.LastIndex(whole, "--XbX--\r\n") - len("--XbX--\r\n")
	for cut := range closing + len("--XbX--") {
		word := "broke off"
		if cut < len("--XbX") {
			word = "multipart form"
		}
		d.call(t, "POST", path, anna, strings.NewReader(whole[:cut]), "Content-Type", contentType).problem(t, 400, word)
	}
	for _, garbage := range []string{"garbage", strings.Repeat("x", 100<<10), "--XbY\r\n\r\n--XbY--\r\n", " --XbX--"} {
		d.call(t, "POST", path, anna, strings.NewReader(garbage), "Content-Type", contentType).problem(t, 400, "multipart form")
	}
	if got := d.statusCounts(t, "zika"); !cmp.Equal(got, before) {
		t.Errorf("counts %v, want unchanged %v", got, before)
	}
	for _, end := range []string{"", "\r\n", " \t\r\n", "\r\nepilogue " + strings.Repeat("x", 100<<10)} {
		d.call(t, "POST", path, anna, strings.NewReader(whole[:closing+len("--XbX--")]+end), "Content-Type", contentType).want(t, 200)
	}
	if left := d.leftovers(t); len(left) > 0 || d.spool.Used() > 0 {
		t.Errorf("left behind: %v, %d bytes", left, d.spool.Used())
	}
}

// TestSubmit_CompressedBodyCountsUnpacked has small bodies that unpack to more
// than there is disk space for all uploads together.
func TestSubmit_CompressedBodyCountsUnpacked(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{spoolLimit: 8 << 20})
	group := strconv.FormatInt(d.newGroup(t, anna), 10)
	body, contentType := upload(t, "groupId", group, "metadataFile", "@m.tsv\nid\tcountry\na\tx\n", "sequenceFile", "@s.fasta\n>a\n"+strings.Repeat("A", 9<<20))
	plain, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(plain)
	_ = z.Close()
	for name, send := range map[string][]string{"plain": nil, "gzip": {"Content-Encoding", "gzip"}} {
		content := plain
		if send != nil {
			content = zipped.Bytes()
		}
		a := d.call(t, "POST", "/zika/submit", anna, bytes.NewReader(content), append([]string{"Content-Type", contentType}, send...)...)
		if p := a.problem(t, http.StatusServiceUnavailable); p.Type != "urn:seqlease:problem:busy" || a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %+v, want to be asked to come again", name, p)
		}
		if d.spool.Used() > 0 {
			t.Errorf("%s: %d bytes were not given back", name, d.spool.Used())
		}
	}
}

// TestAnswers_AreBounded has requests whose faults could fill an answer.
func TestAnswers_AreBounded(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	d.submit(t, d.newGroup(t, anna), 1, 20)
	line := resultOf(d.claim(t, pipe, 1)[0])
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	a := d.sendResults(t, `{"x":`+deep+`}`)
	a.problem(t, 400, "line 1")
	if len(a.body) > 4<<10 {
		t.Errorf("deep JSON: an answer of %d bytes", len(a.body))
	}
	a = d.call(t, "POST", "/groups", anna, strings.NewReader(`{"`+strings.Repeat("x", 30_000)+`":1,"`+strings.Repeat("x", 30_000)+`":1}`), "Content-Type", "application/json")
	a.problem(t, 400, "deserialised")
	if len(a.body) > 4<<10 {
		t.Errorf("a long name: an answer of %d bytes", len(a.body))
	}
	const n = 5000
	var entries, lines []string
	for i := range n {
		entries = append(entries, fmt.Sprintf(`{"accession":"LOC_UNKNOWN","version":%d}`, i+1))
		lines = append(lines, strings.Replace(line, `"country"`, fmt.Sprintf(`"%s%d"`, strings.Repeat("é", 500), i), 1))
	}
	a = d.call(t, "POST", "/zika/approve-processed-data", anna, strings.NewReader(`{"scope":"ALL","accessionVersionsFilter":[`+strings.Join(entries, ",")+`]}`),
		"Content-Type", "application/json")
	a.problem(t, 422, "LOC_UNKNOWN.20", "4980 more")
	if len(a.body) > 4<<10 {
		t.Errorf("unknown entries: an answer of %d bytes", len(a.body))
	}
	a = d.sendResults(t, strings.Join(lines, "\n"))
	p := a.problem(t, 422, "5000 result lines")
	if len(p.Refused) != n || len(a.body) > n*500 {
		t.Errorf("%d lines named in %d bytes, want all %d", len(p.Refused), len(a.body), n)
	}
}

// TestAccept has what is told to a client that takes no form of the answer. It is
// told before anything is done.
func TestAccept(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	d.submit(t, d.newGroup(t, anna), 1, 20)
	before := d.statusCounts(t, "zika")
	claim := "/zika/extract-unprocessed-data?numberOfSequenceEntries=1&pipelineVersion=1"
	d.call(t, "POST", claim, pipe, nil, "Accept", "image/png").problem(t, http.StatusNotAcceptable, "image/png", "application/x-ndjson")
	d.call(t, "GET", "/zika/get-sequences", anna, nil, "Accept", "text/csv, application/json;q=0").problem(t, http.StatusNotAcceptable, "application/json")
	d.call(t, "GET", "/zika/get-sequences", "", nil, "Accept", "text/csv").problem(t, http.StatusUnauthorized)
	if got := d.statusCounts(t, "zika"); !cmp.Equal(got, before) {
		t.Errorf("counts %v, want unchanged %v", got, before)
	}
	for _, accept := range []string{"*/*", "application/json, text/plain, */*", "application/*;q=0.1", "application/x-ndjson"} {
		d.call(t, "GET", "/zika/get-released-data", "", nil, "Accept", accept).want(t, 200)
	}
	d.sendResults(t, "", "Accept", "image/png").want(t, 204)
}

func TestAccessLog_HasTheStatusOfEmptyAnswers(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	d.call(t, "HEAD", "/zika/get-released-data", "", nil).want(t, 200)
	d.call(t, "GET", "/zika/get-released-data", "", nil).want(t, 200)
	d.call(t, "HEAD", "/zika/get-sequences", anna, nil).want(t, 200)
	log := d.log.String()
	if got := strings.Count(log, "status=200"); got < 3 || strings.Contains(log, "status=0") {
		t.Errorf("%d good requests in the log, want 3 and none with status 0:\n%s", got, log)
	}
}
