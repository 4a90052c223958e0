package client_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
)

// serve starts a server that answers every request by handle, and returns a
// client of it.
func serve(t *testing.T, handle http.HandlerFunc, options ...client.Option) *client.Client {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	c, err := client.New(server.URL, "secret", options...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// answer returns a handler with a fixed answer; headers are name, value pairs.
func answer(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		for pair := range slices.Chunk(headers, 2) {
			w.Header().Set(pair[0], pair[1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestNew_RefusesWhatIsNoServerAddress(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "127.0.0.1:8079", "localhost", "ftp://host", "http://", "http://a b"} {
		if _, err := client.New(base, ""); err == nil {
			t.Errorf("New(%q) gave no error", base)
		}
	}
}

func TestClaim_SendsAFormAndReadsTheBatch(t *testing.T) {
	t.Parallel()
	attempt := seqlease.NewAttemptID()
	var form map[string][]string
	var header http.Header
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		form, header = r.PostForm, r.Header
		w.Header().Set("Content-Type", "application/x-ndjson; charset=utf-8")
		w.Header().Set("ETag", `"7"`)
		_, _ = fmt.Fprintf(w, `{"accession":"LOC_000001Y","version":1,"data":{"metadata":{"country":"Brasil"},"unalignedNucleotideSequences":{"a":"ACGT"},"files":null},`+
			`"submissionId":"s1","submitter":"ann","groupId":3,"submittedAt":1767225600,"processingAttemptId":%q,"leaseUntil":"2026-03-04T05:06:07Z","leaseSeconds":30,"attempt":2,"later":true}`+"\n", attempt)
	})
	got, err := c.Claim(t.Context(), client.ClaimRequest{
		Organism: "zika", PipelineVersion: 3, Entries: 5, Lease: 30 * time.Second, WorkerID: "w1", IfNoneMatch: `"6"`,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := client.Claimed{ETag: `"7"`, Entries: []seqlease.Entry{{
		AccessionVersion: seqlease.AccessionVersion{Accession: "LOC_000001Y", Version: 1},
		Data: seqlease.SubmittedData{
			Metadata:                     map[string]string{"country": "Brasil"},
			UnalignedNucleotideSequences: map[string]string{"a": "ACGT"},
		},
		SubmissionID: "s1", Submitter: "ann", GroupID: 3, SubmittedAt: 1767225600,
		AttemptID: attempt, LeaseUntil: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), LeaseSeconds: 30, Attempt: 2,
	}}}
	want.Began = got.Began
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("claimed (-want +got):\n%s", diff)
	}
	wantForm := map[string][]string{
		"numberOfSequenceEntries": {"5"}, "pipelineVersion": {"3"}, "leaseSeconds": {"30"}, "workerId": {"w1"},
	}
	if diff := cmp.Diff(wantForm, form); diff != "" {
		t.Errorf("form (-want +got):\n%s", diff)
	}
	if got, want := header.Get("If-None-Match"), `"6"`; got != want {
		t.Errorf("If-None-Match is %s, want %s", got, want)
	}
	if got, want := header.Get("Authorization"), "Bearer secret"; got != want {
		t.Errorf("Authorization is %q, want %q", got, want)
	}
}

func TestClaim_NotModified(t *testing.T) {
	t.Parallel()
	c := serve(t, answer(http.StatusNotModified, "", "ETag", `"6"`, "Retry-After", "2"))
	got, err := c.Claim(t.Context(), client.ClaimRequest{Organism: "zika", PipelineVersion: 1, Entries: 5, IfNoneMatch: `"6"`})
	if err != nil {
		t.Fatal(err)
	}
	want := client.Claimed{Began: got.Began, ETag: `"6"`, NotModified: true, RetryAfter: 2 * time.Second}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("claimed (-want +got):\n%s", diff)
	}
}

func TestStreams_B065_ACutOneIsAnError(t *testing.T) {
	t.Parallel()
	ndjson := []string{"Content-Type", "application/x-ndjson"}
	abort := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		w.Header().Set("x-total-records", "1")
		_, _ = io.WriteString(w, "{\"metadata\":{}}\n")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	for name, handle := range map[string]http.HandlerFunc{
		"a clean end after fewer lines":   answer(200, "{}\n{}\n", append(ndjson, "x-total-records", "3")...),
		"a clean end after more lines":    answer(200, "{}\n{}\n", append(ndjson, "x-total-records", "1")...),
		"no announcement":                 answer(200, "{}\n", ndjson...),
		"the connection breaks":           abort,
		"a page of a proxy instead of it": answer(200, "<html>", "Content-Type", "text/html", "x-total-records", "0"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := serve(t, handle).ReleasedData(t.Context(), "zika", "", func([]byte) error { return nil })
			if err == nil {
				t.Error("no error")
			}
		})
	}
	t.Run("a claim", func(t *testing.T) {
		t.Parallel()
		if _, err := serve(t, abort).Claim(t.Context(), client.ClaimRequest{Organism: "zika", PipelineVersion: 1}); err == nil {
			t.Error("no error")
		}
	})
}

func TestReleasedData_GivesEveryLineAndTheTag(t *testing.T) {
	t.Parallel()
	long := `{"metadata":{"accession":"` + strings.Repeat("A", 3<<20) + `"}}` // B067: lines have no small limit
	c := serve(t, answer(200, "{}\n"+long+"\n", "Content-Type", "application/x-ndjson", "x-total-records", "2", "ETag", `"9"`))
	var lines []string
	got, err := c.ReleasedData(t.Context(), "zika", `"8"`, func(line []byte) error {
		lines = append(lines, string(line))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(client.Released{Records: 2, ETag: `"9"`}, got); diff != "" {
		t.Errorf("released (-want +got):\n%s", diff)
	}
	if !slices.Equal(lines, []string{"{}", long}) {
		t.Errorf("got %d lines that differ from what was sent", len(lines))
	}
	stop := errors.New("enough")
	if _, err := c.ReleasedData(t.Context(), "zika", "", func([]byte) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the error of yield came back as %v", err)
	}
}

func TestSubmitResults_SendsLinesThatTheServerReads(t *testing.T) {
	t.Parallel()
	sequence := "ACGT"
	results := []seqlease.Result{{
		AccessionVersion: seqlease.AccessionVersion{Accession: "LOC_000001Y", Version: 1}, AttemptID: seqlease.NewAttemptID(),
		Data: seqlease.ProcessedData{
			UnalignedNucleotideSequences: map[string]*string{"main": &sequence, "other": nil},
			NucleotideInsertions:         map[string][]seqlease.Insertion{"main": {{Position: 2, Sequence: "GG"}}},
		},
		Errors: []seqlease.Annotation{{Message: "a line\nand another"}},
	}, {AccessionVersion: seqlease.AccessionVersion{Accession: "LOC_000002W", Version: 1}}}
	var body, query, kind string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		content, _ := io.ReadAll(r.Body)
		body, query, kind = string(content), r.URL.RawQuery, r.Header.Get("Content-Type")
		w.WriteHeader(http.StatusNoContent)
	})
	if err := c.SubmitResults(t.Context(), "zika", 4, slices.Values(results)); err != nil {
		t.Fatal(err)
	}
	if query != "pipelineVersion=4" || kind != "application/x-ndjson" {
		t.Errorf("query %q and type %q", query, kind)
	}
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines: %s", len(lines), body)
	}
	var members map[string]any
	if err := json.Unmarshal([]byte(lines[1]), &members); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{ // nothing is null that the protocol wants to be there
		"accession": "LOC_000002W", "version": 1.0, "processingAttemptId": seqlease.AttemptID{}.String(),
		"errors": []any{}, "warnings": []any{},
		"data": map[string]any{
			"metadata": map[string]any{}, "unalignedNucleotideSequences": map[string]any{}, "alignedNucleotideSequences": map[string]any{},
			"nucleotideInsertions": map[string]any{}, "alignedAminoAcidSequences": map[string]any{}, "aminoAcidInsertions": map[string]any{},
			"sequenceNameToFastaId": map[string]any{}, "files": map[string]any{},
		},
	}
	if diff := cmp.Diff(want, members); diff != "" {
		t.Errorf("line of an empty result (-want +got):\n%s", diff)
	}
}

func TestSubmit_StreamsTheFilesAndStopsWhenTheServerAnswersEarly(t *testing.T) {
	t.Parallel()
	endless := client.File{Name: "sequences.fasta", Content: repeat(">a\nACGT\n")}
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		form, err := r.MultipartReader()
		if err != nil {
			t.Error(err)
			return
		}
		var parts []string
		for len(parts) < 4 {
			part, err := form.NextPart()
			if err != nil {
				t.Error(err)
				return
			}
			begin := make([]byte, 7)
			n, _ := io.ReadFull(part, begin)
			parts = append(parts, part.FormName()+" "+part.FileName()+" "+string(begin[:n]))
		}
		want := []string{"groupId  12", "dataUseTermsType  RESTRIC", "restrictedUntil  2026-09", "metadataFile m.tsv id\tx\na\t"}
		if diff := cmp.Diff(want, parts); diff != "" {
			t.Errorf("parts (-want +got):\n%s", diff)
		}
		answer(422, `{"type":"urn:seqlease:problem:invalid-content","title":"Unprocessable Entity","status":422,"detail":"d",`+
			`"problems":[{"file":"sequence file","line":3,"record":"a","message":"twice"}]}`,
			"Content-Type", "application/problem+json", "Connection", "close")(w, &http.Request{Body: http.NoBody})
	})
	_, err := c.Submit(t.Context(), client.Submission{
		Organism: "zika", GroupID: 12,
		Terms:     seqlease.DataUseTerms{Type: seqlease.TermsRestricted, RestrictedUntil: time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)},
		Metadata:  client.File{Name: "m.tsv", Content: strings.NewReader("id\tx\na\tb\n")},
		Sequences: endless,
	})
	// The connection may break before the answer is read: that is an error too,
	// but the endless upload must have ended.
	if err == nil {
		t.Fatal("no error")
	}
	var invalid *seqlease.InvalidError
	if errors.As(err, &invalid) {
		want := []seqlease.Problem{{File: "sequence file", Line: 3, Record: "a", Message: "twice"}}
		if diff := cmp.Diff(want, invalid.Problems); diff != "" {
			t.Errorf("problems (-want +got):\n%s", diff)
		}
	}
}

// repeat is a reader without an end.
type repeat string

func (r repeat) Read(p []byte) (int, error) { return copy(p, r), nil }

func TestCalls_EndWhenTheServerIsSilent(t *testing.T) {
	t.Parallel()
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	c := serve(t, hang, client.WithSilence(20*time.Millisecond))
	if err := c.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "20ms") {
		t.Errorf("got %v, want an error that says how long nothing came", err)
	}
}
