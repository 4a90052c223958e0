package httpapi_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
)

// arrival is an upload that a client is sending.
type arrival struct {
	d        *door
	to       *io.PipeWriter
	form     *multipart.Writer
	file     io.Writer // of sequences
	sent     int64     // bytes of both files
	answered chan answer
	failed   chan error
}

// arrive sends the metadata of n entries and begins with the sequence file.
func (d *door) arrive(t *testing.T, group int64, n int, name string) *arrival {
	t.Helper()
	from, to := io.Pipe()
	a := &arrival{d: d, to: to, form: multipart.NewWriter(to), answered: make(chan answer, 1), failed: make(chan error, 1)}
	contentType := a.form.FormDataContentType()
	go func() {
		got, err := d.try(t, "POST", fmt.Sprintf("/zika/submit?groupId=%d", group), anna, from, "Content-Type", contentType)
		_ = from.CloseWithError(io.ErrClosedPipe)
		if err != nil {
			a.failed <- err
			return
		}
		a.answered <- got
	}()
	t.Cleanup(func() { _ = to.CloseWithError(io.ErrUnexpectedEOF) })
	var rows strings.Builder
	rows.WriteString("id\tcountry\n")
	for i := range n {
		fmt.Fprintf(&rows, "s%d\tPeru\n", i)
	}
	metadata, err := a.form.CreateFormFile("metadataFile", "metadata.tsv")
	if err != nil {
		t.Fatal(err)
	}
	a.file = metadata
	a.send(t, []byte(rows.String()))
	if a.file, err = a.form.CreateFormFile("sequenceFile", name); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *arrival) send(t *testing.T, content []byte) {
	t.Helper()
	if _, err := a.file.Write(content); err != nil {
		t.Fatal(err)
	}
	a.sent += int64(len(content))
}

// end sends the end of the form and returns the answer.
func (a *arrival) end(t *testing.T) answer {
	t.Helper()
	if err := a.form.Close(); err != nil {
		t.Fatal(err)
	}
	_ = a.to.Close()
	select {
	case got := <-a.answered:
		return got
	case err := <-a.failed:
		t.Fatal(err)
	case <-time.After(time.Minute):
		t.Fatal("no answer")
	}
	return answer{}
}

// sequencesOf are records of random letters that wait packed while they are checked.
func sequencesOf(first, n int) []byte {
	rng := rand.New(rand.NewPCG(1, uint64(first)))
	var records bytes.Buffer
	for i := range n {
		fmt.Fprintf(&records, ">s%d\n", first+i)
		for range 4000 {
			records.WriteByte("ACGT"[rng.IntN(4)])
		}
		records.WriteByte('\n')
	}
	return records.Bytes()
}

// half of the entries are enough for the check to write some to its file.
const half = 600

func TestSubmit_OneUploadIsCheckedWhileItArrives(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	group := d.newGroup(t, anna)
	for _, tt := range []struct {
		name, rest string
		status     int
		says       string
	}{
		{"fine", string(sequencesOf(half, half)), 200, ""},
		{"an entry without a sequence", string(sequencesOf(half, half-1)), 422, fmt.Sprintf("s%d", 2*half-1)},
		{"a wrong letter at the end", string(sequencesOf(half, half-1)) + fmt.Sprintf(">s%d\nAC!GT\n", 2*half-1), 422, "U+0021"},
	} {
		before := d.statusCounts(t, "zika")["RECEIVED"]
		a := d.arrive(t, group, 2*half, "s.fasta")
		a.send(t, sequencesOf(0, half))
		eventually(t, "what has come is checked", func() bool { return d.spool.Used() > a.sent })
		// Nobody else waits for this client.
		d.submit(t, group, 3, 20)
		other := d.arrive(t, group, 2, "s.fasta")
		other.send(t, sequencesOf(0, 2))
		other.end(t).want(t, 200)

		a.send(t, []byte(tt.rest))
		got := a.end(t)
		if got.want(t, tt.status); !strings.Contains(string(got.body), tt.says) {
			t.Errorf("%s: the answer doesn't say %q: %s", tt.name, tt.says, got.body)
		}
		stored := int64(5)
		if tt.status == http.StatusOK {
			var made []seqlease.SubmissionIDMapping
			got.into(t, &made)
			if stored += 2 * half; len(made) != 2*half || made[half].SubmissionID != fmt.Sprint("s", half) {
				t.Errorf("%s: made %d entries", tt.name, len(made))
			}
		}
		if after := d.statusCounts(t, "zika")["RECEIVED"]; after != before+stored {
			t.Errorf("%s: %d entries more, want %d", tt.name, after-before, stored)
		}
		eventually(t, "nothing is left", func() bool { return d.spool.Used() == 0 })
	}
}

// A client that leaves, or that breaks the form, ends the check of its upload.
func TestSubmit_AnArrivingUploadBreaksOff(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	group := d.newGroup(t, anna)
	for range 2 { // also the second one gets the place
		a := d.arrive(t, group, half, "s.fasta")
		a.send(t, sequencesOf(0, half))
		eventually(t, "what has come is checked", func() bool { return d.spool.Used() > a.sent })
		_ = a.to.CloseWithError(io.ErrUnexpectedEOF)
		if err := <-a.failed; err == nil {
			t.Error("the client was answered")
		}
		eventually(t, "nothing is left", func() bool { return d.spool.Used() == 0 })
	}
	if counts := d.statusCounts(t, "zika"); counts["RECEIVED"] != 0 {
		t.Errorf("stored %v", counts)
	}
}

// The check of a client that pauses gives its place to another one, and is made when
// all has come.
func TestSubmit_L12_APausingClientLosesItsPlace(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{stall: 5 * time.Minute}) // of which a sixtieth is how long a check waits
	group := d.newGroup(t, anna)
	paused := d.arrive(t, group, half+1, "s.fasta")
	paused.send(t, sequencesOf(0, half))
	eventually(t, "what has come is checked", func() bool { return d.spool.Used() > paused.sent })
	eventually(t, "the check is given up", func() bool { return d.spool.Used() <= paused.sent })
	other := d.arrive(t, group, half, "s.fasta")
	other.send(t, sequencesOf(0, half))
	eventually(t, "that of another one is checked", func() bool { return d.spool.Used() > paused.sent+other.sent })
	other.end(t).want(t, 200)
	paused.send(t, sequencesOf(half, 1))
	paused.end(t).want(t, 200)
}

// A client that has sent its files and takes its time with the rest of the form keeps
// nobody from having an upload checked while it arrives.
func TestSubmit_L12_WhoseFilesAreCheckedHasNoPlace(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{stall: 5 * time.Minute})
	group := d.newGroup(t, anna)
	slow := d.arrive(t, group, half, "s.fasta")
	slow.send(t, sequencesOf(0, half))
	note, err := slow.form.CreateFormField("note")
	if err == nil {
		_, err = io.WriteString(note, "what nobody reads")
	}
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "what has come is checked", func() bool { return d.spool.Used() > slow.sent })
	// Four letters wait in a byte: more than all of the slow client's.
	const more = 4000 / 4 * half * 5 / 4
	eventually(t, "another upload is checked while it arrives", func() bool {
		before := d.spool.Used()
		other := d.arrive(t, group, 2*half, "s.fasta")
		other.send(t, sequencesOf(0, 2*half))
		checked := false
		for end := time.Now().Add(10 * time.Second); !checked && time.Now().Before(end); {
			checked = d.spool.Used() > before+other.sent+more
			runtime.Gosched()
		}
		other.end(t).want(t, 200)
		return checked
	})
	slow.end(t).want(t, 200)
	eventually(t, "nothing is left", func() bool { return d.spool.Used() == 0 })
}

// An archive is read from its end, which has to come first.
func TestSubmit_AnArchiveArrives(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	group := d.newGroup(t, anna)
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	file, err := w.Create("s.fasta")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write(sequencesOf(0, half)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a := d.arrive(t, group, half, "s.fasta.zip")
	a.send(t, archive.Bytes()[:archive.Len()/2])
	a.send(t, archive.Bytes()[archive.Len()/2:])
	a.end(t).want(t, 200)
	eventually(t, "nothing is left", func() bool { return d.spool.Used() == 0 })
}
