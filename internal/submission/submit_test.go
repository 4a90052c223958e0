package submission_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

func TestSubmit_AccessionsFollowTheFile(t *testing.T) {
	t.Parallel()
	h := open(t, submission.TermsOptions{}, nil)
	stored := h.submitZika(t)
	metadata, err := os.ReadFile(testdata("zika/metadata.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for i, s := range stored {
		if want := seqlease.NewAccession("LOC_", int64(i+1)); s.Accession != want || s.Version != 1 {
			t.Errorf("entry %d: got %s, want %s.1", i, s.AccessionVersion, want)
		}
		got = append(got, s.SubmissionID)
	}
	for line := range strings.Lines(string(metadata)) {
		id, _, _ := strings.Cut(line, "\t")
		want = append(want, id)
	}
	if diff := cmp.Diff(got, want[1:]); diff != "" {
		t.Errorf("submission ids (-got +want):\n%s", diff)
	}
	_, counts := h.list(t, anna, submission.ListRequest{Organism: zika})
	if got, want := counts.Statuses[seqlease.Received], int64(len(stored)); got != want {
		t.Errorf("received: got %d, want %d", got, want)
	}
}

// TestSubmit_OrderOfChecks spoils a request at one place and at all later ones:
// the first fault is the one that is told.
func TestSubmit_OrderOfChecks(t *testing.T) {
	t.Parallel()
	h := open(t, submission.TermsOptions{Enabled: true}, nil)
	good := submission.SubmitRequest{
		Organism: zika, GroupID: h.group, TermsType: "OPEN",
		Metadata: inMemory("m.tsv", "id\tcountry\na\tPeru\n"), Sequences: inMemory("s.fasta", ">a\nACGT\n"),
	}
	tests := []struct {
		name   string
		person seqlease.Person
		spoil  func(r *submission.SubmitRequest)
		is     error
		says   string
	}{
		{"sequences that don't match", anna, func(r *submission.SubmitRequest) { r.Sequences = inMemory("s.fasta", ">b\nACGT\n") }, nil, `"b"`},
		{"no metadata file", anna, func(r *submission.SubmitRequest) { r.Metadata = nil }, nil, "metadataFile"},
		{"no terms", anna, func(r *submission.SubmitRequest) { r.TermsType = "" }, nil, "dataUseTermsType is missing"},
		{"unknown terms", anna, func(r *submission.SubmitRequest) { r.TermsType = "open" }, nil, `not "open"`},
		{"not a member", bert, func(*submission.SubmitRequest) {}, seqlease.ErrForbidden, `"bert" is not a member of group 1`},
		{"unknown group", bert, func(r *submission.SubmitRequest) { r.GroupID = 99 }, seqlease.ErrNotFound, "99"},
		{"unknown organism", bert, func(r *submission.SubmitRequest) { r.Organism = "Zika" }, seqlease.ErrUnknownOrganism, "other, zika"},
	}
	request := good
	for _, tc := range tests {
		tc.spoil(&request)
		_, err := h.Submit(t.Context(), tc.person, request)
		var invalid *seqlease.InvalidError
		if tc.is == nil && !errors.As(err, &invalid) || tc.is != nil && !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: got %v, want an error that says %q", tc.name, err, tc.says)
		}
	}
	if lines, _ := h.list(t, root, submission.ListRequest{Organism: zika}); len(lines) > 0 {
		t.Errorf("something was stored: %v", lines)
	}
	if _, err := h.Submit(t.Context(), root, good); err != nil {
		t.Errorf("a super user submits for a group of others: %v", err)
	}
}

func TestSubmit_RestrictedUntil(t *testing.T) {
	t.Parallel()
	h := open(t, submission.TermsOptions{Enabled: true}, nil)
	now, err := h.store.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	day := func(years, days int) string { return now.UTC().AddDate(years, 0, days).Format(time.DateOnly) }
	for until, says := range map[string]string{
		day(0, 0): "", day(0, 100): "", day(1, 0): "",
		day(0, -1): "must be from today", day(1, 1): "must be from today",
		"": "missing", "tomorrow": `not "tomorrow"`, "2026-13-01": "YYYY-MM-DD", "2026-2-1": "YYYY-MM-DD",
	} {
		_, err := h.Submit(t.Context(), anna, submission.SubmitRequest{
			Organism: zika, GroupID: h.group, TermsType: "RESTRICTED", RestrictedUntil: until,
			Metadata: inMemory("m.tsv", "id\tcountry\na\tPeru\n"), Sequences: inMemory("s.fasta", ">a\nACGT\n"),
		})
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("until %q: got %v, want %q", until, err, says)
		}
	}
	terms := map[string]int{}
	_, err = h.List(t.Context(), anna, submission.ListRequest{Organism: zika}, func(e submission.ListedEntry) error {
		terms[string(e.Terms.Type)+" "+e.Terms.RestrictedUntil.Format(time.DateOnly)]++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"RESTRICTED " + day(0, 0): 1, "RESTRICTED " + day(0, 100): 1, "RESTRICTED " + day(1, 0): 1}
	if diff := cmp.Diff(terms, want); diff != "" {
		t.Errorf("terms (-got +want):\n%s", diff)
	}
}

func TestSubmit_TermsAreIgnoredWhereTheyAreOff(t *testing.T) {
	t.Parallel()
	h := open(t, submission.TermsOptions{}, nil)
	h.submit(t, anna, submission.SubmitRequest{
		Organism: zika, GroupID: h.group, TermsType: "RESTRICTED", RestrictedUntil: "yesterday",
		Metadata: inMemory("m.tsv", "id\tcountry\na\tPeru\n"), Sequences: inMemory("s.fasta", ">a\nACGT\n"),
	})
	_, err := h.List(t.Context(), anna, submission.ListRequest{Organism: zika}, func(e submission.ListedEntry) error {
		if got, want := e.Terms, (seqlease.DataUseTerms{Type: seqlease.TermsOpen}); got != want {
			t.Errorf("terms: got %v, want %v", got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
