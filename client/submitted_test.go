package client_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
)

func TestSubmittedMetadata_GivesEveryLine(t *testing.T) {
	t.Parallel()
	var query string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		query = r.URL.RequestURI()
		w.Header().Set("Content-Type", "application/x-ndjson; charset=utf-8")
		w.Header().Set("x-total-records", "2")
		_, _ = io.WriteString(w, `{"accession":"LOC_000001Y","version":1,"submitter":"anna","isRevocation":false,"submittedMetadata":{"country":"Peru","lake":null},"x":1}`+"\n"+
			`{"accession":"LOC_000001Y","version":2,"submitter":"bert","isRevocation":true,"submittedMetadata":{}}`+"\n")
	})
	filter := client.SubmittedFilter{
		Fields: []string{"country", "lake"}, Entries: []seqlease.AccessionVersion{someEntry}, GroupIDs: []int64{1, 2},
		Statuses: []seqlease.Status{seqlease.Received},
	}
	var got []client.SubmittedMetadata
	err := c.SubmittedMetadata(t.Context(), "zika", filter, func(m client.SubmittedMetadata) error {
		got = append(got, m)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	peru := "Peru"
	first := someEntry
	first.Version = 1
	want := []client.SubmittedMetadata{
		{AccessionVersion: first, Submitter: "anna", Metadata: map[string]*string{"country": &peru, "lake": nil}},
		{AccessionVersion: someEntry, Submitter: "bert", IsRevocation: true, Metadata: map[string]*string{}},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("lines (-got +want):\n%s", diff)
	}
	const asked = "/zika/get-submitted-metadata?accessionVersionsFilter=LOC_000001Y.2&fields=country&fields=lake&groupIdsFilter=1&groupIdsFilter=2&statusesFilter=RECEIVED"
	if query != asked {
		t.Errorf("asked for %s, want %s", query, asked)
	}
	stop := errors.New("enough")
	if err := c.SubmittedMetadata(t.Context(), "zika", filter, func(client.SubmittedMetadata) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v, want the error of yield", err)
	}
}

func TestSubmittedMetadata_LessThanAnnouncedIsAnError(t *testing.T) {
	t.Parallel()
	for announced, body := range map[string]string{"2": "{}\n", "0": "{}\n", "": "{}\n", "1": "{\n"} {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-ndjson")
			if announced != "" {
				w.Header().Set("x-total-records", announced)
			}
			_, _ = io.WriteString(w, body)
		})
		if err := c.SubmittedMetadata(t.Context(), "zika", client.SubmittedFilter{}, func(client.SubmittedMetadata) error { return nil }); err == nil {
			t.Errorf("announced %q, came %q: no error", announced, body)
		}
	}
}

func TestSubmittedData_WritesTheFile(t *testing.T) {
	t.Parallel()
	var body string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		body = r.Method + " " + r.URL.RequestURI() + " " + string(text)
		w.Header().Set("Content-Type", "application/zip")
		w.Header().Set("Content-Disposition", `attachment; filename="zika.zip"`)
		_, _ = io.WriteString(w, "PK")
	})
	var file bytes.Buffer
	name, err := c.SubmittedData(t.Context(), "zika", 7, []seqlease.Accession{"LOC_000001Y"}, &file)
	if err != nil || name != "zika.zip" || file.String() != "PK" {
		t.Errorf("got %q of %q: %v", file.String(), name, err)
	}
	if want := `POST /zika/get-submitted-data {"groupId":7,"accessionsFilter":["LOC_000001Y"]}`; body != want {
		t.Errorf("sent %s, want %s", body, want)
	}
	if _, err := c.SubmittedData(t.Context(), "zika", 7, nil, &file); err != nil || !strings.HasSuffix(body, `{"groupId":7,"accessionsFilter":[]}`) {
		t.Errorf("sent %s: %v", body, err)
	}
}

func TestSubmittedData_CutShortIsAnError(t *testing.T) {
	t.Parallel()
	for _, spoil := range []func(http.Header){
		func(h http.Header) { h.Set("Content-Length", "10") },
		func(h http.Header) { h.Del("Content-Disposition") },
		func(h http.Header) { h.Set("Content-Type", "text/html") },
	} {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/zip")
			w.Header().Set("Content-Disposition", `attachment; filename="zika.zip"`)
			spoil(w.Header())
			_, _ = io.WriteString(w, "PK")
		})
		if name, err := c.SubmittedData(t.Context(), "zika", 7, nil, io.Discard); err == nil || name != "" {
			t.Errorf("got %q and no error", name)
		}
	}
}
