package httpapi_test

import (
	"fmt"
	"io"
	"mime/multipart"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
)

// cutUpload sends an upload of anna and leaves in the middle of its sequences.
func (d *door) cutUpload(t *testing.T, path string, parts []string, header ...string) {
	t.Helper()
	from, to := io.Pipe()
	form := multipart.NewWriter(to)
	left := make(chan error, 1)
	go func() {
		_, err := d.try(t, "POST", path, anna, from, append(header, "Content-Type", form.FormDataContentType())...)
		_ = from.CloseWithError(io.ErrClosedPipe)
		left <- err
	}()
	for i := 0; i < len(parts); i += 2 {
		name, content, _ := strings.Cut(strings.TrimPrefix(parts[i+1], "@"), "\n")
		part, err := form.CreateFormFile(parts[i], name)
		if err != nil {
			t.Fatal(err)
		}
		if i == len(parts)-2 {
			content = content[:len(content)/2]
		}
		if _, err := io.WriteString(part, content); err != nil {
			t.Fatal(err)
		}
	}
	_ = to.CloseWithError(io.ErrUnexpectedEOF)
	if err := <-left; err == nil {
		t.Fatal("the upload that was cut was answered")
	}
	eventually(t, "what had come is gone", func() bool { return d.spool.Used() == 0 })
}

// TestUpload_L1_CutMidwayLeavesNothing cuts submissions and revisions, of few entries
// and of more than are stored at once, and sends them again, also under the same key.
func TestUpload_L1_CutMidwayLeavesNothing(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		path := fmt.Sprintf("/zika/submit?groupId=%d", group)
		entries := int64(0)
		for _, n := range []int{2, 1200} {
			var rows, records strings.Builder
			for i := range n {
				fmt.Fprintf(&rows, "s%d\tPeru\n", i)
				fmt.Fprintf(&records, ">s%d\n%s\n", i, strings.Repeat("ACGT", 100))
			}
			parts := []string{"metadataFile", tsv("id\tcountry\n" + rows.String()), "sequenceFile", fasta(records.String())}
			before := d.statusCounts(t, "zika")
			key := fmt.Sprint("submit-", n)
			d.cutUpload(t, path, parts, keyHeader, key)
			if got := d.statusCounts(t, "zika"); !cmp.Equal(got, before) {
				t.Errorf("the cut submission of %d changed the counts from %v to %v", n, before, got)
			}
			var made []seqlease.SubmissionIDMapping
			d.sendUpload(t, path, anna, parts, keyHeader, key).want(t, 200).into(t, &made)
			d.changeBehind(t, "UPDATE entry SET approver = 'root', released_at = submitted_at")
			entries += int64(n)
			var accessions []seqlease.Accession
			for _, m := range made {
				accessions = append(accessions, m.Accession)
			}
			key = fmt.Sprint("revise-", n)
			d.cutUpload(t, "/zika/revise", revision(accessions...), keyHeader, key)
			if got, want := d.statusCounts(t, "zika"), counts(0, 0, 0, entries); !cmp.Equal(got, want) {
				t.Errorf("the cut revision of %d changed the counts to %v, want %v", n, got, want)
			}
			d.sendUpload(t, "/zika/revise", anna, revision(accessions...), keyHeader, key).want(t, 200)
			d.changeBehind(t, "UPDATE entry SET approver = 'root', released_at = submitted_at")
			entries += int64(n)
		}
	})
}
