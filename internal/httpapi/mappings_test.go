package httpapi

import (
	"fmt"
	"net/http/httptest"
	"testing"

	json "github.com/go-json-experiment/json"

	"github.com/seqlease/seqlease"
)

// The answer of an upload is that of the JSON library, however long it is.
func TestSubmit_TheAnswerIsTheDocument(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 3, 5000} {
		made := make([]seqlease.SubmissionIDMapping, n)
		for i := range made {
			made[i] = seqlease.SubmissionIDMapping{
				AccessionVersion: seqlease.AccessionVersion{Accession: seqlease.NewAccession("LOC_", int64(i+1)), Version: seqlease.Version(i%3 + 1)},
				SubmissionID:     fmt.Sprintf(`a"\<&>é%d`, i),
			}
		}
		want, err := json.Marshal(made)
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		writeMappings(w, made)
		if got := w.Body.String(); got != string(want) {
			t.Errorf("%d entries: got %.300s, want %.300s", n, got, want)
		}
		if got := w.Header().Get("Content-Type"); got != "application/json" {
			t.Errorf("content type %q", got)
		}
	}
}
