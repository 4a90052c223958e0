package httpapi_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestContract_LargeBodiesAreRefusedUnsent has clients say how much they would send, and
// wait for our consent: what is over a limit is refused without it.
func TestContract_LargeBodiesAreRefusedUnsent(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	const upload, form, ndjson = "multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "application/x-ndjson"
	for _, tt := range []struct {
		name, path, token, contentType, encoding string
		limit                                    int64
		status                                   int // of one byte less than is refused
	}{
		{"upload", "/zika/submit?groupId=1", anna, upload, "", 5000 << 20, 100},
		{"revision", "/zika/revise", anna, upload, "", 5000 << 20, 100},
		{"results", "/zika/submit-processed-data?pipelineVersion=1", pipe, ndjson, "", 1 << 30, 100},
		{"packed results", "/zika/submit-processed-data?pipelineVersion=1", pipe, ndjson, "gzip", 1 << 30, 100},
		{"JSON", "/zika/revoke", anna, "application/json", "", 32 << 20, 100},
		{"a group", "/groups", anna, "application/json", "", 64 << 10, 100},
		{"form", "/zika/extract-unprocessed-data", pipe, form, "", 64 << 10, 100},
		{"form of parts", "/zika/extract-unprocessed-data", pipe, upload, "", 64 << 10, 100},
		{"results of somebody who may not", "/zika/submit-processed-data?pipelineVersion=1", anna, ndjson, "", 1 << 30, 403},
	} {
		for length, want := range map[int64]int{tt.limit: tt.status, tt.limit + 1: http.StatusRequestEntityTooLarge} {
			if tt.status == http.StatusForbidden {
				want = tt.status
			}
			if got := d.firstAnswer(t, tt.path, tt.token, length, "Content-Type: "+tt.contentType, "Content-Encoding: "+tt.encoding); got != want {
				t.Errorf("%s of %d bytes: got %d, want %d", tt.name, length, got, want)
			}
		}
	}
}

// TestContract_MessagesAreBounded quotes what is long in every place that a message may
// quote, and what is deep.
func TestContract_MessagesAreBounded(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	d.submit(t, d.newGroup(t, anna), 40, 20)
	entries := d.claim(t, pipe, 40)
	long := strings.Repeat("long", 5000)
	var lines []string
	with := func(old, now string) string { // each is of another entry
		line := strings.Replace(resultOf(entries[0]), old, now, 1)
		entries = entries[1:]
		return line
	}
	for _, depth := range []int{10, 900, 9_000, 20_000} { // more than 10,000 can't be read
		lines = append(lines, with(`"age":7`, `"age":`+strings.Repeat("[", depth)), with(`"age":7`, `"age":`+strings.Repeat(`{"deep":`, depth)),
			with(`"data":{`, `"data":{"deep":`+strings.Repeat("[", depth)))
	}
	for _, change := range [][2]string{
		{`"age":7`, `"` + long + `":7`},
		{`"age":7`, `"age":"` + long + `"`},
		{`"age":7`, `"` + long + `":1,"` + long + `":2`},
		{`"3:AC"`, `"` + long + `"`},
		{`"3:AC"`, `"3:` + long + `"`},
		{`"main":["3:AC"]`, `"` + long + `":["x"]`},
		{`"main":"acgt"`, `"` + long + `":5,"main":{}`},
		{`"version":1`, `"version":"` + long + `"`},
		{`"processingAttemptId":"`, `"processingAttemptId":"` + long},
		{`"E":"MKT*"`, `"E":"` + long + `"`},
		{`"warnings":[]`, `"warnings":[{"unprocessedFields":[{"type":"` + long + `","name":""}],"processedFields":[],"message":""}]`},
		{`"errors":[]`, `"files":{"` + long + `":[]},"errors":[]`},
		{`"sequenceNameToFastaId":{`, `"files":{"` + long + `":[]},"sequenceNameToFastaId":{`},
	} {
		lines = append(lines, with(change[0], change[1]))
	}
	refused := d.sendSkipping(t, lines...).Refused
	wantBounded := func(what, text string, most int) {
		t.Helper()
		if len(text) > most {
			t.Errorf("%s has %d bytes, want at most %d: %.300s", what, len(text), most, text)
		}
	}
	if len(refused) != len(lines)-1 { // members beside the data that nobody knows mean nothing
		t.Errorf("%d lines are refused, want %d", len(refused), len(lines)-1)
	}
	for _, r := range refused {
		wantBounded(fmt.Sprintf("the detail of line %d", r.Line), r.Detail, 2010)
	}
	for _, path := range []string{"get-sequences?groupIdsFilter=", "get-sequences?statusesFilter=", "get-submitted-metadata?compression=", "get-submitted-metadata?accessionVersionsFilter="} {
		p := d.call(t, "GET", "/zika/"+path+long[:9000], anna, nil)
		problem := p.problem(t, p.StatusCode)
		if p.StatusCode != http.StatusBadRequest && p.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%s: got %d, want a refusal", path, p.StatusCode)
		}
		for _, one := range problem.Problems {
			wantBounded(path+": the message", one.Message, 2010)
			wantBounded(path+": the value", one.Value, 310)
		}
	}
}

// firstAnswer announces a body and returns the status of what the server says, before
// any of the body is sent.
func (d *door) firstAnswer(t *testing.T, path, token string, length int64, header ...string) int {
	t.Helper()
	address := strings.TrimPrefix(d.url, "http://")
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_, err = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\nExpect: 100-continue\r\n%s\r\n\r\n",
		path, address, token, length, strings.Join(header, "\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var status int
	if _, err := fmt.Sscanf(line, "HTTP/1.1 %d", &status); err != nil {
		t.Fatalf("%s: %q", path, line)
	}
	return status
}
