package httpapi_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSubmit_RefusesIdempotencyKey: who sends the header relies on it, so it
// isn't ignored, and nothing is stored. Without it the same upload is taken.
func TestSubmit_RefusesIdempotencyKey(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	group := d.newGroup(t, anna)
	submit := func(header ...string) answer {
		body, contentType := upload(t, "metadataFile", "@m.tsv\nid\tcountry\ns1\tKenya\n", "sequenceFile", "@s.fasta\n>s1\nACGT\n")
		return d.call(t, "POST", fmt.Sprintf("/zika/submit?groupId=%d", group), anna, body, append(header, "Content-Type", contentType)...)
	}
	for _, key := range []string{"8e03978e-40d5-43dd-bc93-6894a57f9324", `"quoted"`, "a,b", ""} {
		p := submit("Idempotency-Key", key).problem(t, 400, "Idempotency-Key", "not supported")
		if p.Type != "urn:seqlease:problem:invalid-request" || len(p.Problems) != 1 || p.Problems[0].Field != "Idempotency-Key" {
			t.Errorf("key %q: got %+v, want one problem that names the header", key, p)
		}
	}
	if got, want := d.statusCounts(t, "zika"), counts(0, 0, 0, 0); !cmp.Equal(got, want) {
		t.Errorf("counts %v, want %v", got, want)
	}
	submit().want(t, 200)
	if got, want := d.statusCounts(t, "zika"), counts(1, 0, 0, 0); !cmp.Equal(got, want) {
		t.Errorf("counts %v, want %v", got, want)
	}
}
