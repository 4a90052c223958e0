package submission_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// faultyReads tells of one entry that was submitted and then does something else.
type faultyReads struct {
	submission.Store
	then func(ctx context.Context) error
}

func (f *faultyReads) ReadSubmitted(ctx context.Context, _ submission.SubmittedFilter, begin func(submission.SubmittedHead) error, _ func(submission.SubmittedEntry) error) error {
	if err := begin(submission.SubmittedHead{Count: 1}); err != nil {
		return err
	}
	return f.then(ctx)
}

// openFaulty begins to read what faultyReads has.
func openFaulty(t *testing.T, then func(ctx context.Context) error) (*house, *submission.SubmittedMetadata) {
	t.Helper()
	h := open(t, submission.TermsOptions{}, func(s submission.Store) submission.Store { return &faultyReads{s, then} })
	m, err := h.SubmittedMetadata(t.Context(), anna, submission.SubmittedMetadataRequest{Organism: zika})
	if err != nil {
		t.Fatal(err)
	}
	return h, m
}

func (h *house) wantNothingSpooled(t *testing.T) {
	t.Helper()
	if used := h.spool.Used(); used > 0 {
		t.Errorf("%d bytes are left in the spool", used)
	}
}

// A client that leaves ends the reading from the database.
func TestSubmittedMetadata_L12_CloseStopsTheReading(t *testing.T) {
	t.Parallel()
	stopped := make(chan struct{})
	h, m := openFaulty(t, func(ctx context.Context) error {
		<-ctx.Done()
		close(stopped)
		return ctx.Err()
	})
	m.Close()
	select {
	case <-stopped:
	default:
		t.Error("the reading goes on after Close")
	}
	h.wantNothingSpooled(t)
}

// Whatever goes wrong after the count was told, the body doesn't look whole.
func TestSubmittedMetadata_L15_NeverLooksWhole(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is on fire")
	for name, then := range map[string]func(context.Context) error{
		"an error":   func(context.Context) error { return broken },
		"a panic":    func(context.Context) error { panic("a bug") },
		"less lines": func(context.Context) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, m := openFaulty(t, then)
			for _, compressed := range []bool{false, true} {
				body, err := m.Open(t.Context(), compressed)
				if err != nil {
					t.Fatal(err)
				}
				if text, err := io.ReadAll(body); err == nil {
					t.Errorf("compressed %t: %q looks whole", compressed, text)
				}
				if err := body.Close(); err != nil {
					t.Error(err)
				}
			}
			m.Close()
			h.wantNothingSpooled(t)
		})
	}
}

// An error before the count is one of the call.
func TestSubmittedMetadata_ErrorBeforeTheCount(t *testing.T) {
	t.Parallel()
	h := open(t, submission.TermsOptions{}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.SubmittedMetadata(ctx, root, submission.SubmittedMetadataRequest{Organism: zika}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the caller has left", err)
	}
	h.wantNothingSpooled(t)
}

// One record is one line for every reader, and odd characters come through.
func TestSubmittedMetadata_OneRecordIsOneLine(t *testing.T) {
	t.Parallel()
	h := open(t, submission.TermsOptions{}, nil)
	h.submit(t, anna, submission.SubmitRequest{
		Organism: zika, GroupID: h.group, TermsType: "OPEN",
		Metadata: inMemory("m.tsv", "id\tcountry\nx\t\"a\nb\u2028c\u0085d\"\n"), Sequences: inMemory("s.fasta", ">x\nACGT\n"),
	})
	for _, fields := range [][]string{nil, {"country"}} {
		m, err := h.SubmittedMetadata(t.Context(), anna, submission.SubmittedMetadataRequest{Organism: zika, Fields: fields})
		if err != nil {
			t.Fatal(err)
		}
		body, err := m.Open(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(text); !strings.HasSuffix(got, `"submittedMetadata":{"country":"a\nb\u2028c\u0085d"}}`+"\n") {
			t.Errorf("fields %v: %q", fields, got)
		}
		_ = body.Close()
		m.Close()
	}
}

func TestSubmittedData_UnknownGroupAndOrganism(t *testing.T) {
	t.Parallel()
	h := open(t, submission.TermsOptions{}, nil)
	for _, tt := range []struct {
		person  seqlease.Person
		request submission.SubmittedDataRequest
		want    error
	}{
		{anna, submission.SubmittedDataRequest{Organism: "moss", GroupID: h.group}, seqlease.ErrUnknownOrganism},
		{anna, submission.SubmittedDataRequest{Organism: zika, GroupID: 99}, seqlease.ErrNotFound},
		{bert, submission.SubmittedDataRequest{Organism: zika, GroupID: h.group}, seqlease.ErrForbidden},
	} {
		if _, err := h.SubmittedData(t.Context(), tt.person, tt.request); !errors.Is(err, tt.want) {
			t.Errorf("%+v: got %v, want %v", tt.request, err, tt.want)
		}
	}
	h.wantNothingSpooled(t)
}
