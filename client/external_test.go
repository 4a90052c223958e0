package client_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
)

func TestSubmitExternalMetadata_SendsALineForEachEntry(t *testing.T) {
	t.Parallel()
	var request *http.Request
	var body string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		content, _ := io.ReadAll(r.Body)
		request, body = r, string(content)
		w.WriteHeader(http.StatusNoContent)
	})
	entry := func(accession seqlease.Accession, metadata string) client.ExternalMetadata {
		e := client.ExternalMetadata{AccessionVersion: seqlease.AccessionVersion{Accession: accession, Version: 1}}
		if err := json.Unmarshal([]byte(metadata), &e.Metadata); err != nil {
			t.Fatal(err)
		}
		return e
	}
	entries := []client.ExternalMetadata{entry("LOC_1", `{"archiveId":"OX1","archivedOn":null}`), entry("LOC_2", `{}`)}
	if err := c.SubmitExternalMetadata(t.Context(), "zika", "e/na", slices.Values(entries)); err != nil {
		t.Fatal(err)
	}
	if got, want := request.Method+" "+request.URL.Path+" "+request.URL.Query().Get("externalMetadataUpdater")+" "+request.Header.Get("Content-Type"),
		"POST /zika/submit-external-metadata e/na application/x-ndjson"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var got []any
	for line := range strings.Lines(body) {
		var value any
		if err := json.Unmarshal([]byte(line), &value); err != nil {
			t.Fatal(err)
		}
		got = append(got, value)
	}
	want := []any{
		map[string]any{"accession": "LOC_1", "version": 1.0, "externalMetadata": map[string]any{"archiveId": "OX1", "archivedOn": nil}},
		map[string]any{"accession": "LOC_2", "version": 1.0, "externalMetadata": map[string]any{}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestSubmitExternalMetadata_NamesTheProblems(t *testing.T) {
	t.Parallel()
	c := serve(t, answer(422, `{"type":"urn:seqlease:problem:invalid-content","title":"Unprocessable Entity","status":422,"detail":"line 1: it does not exist",`+
		`"problems":[{"line":1,"record":"LOC_1.1","message":"it does not exist"}]}`, "Content-Type", "application/problem+json"))
	err := c.SubmitExternalMetadata(t.Context(), "zika", "ena", slices.Values([]client.ExternalMetadata{{}}))
	var invalid *seqlease.InvalidError
	if !errors.As(err, &invalid) || len(invalid.Problems) != 1 || invalid.Problems[0].Line != 1 || invalid.Problems[0].Record != "LOC_1.1" {
		t.Errorf("got %v, want the problem of line 1", err)
	}
}
