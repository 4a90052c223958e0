package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seqlease/seqlease/internal/organism"
)

// withPhotos has submissions of zika name attachments of a category, which they can't have.
func withPhotos() []*organism.Organism {
	zika := organisms()[0]
	zika.SubmittedFileCategories = []string{"photos"}
	return []*organism.Organism{zika}
}

// TestContract_SubmittedFiles: a column of attachments may be there if nothing is in it.
func TestContract_SubmittedFiles(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{organisms: withPhotos()}, func(t *testing.T, d *door) {
		path := fmt.Sprintf("/zika/submit?groupId=%d", d.newGroup(t, anna))
		parts := func(column, cell string) []string {
			return []string{"metadataFile", tsv("id\t" + column + "\tcountry\ns1\t" + cell + "\tPeru\n"), "sequenceFile", goodSequences}
		}
		d.wantRefusals(t, path, nil, []refusal{
			{name: "a file", parts: parts("files.photos", "a.jpg:0b7e4c3a-96d1-4f0e-8a53-2f6f0c1d9e77"), status: 400, says: []string{"line 2", "files.photos", "leave the field empty", "nothing was stored"}},
			{name: "no file of an unknown category", parts: parts("files.raw", ""), status: 400, says: []string{"line 1", "files.raw", "leave the column out", "nothing was stored"}},
		})
		d.sendUpload(t, path, anna, parts("files.photos", "")).want(t, 200)
		if e := d.claim(t, pipe, 10); len(e) != 1 || len(e[0].Data.Metadata) != 1 {
			t.Errorf("claimed %+v, want one entry with its country alone", e)
		}
	})
}

// TestContract_FilesAreRefused: attachments are out of this server's scope, and every
// call says so in words, after the token was looked at.
func TestContract_FilesAreRefused(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		for _, path := range []string{
			"/files/request-upload?groupId=1&numberFiles=1", "/files/request-upload", "/files/request-multipart-upload?groupId=1&numberFiles=1&numberParts=1",
			"/files/complete-multipart-upload",
		} {
			d.call(t, "POST", path, "", nil).problem(t, 403)
			d.call(t, "POST", path, "", nil, "Authorization", "Bearer bad token").want(t, 401)
			for _, token := range []string{anna, bob, root, pipe} {
				d.call(t, "POST", path, token, strings.NewReader(`[{"fileId":"x","etags":["y"]}]`), "Content-Type", "application/json").
					problem(t, 400, "file submission is disabled")
			}
			d.call(t, "GET", strings.SplitN(path, "?", 2)[0], anna, nil).problem(t, 405, "POST")
		}
		stored := d.submit(t, group, 1, 20)
		for _, path := range []string{
			"/files/get/" + string(stored[0].Accession) + "/1/rawReads/reads.fastq", "/files/get/NONE/x/a/b%2Fc", "/files/get", "/files/get/", "/files/get/LOC_1/1",
		} {
			want := 404
			if path == "/files/get" { // nothing below it is asked for
				want = 401
			}
			d.call(t, "GET", path, "", nil).problem(t, want)
			if a := d.call(t, "HEAD", path, "", nil); a.StatusCode != want || len(a.body) > 0 {
				t.Errorf("HEAD %s: got %d, want %d", path, a.StatusCode, want)
			}
			d.call(t, "GET", path, anna, nil).problem(t, 404)
			d.call(t, "GET", path, "", nil, "Authorization", "Bearer bad token").want(t, 401)
		}
		d.call(t, "GET", "/files/get/LOC_1/1/rawReads/reads.fastq", "", nil).problem(t, 404, "rawReads", "reads.fastq")
		d.call(t, "GET", "/files/nothing", "", nil).problem(t, 401)
		d.call(t, "POST", "/files/nothing", anna, nil).problem(t, 404)
	})
}
