package client_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
)

func TestRevise_SendsTheFilesAndTheKey(t *testing.T) {
	t.Parallel()
	var got []string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = []string{r.Method + " " + r.URL.Path + " " + r.Header.Get("Idempotency-Key")}
		form, err := r.MultipartReader()
		if err != nil {
			t.Error(err)
			return
		}
		for {
			part, err := form.NextPart()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Error(err)
				return
			}
			content, _ := io.ReadAll(part)
			got = append(got, part.FormName()+" "+part.FileName()+" "+string(content))
		}
		answer(200, `[{"accession":"LOC_000001Y","version":2,"submissionId":"a"}]`, "Content-Type", "application/json")(w, r)
	})
	made, err := c.Revise(t.Context(), client.Revision{
		Organism: "zika", IdempotencyKey: "k-1",
		Metadata:  client.File{Name: "m.tsv", Content: strings.NewReader("id\taccession\tx\na\tLOC_000001Y\tb\n")},
		Sequences: client.File{Name: "s.fasta", Content: strings.NewReader(">a\nACGT\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"POST /zika/revise k-1", "metadataFile m.tsv id\taccession\tx\na\tLOC_000001Y\tb\n", "sequenceFile s.fasta >a\nACGT\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	wantMade := []seqlease.SubmissionIDMapping{{AccessionVersion: seqlease.AccessionVersion{Accession: "LOC_000001Y", Version: 2}, SubmissionID: "a"}}
	if diff := cmp.Diff(wantMade, made); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

func TestRevise_SaysWhyNothingWasStored(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]error{
		`{"type":"urn:seqlease:problem:entry-state","status":422,"detail":"accessions that do not exist: X"}`: seqlease.ErrState,
		`{"type":"urn:seqlease:problem:forbidden","status":403,"detail":"no member"}`:                         seqlease.ErrForbidden,
	} {
		c := serve(t, answer(422, body, "Content-Type", "application/problem+json"))
		_, err := c.Revise(t.Context(), client.Revision{Organism: "zika", Metadata: client.File{Name: "m.tsv", Content: strings.NewReader("x")}})
		if !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	c := serve(t, answer(422, `{"type":"urn:seqlease:problem:invalid-content","status":422,"detail":"d","problems":[`+
		`{"file":"metadata file","line":3,"record":"a","field":"accession","value":"X","message":"twice"}]}`, "Content-Type", "application/problem+json"))
	_, err := c.Revise(t.Context(), client.Revision{Organism: "zika", Metadata: client.File{Name: "m.tsv", Content: strings.NewReader("x")}})
	var invalid *seqlease.InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("got %v, want an invalid upload", err)
	}
	want := []seqlease.Problem{{File: "metadata file", Line: 3, Record: "a", Field: "accession", Value: "X", Message: "twice"}}
	if diff := cmp.Diff(want, invalid.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}
