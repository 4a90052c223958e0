package submission_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/intake"
	"github.com/seqlease/seqlease/internal/submission"
)

// released submits, processes and releases small entries with these ids.
func (h *house) released(t *testing.T, p seqlease.Person, group int64, ids ...string) []seqlease.Accession {
	t.Helper()
	var list []seqlease.Accession
	for _, m := range h.submitSmall(t, p, group, ids...) {
		list = append(list, m.Accession)
	}
	h.process(t, nil)
	if _, err := h.Approve(t.Context(), root, submission.ApproveRequest{Organism: zika, Scope: seqlease.ApproveAll}); err != nil {
		t.Fatal(err)
	}
	return list
}

// revision is an upload that revises the accessions.
func revision(accessions ...seqlease.Accession) submission.ReviseRequest {
	var metadata, sequences strings.Builder
	metadata.WriteString("id\taccession\tcountry\n")
	for i, a := range accessions {
		fmt.Fprintf(&metadata, "r%d\t%s\tChile\n", i, a)
		fmt.Fprintf(&sequences, ">r%d\nACGT\n", i)
	}
	return submission.ReviseRequest{Organism: zika, Metadata: inMemory("m.tsv", metadata.String()), Sequences: inMemory("s.fasta", sequences.String())}
}

// TestRevise_OrderOfChecks spoils a request at one place and at all later ones: the
// first fault is the one that is told.
func TestRevise_OrderOfChecks(t *testing.T) {
	t.Parallel()
	h := open(t, submission.TermsOptions{Enabled: true}, nil)
	released := h.released(t, anna, h.group, "a")
	received := h.submitSmall(t, anna, h.group, "b")[0].Accession
	other := h.submit(t, anna, submission.SubmitRequest{
		Organism: "other", GroupID: h.group, TermsType: "OPEN", Metadata: inMemory("m.tsv", "id\tx\nc\ty\n"), Sequences: inMemory("s.fasta", ">c\nA\n"),
	})[0].Accession
	all := []seqlease.Accession{released[0], other}
	for _, tc := range []struct {
		name   string
		person seqlease.Person
		r      submission.ReviseRequest
		is     error
		says   string
	}{
		{"another organism", anna, revision(released...), seqlease.ErrState, "is of organism zika"},
		{"state", anna, revision(append(all, received)...), seqlease.ErrState, "must be in status [APPROVED_FOR_RELEASE]"},
		{"permission", bert, revision(append(all, received)...), seqlease.ErrForbidden, `"bert" is not a member of group 1`},
		{"existence", bert, revision(append(all, received, "LOC_X")...), seqlease.ErrState, "accessions that do not exist: LOC_X"},
		{"files", bert, submission.ReviseRequest{Organism: zika}, nil, "metadataFile"},
		{"organism", bert, submission.ReviseRequest{Organism: "Zika"}, seqlease.ErrUnknownOrganism, "other, zika"},
	} {
		if tc.name == "another organism" {
			tc.r.Organism = "other"
		}
		_, err := h.Revise(t.Context(), tc.person, tc.r)
		var invalid *seqlease.InvalidError
		if tc.is == nil && !errors.As(err, &invalid) || tc.is != nil && !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: got %v, want an error that says %q", tc.name, err, tc.says)
		}
	}
	if used := h.spool.Used(); used != 0 {
		t.Errorf("%d bytes of spool space were not given back", used)
	}
	made, err := h.Revise(t.Context(), root, revision(released...))
	if err != nil {
		t.Fatalf("a super user revises entries of others: %v", err)
	}
	want := []seqlease.SubmissionIDMapping{{AccessionVersion: seqlease.AccessionVersion{Accession: released[0], Version: 2}, SubmissionID: "r0"}}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

// TestRevise_NamesAtMostTwentyEntries: an error about very many is still one that
// people read.
func TestRevise_NamesAtMostTwentyEntries(t *testing.T) {
	t.Parallel()
	h := open(t, submission.TermsOptions{}, nil)
	var ids []string
	for i := range 30 {
		ids = append(ids, fmt.Sprint("s", i))
	}
	var received, unknown []seqlease.Accession
	for i, m := range h.submitSmall(t, anna, h.group, ids...) {
		received, unknown = append(received, m.Accession), append(unknown, seqlease.Accession(fmt.Sprintf("X%02d", i)))
	}
	for name, accessions := range map[string][]seqlease.Accession{"unknown": unknown, "received": received} {
		_, err := h.Revise(t.Context(), anna, revision(accessions...))
		if !errors.Is(err, seqlease.ErrState) || !strings.Contains(err.Error(), "and 10 more") ||
			!strings.Contains(err.Error(), string(accessions[19])) || strings.Contains(err.Error(), string(accessions[20])) {
			t.Errorf("%s: got %v, want twenty names and that there are 10 more", name, err)
		}
	}
	if _, err := h.Revise(t.Context(), bert, revision(received...)); !errors.Is(err, seqlease.ErrForbidden) || !strings.Contains(err.Error(), "and 10 more") {
		t.Errorf("forbidden: got %v, want that there are 10 more", err)
	}
}

// TestRevise_AtOnceIsAnsweredOnce stores a revision under its key when the same one has
// looked for the key and not yet at the entries.
func TestRevise_AtOnceIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	h := open(t, submission.TermsOptions{}, nil)
	keyed := revision(h.released(t, anna, h.group, "a")...)
	keyed.Key = &submission.UploadKey{Key: "k"}
	crossed := func(first submission.ReviseRequest, by seqlease.Person) submission.ReviseRequest {
		metadata := *keyed.Metadata
		second := keyed
		second.Metadata = &intake.File{Name: metadata.Name, Open: func() (io.ReadCloser, error) {
			if _, err := h.Revise(t.Context(), by, first); err != nil {
				t.Error(err)
			}
			return metadata.Open()
		}}
		return second
	}
	made, err := h.Revise(t.Context(), anna, crossed(keyed, anna))
	if err != nil || len(made) != 1 || made[0].Version != 2 {
		t.Errorf("got %v, %v, want what was stored meanwhile", made, err)
	}

	h.process(t, nil)
	if _, err := h.Approve(t.Context(), root, submission.ApproveRequest{Organism: zika, Scope: seqlease.ApproveAll}); err != nil {
		t.Fatal(err)
	}
	other := keyed
	other.Key = nil
	keyed.Key = &submission.UploadKey{Key: "l"}
	if made, err := h.Revise(t.Context(), anna, crossed(other, anna)); !errors.Is(err, seqlease.ErrState) {
		t.Errorf("got %v, %v, want a refusal: another upload is in the way", made, err)
	}
}

func TestUploadKey_AnswersComeBack(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 5000} {
		made := make([]seqlease.SubmissionIDMapping, n)
		for i := range made {
			made[i] = seqlease.SubmissionIDMapping{
				AccessionVersion: seqlease.AccessionVersion{Accession: seqlease.NewAccession("LOC_", int64(i)), Version: seqlease.Version(i % 7)},
				SubmissionID:     strings.Repeat("é", i%200),
			}
		}
		packed, err := submission.PackAnswer(made)
		if err != nil {
			t.Fatal(err)
		}
		got, err := submission.UnpackAnswer(packed)
		if err != nil || len(got) != n || n > 0 && !cmp.Equal(got, made) {
			t.Errorf("%d mappings came back as %d, %v", n, len(got), err)
		}
		if n == 0 {
			continue
		}
		for _, damaged := range [][]byte{packed[:len(packed)/2], append([]byte{0xff}, packed...), {}} {
			if got, err := submission.UnpackAnswer(damaged); err == nil {
				t.Errorf("a damaged answer came back as %d mappings", len(got))
			}
		}
	}
}

func TestUploadKey_IsVisibleASCII(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"a", "!~", "8e03978e-40d5-43dd-bc93-6894a57f9324", strings.Repeat("x", 255)} {
		if err := submission.CheckUploadKey(key); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
	for _, key := range []string{"", " ", "a b", "\x7f", "é", "a\x00", strings.Repeat("x", 256)} {
		var invalid *seqlease.InvalidError
		if err := submission.CheckUploadKey(key); !errors.As(err, &invalid) || invalid.Kind != seqlease.InvalidRequest {
			t.Errorf("%q: got %v, want that it can't be a key", key, err)
		}
	}
}
