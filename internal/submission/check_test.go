package submission_test

import (
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/intake"
	"github.com/seqlease/seqlease/internal/submission"
)

// counted counts how often a file is opened.
func counted(f *intake.File, opened *atomic.Int64) *intake.File {
	return &intake.File{Name: f.Name, Open: func() (io.ReadCloser, error) { opened.Add(1); return f.Open() }}
}

// faulty is a file that ends with an error.
func faulty(f *intake.File, err error) *intake.File {
	return &intake.File{Name: f.Name, Open: func() (io.ReadCloser, error) {
		r, failed := f.Open()
		return io.NopCloser(io.MultiReader(io.LimitReader(r, 100), failing{err})), failed
	}}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// An upload that was checked while it arrived isn't checked again, unless the check
// came to nothing for a reason that isn't in the files.
func TestCheck_WhatIsKnownIsNotLookedAtAgain(t *testing.T) { //nolint:tparallel // its cases share a spool
	t.Parallel()
	h := open(t, submission.TermsOptions{}, nil)
	fine := h.request(h.group, strings.Repeat("ACGT", 100), "a", "b", "c")
	wrong := fine
	wrong.Sequences = inMemory("s.fasta", ">a\nAC!GT\n")
	large := h.request(h.group, strings.Repeat("ACGT", 1<<19), "a")
	for _, tt := range []struct {
		name    string
		request submission.SubmitRequest
		early   *intake.File // nil: as in the request
		opened  int64        // again
		invalid bool
		full    bool
	}{
		{name: "fine", request: fine},
		{name: "wrong", request: wrong, invalid: true},
		{name: "stalled", request: fine, early: faulty(fine.Sequences, errors.New("stalled")), opened: 1},
		{name: "large", request: large, opened: 1},
		{name: "no room to keep it", request: fine, opened: 1, full: true},
	} {
		t.Run(tt.name, func(t *testing.T) { //nolint:paralleltest // each looks whether the spool they share is empty
			early, r := tt.early, tt.request
			if early == nil {
				early = r.Sequences
			}
			var opened atomic.Int64
			r.Sequences = counted(r.Sequences, &opened)
			var ended atomic.Int64
			r.Check = h.BeginCheck(t.Context(), submission.Arriving{Organism: zika, Metadata: r.Metadata, Sequences: early}, func(kept int64) bool {
				if known := tt.opened == 0 && !tt.invalid; known != (kept > 0) && !tt.full || kept > 1000 {
					t.Errorf("%d bytes are kept", kept)
				}
				ended.Add(1)
				return !tt.full
			})
			defer r.Check.Close()
			made, err := h.Submit(t.Context(), anna, r)
			var invalid *seqlease.InvalidError
			if errors.As(err, &invalid) != tt.invalid || (err != nil) != tt.invalid || opened.Load() != tt.opened {
				t.Errorf("made %d entries with error %v, and opened the file %d times again, want %d", len(made), err, opened.Load(), tt.opened)
			}
			if ended.Load() != 1 {
				t.Errorf("was told %d times that the check has ended, want once", ended.Load())
			}
			if used := h.spool.Used(); used != 0 {
				t.Errorf("%d bytes of spool are left", used)
			}
		})
	}
}

// panicking is a file that breaks the program that reads it, after some bytes.
func panicking(f *intake.File) *intake.File {
	return &intake.File{Name: f.Name, Open: func() (io.ReadCloser, error) {
		r, err := f.Open()
		return io.NopCloser(io.MultiReader(io.LimitReader(r, 100), panicker{})), err
	}}
}

type panicker struct{}

func (panicker) Read([]byte) (int, error) { panic("a bug") }

// A panic in the check ends its own request and leaves nothing behind.
func TestCheck_APanicIsAnError(t *testing.T) {
	t.Parallel()
	h := open(t, submission.TermsOptions{}, nil)
	r := h.request(h.group, strings.Repeat("ACGT", 100), "a", "b", "c")
	var ended atomic.Int64
	r.Check = h.BeginCheck(t.Context(), submission.Arriving{Organism: zika, Metadata: r.Metadata, Sequences: panicking(r.Sequences)}, func(int64) bool { ended.Add(1); return true })
	_, err := h.Submit(t.Context(), anna, r)
	if err == nil || !strings.Contains(err.Error(), "panic: a bug") || !strings.Contains(err.Error(), "panicker") {
		t.Errorf("got error %v, want one with the cause and its place", err)
	}
	r.Check.Close()
	if used := h.spool.Used(); used != 0 || ended.Load() != 1 {
		t.Errorf("%d bytes of spool are left, was told %d times that the check has ended", used, ended.Load())
	}
}

// A check that nobody wants the end of leaves nothing behind.
func TestCheck_CloseRemovesWhatItMade(t *testing.T) {
	t.Parallel()
	h := open(t, submission.TermsOptions{}, nil)
	r := h.request(h.group, strings.Repeat("ACGT", 100), "a", "b", "c")
	c := h.BeginCheck(t.Context(), submission.Arriving{Organism: zika, Metadata: r.Metadata, Sequences: r.Sequences}, func(int64) bool { return true })
	c.Close()
	r.Check = h.BeginCheck(t.Context(), submission.Arriving{Organism: zika, Metadata: r.Metadata, Sequences: r.Sequences}, func(int64) bool { return true })
	if _, err := h.Submit(t.Context(), bert, r); !errors.Is(err, seqlease.ErrForbidden) {
		t.Errorf("got %v, want ErrForbidden", err)
	}
	r.Check.Close()
	if used := h.spool.Used(); used != 0 {
		t.Errorf("%d bytes of spool are left", used)
	}
}
