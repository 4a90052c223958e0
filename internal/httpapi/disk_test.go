package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestBody_FaultsOfOurDiskAreOurs has no directory for what must go to disk. That
// is no fault of the request, and where the files lie is nothing to the client.
func TestBody_FaultsOfOurDiskAreOurs(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	group := strconv.FormatInt(d.newGroup(t, anna), 10)
	files, formType := upload(t, "groupId", group, "metadataFile", "@m.tsv\nid\tcountry\na\tx\n", "sequenceFile", "@s.fasta\n>a\n"+strings.Repeat("ACGT", 20<<10))
	form, err := io.ReadAll(files)
	if err != nil {
		t.Fatal(err)
	}
	// It doesn't get small, so that a form that is merged goes to disk as well.
	var zipped bytes.Buffer
	z, err := gzip.NewWriterLevel(&zipped, gzip.NoCompression)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = z.Write([]byte("x=" + strings.Repeat("x", 40<<10)))
	_ = z.Close()
	if err := os.RemoveAll(d.dir); err != nil {
		t.Fatal(err)
	}
	const claim = "/zika/extract-unprocessed-data?numberOfSequenceEntries=1&pipelineVersion=1"
	for name, send := range map[string]func() answer{
		"upload": func() answer {
			return d.call(t, "POST", "/zika/submit", anna, bytes.NewReader(form), "Content-Type", formType)
		},
		"JSON": func() answer {
			return d.call(t, "POST", "/groups", anna, strings.NewReader(strings.Repeat(" ", 40<<10)), "Content-Type", "application/json")
		},
		"results": func() answer { return d.sendResults(t, strings.Repeat(" ", 600<<10)) },
		"compressed form": func() answer {
			return d.call(t, "POST", claim, pipe, bytes.NewReader(zipped.Bytes()), "Content-Type", "application/x-www-form-urlencoded", "Content-Encoding", "gzip")
		},
	} {
		a := send()
		a.problem(t, http.StatusInternalServerError, "internal error")
		if strings.Contains(string(a.body), "spool") || strings.Contains(string(a.body), d.dir) {
			t.Errorf("%s: the answer tells about our disk: %s", name, a.body)
		}
	}
	if log := d.log.String(); strings.Count(log, "create spool file: open "+d.dir) != 4 {
		t.Errorf("want each fault with its path in the log:\n%s", log)
	}
}

// TestSubmit_FilesAreGoneBeforeTheAnswer looks as soon as an answer is there.
func TestSubmit_FilesAreGoneBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	for i := range 40 {
		group := int64(1 << 40)
		body, contentType := upload(t, "groupId", strconv.FormatInt(group, 10), "metadataFile", "@m.tsv\nid\tcountry\na\tx\n", "sequenceFile", "@s.fasta\n>a\n"+strings.Repeat("A", 100<<10))
		if a := d.call(t, "POST", "/zika/submit", anna, body, "Content-Type", contentType); a.StatusCode < 400 {
			t.Fatalf("status %d for a group that is not there", a.StatusCode)
		}
		if used := d.spool.Used(); used > 0 {
			t.Fatalf("answer %d came before %d bytes were given back", i, used)
		}
	}
}
