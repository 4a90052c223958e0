package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
)

// changeBehind changes the database of a door behind its back.
func (d *door) changeBehind(t *testing.T, statement string) {
	t.Helper()
	if strings.HasPrefix(d.address, "file:") {
		d.execSQLite(t, statement)
		return
	}
	conn, err := pgx.Connect(t.Context(), d.address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// sendAtOnce sends the same upload of anna so many times at once.
func (d *door) sendAtOnce(t *testing.T, clients int, path string, parts []string, header ...string) []answer {
	t.Helper()
	answers := make([]answer, clients)
	var sending errgroup.Group
	for i := range clients {
		body, contentType := upload(t, parts...)
		sending.Go(func() (err error) {
			answers[i], err = d.try(t, "POST", path, anna, body, append([]string{"Content-Type", contentType}, header...)...)
			return err
		})
	}
	if err := sending.Wait(); err != nil {
		t.Fatal(err)
	}
	return answers
}

// keyHeader is where a client says what it calls an upload.
const keyHeader = "Idempotency-Key"

// TestIdempotency_TheSameAgain sends uploads again as clients do that lost the answer.
func TestIdempotency_TheSameAgain(t *testing.T) {
	t.Parallel()
	onBothStores(t, termsOn(), func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		path := fmt.Sprintf("/zika/submit?groupId=%d&dataUseTermsType=OPEN", group)
		parts := []string{"metadataFile", goodMetadata, "sequenceFile", goodSequences}
		first := d.sendUpload(t, path, anna, parts, keyHeader, "key-1").want(t, 200)
		same := func(name string, a answer) {
			t.Helper()
			if a.want(t, 200); !bytes.Equal(a.body, first.body) {
				t.Errorf("%s: answered %s, the first time %s", name, a.body, first.body)
			}
		}
		same("as it was", d.sendUpload(t, path, anna, parts, keyHeader, "key-1")) // with another boundary
		same("other order of parts", d.sendUpload(t, path, anna, append(parts[2:4:4], parts[:2]...), keyHeader, "key-1"))
		same("parameters as fields", d.sendUpload(t, "/zika/submit?unknown=1", anna,
			append([]string{"groupId", strconv.FormatInt(group, 10), "dataUseTermsType", "OPEN"}, parts...), keyHeader, "key-1"))
		body, contentType := upload(t, parts...)
		var packed bytes.Buffer
		to := gzip.NewWriter(&packed)
		if _, err := body.(*bytes.Buffer).WriteTo(to); err != nil {
			t.Fatal(err)
		}
		if err := to.Close(); err != nil {
			t.Fatal(err)
		}
		same("packed", d.call(t, "POST", path, anna, &packed, keyHeader, "key-1", "Content-Type", contentType, "Content-Encoding", "gzip"))
		if got, want := d.statusCounts(t, "zika"), counts(1, 0, 0, 0); !cmp.Equal(got, want) {
			t.Fatalf("counts %v, want %v", got, want)
		}

		var made []seqlease.SubmissionIDMapping
		first.into(t, &made)
		d.releaseWaiting(t)
		first = d.sendUpload(t, "/zika/revise", anna, revision(made[0].Accession), keyHeader, "key-2").want(t, 200)
		same("a revision", d.sendUpload(t, "/zika/revise", anna, revision(made[0].Accession), keyHeader, "key-2"))
		d.sendUpload(t, "/zika/revise", anna, revision(made[0].Accession), keyHeader, "key-3").problem(t, 422, "RECEIVED")
		if got, want := d.statusCounts(t, "zika"), counts(1, 0, 0, 1); !cmp.Equal(got, want) {
			t.Errorf("counts %v, want %v", got, want)
		}
		// Without a key each upload is one of its own.
		d.sendUpload(t, path, anna, parts).want(t, 200)
		d.sendUpload(t, path, anna, parts).want(t, 200)
		if got, want := d.statusCounts(t, "zika"), counts(3, 0, 0, 1); !cmp.Equal(got, want) {
			t.Errorf("counts %v, want %v", got, want)
		}
	})
}

func TestIdempotency_AnotherUploadIsRefused(t *testing.T) {
	t.Parallel()
	onBothStores(t, termsOn(), func(t *testing.T, d *door) {
		group, other := d.newGroup(t, anna), d.newGroup(t, anna)
		path := fmt.Sprintf("/zika/submit?groupId=%d&dataUseTermsType=OPEN", group)
		parts := []string{"metadataFile", goodMetadata, "sequenceFile", goodSequences}
		d.sendUpload(t, path, anna, parts, keyHeader, "k").want(t, 200)
		for name, r := range map[string]struct {
			path  string
			parts []string
		}{
			"other metadata":  {path, []string{"metadataFile", goodMetadata + " ", "sequenceFile", goodSequences}},
			"other sequences": {path, []string{"metadataFile", goodMetadata, "sequenceFile", goodSequences + "A\n"}},
			"another name":    {path, []string{"metadataFile", goodMetadata, "sequenceFile", "@other.fasta\n>s1\nACGT\n"}},
			"another group":   {fmt.Sprintf("/zika/submit?groupId=%d&dataUseTermsType=OPEN", other), parts},
			"other terms":     {path + "&restrictedUntil=2030-01-01", parts},
			"another virus":   {fmt.Sprintf("/cchf/submit?groupId=%d&dataUseTermsType=OPEN", group), parts},
			"a revision":      {"/zika/revise", parts},
		} {
			p := d.sendUpload(t, r.path, anna, r.parts, keyHeader, "k").problem(t, 422, keyHeader, `"k"`, "another upload", "not stored")
			if p.Type != "urn:seqlease:problem:invalid-content" || len(p.Problems) != 1 || p.Problems[0].Field != keyHeader {
				t.Errorf("%s: got %+v, want one problem that names the header", name, p)
			}
		}
		if got, want := d.statusCounts(t, "zika"), counts(1, 0, 0, 0); !cmp.Equal(got, want) {
			t.Errorf("counts %v, want %v", got, want)
		}
		// Another user's key of the same name is another key.
		d.sendUpload(t, path, root, parts, keyHeader, "k").want(t, 200)
		if got, want := d.statusCounts(t, "zika"), counts(2, 0, 0, 0); !cmp.Equal(got, want) {
			t.Errorf("counts %v, want %v", got, want)
		}
	})
}

func TestIdempotency_KeysAreVisibleASCII(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	group := d.newGroup(t, anna)
	path := fmt.Sprintf("/zika/submit?groupId=%d", group)
	parts := []string{"metadataFile", goodMetadata, "sequenceFile", goodSequences}
	for _, key := range []string{"", "a b", "é", strings.Repeat("x", 256)} {
		for _, path := range []string{path, "/zika/revise"} {
			p := d.sendUpload(t, path, anna, parts, keyHeader, key).problem(t, 400, keyHeader, "255")
			if p.Type != "urn:seqlease:problem:invalid-request" || len(p.Problems) != 1 || p.Problems[0].Field != keyHeader {
				t.Errorf("%q at %s: got %+v, want one problem that names the header", key, path, p)
			}
		}
	}
	body, contentType := upload(t, parts...)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.url+path, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + anna}, "Content-Type": {contentType}, keyHeader: {"a", "b"}}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusBadRequest {
		t.Errorf("two keys: got %d, want 400", response.StatusCode)
	}
	if got, want := d.statusCounts(t, "zika"), counts(0, 0, 0, 0); !cmp.Equal(got, want) {
		t.Errorf("counts %v, want %v", got, want)
	}
	for i, key := range []string{"8e03978e-40d5-43dd-bc93-6894a57f9324", `"quoted"`, "a,b", "~!", strings.Repeat("x", 255)} {
		d.sendUpload(t, path, anna, parts, keyHeader, key).want(t, 200)
		if got := d.statusCounts(t, "zika")[seqlease.Received]; got != int64(i+1) {
			t.Errorf("%d entries after key %q, want %d", got, key, i+1)
		}
	}
}

// TestIdempotency_OfWhatWasRefusedIsFree: a client corrects its files and sends them
// under the same key.
func TestIdempotency_OfWhatWasRefusedIsFree(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		path := fmt.Sprintf("/zika/submit?groupId=%d", d.newGroup(t, anna))
		d.sendUpload(t, path, anna, []string{"metadataFile", goodMetadata, "sequenceFile", fasta(">s2\nA\n")}, keyHeader, "k").problem(t, 422)
		var made []seqlease.SubmissionIDMapping
		d.sendUpload(t, path, anna, []string{"metadataFile", goodMetadata, "sequenceFile", goodSequences}, keyHeader, "k").want(t, 200).into(t, &made)
		d.sendUpload(t, "/zika/revise", anna, revision(made[0].Accession), keyHeader, "r").problem(t, 422, "RECEIVED")
		d.releaseWaiting(t)
		d.sendUpload(t, "/zika/revise", anna, revision(made[0].Accession), keyHeader, "r").want(t, 200)
	})
}

// TestIdempotency_AsksAgainWhoMay: who has left the group isn't answered any more.
func TestIdempotency_AsksAgainWhoMay(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		path := fmt.Sprintf("/zika/submit?groupId=%d", d.newGroup(t, anna))
		parts := []string{"metadataFile", goodMetadata, "sequenceFile", goodSequences}
		var made []seqlease.SubmissionIDMapping
		d.sendUpload(t, path, anna, parts, keyHeader, "s").want(t, 200).into(t, &made)
		d.releaseWaiting(t)
		d.sendUpload(t, "/zika/revise", anna, revision(made[0].Accession), keyHeader, "r").want(t, 200)
		d.changeBehind(t, "DELETE FROM group_member")
		d.sendUpload(t, path, anna, parts, keyHeader, "s").problem(t, 403, "anna")
		d.sendUpload(t, "/zika/revise", anna, revision(made[0].Accession), keyHeader, "r").problem(t, 403, "anna")
	})
}

func TestIdempotency_AtOnceIsStoredOnce(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		path := fmt.Sprintf("/zika/submit?groupId=%d", d.newGroup(t, anna))
		parts := []string{"metadataFile", goodMetadata, "sequenceFile", goodSequences}
		check := func(answers []answer) (made []seqlease.SubmissionIDMapping) {
			t.Helper()
			for _, a := range answers {
				if a.want(t, 200); !bytes.Equal(a.body, answers[0].body) {
					t.Errorf("answered %s and %s", a.body, answers[0].body)
				}
			}
			answers[0].into(t, &made)
			return made
		}
		made := check(d.sendAtOnce(t, 6, path, parts, keyHeader, "s"))
		d.releaseWaiting(t)
		check(d.sendAtOnce(t, 6, "/zika/revise", revision(made[0].Accession), keyHeader, "r"))
		if got, want := d.statusCounts(t, "zika"), counts(1, 0, 0, 1); !cmp.Equal(got, want) {
			t.Errorf("counts %v, want %v", got, want)
		}
	})
}
