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
func TestCheck_WhatIsKnownIsNotLookedAtAgain(t *testing.T) { //nolint:tparallel // see below
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
	}{
		{name: "fine", request: fine},
		{name: "wrong", request: wrong, invalid: true},
		{name: "stalled", request: fine, early: faulty(fine.Sequences, errors.New("stalled")), opened: 1},
		{name: "large", request: large, opened: 1},
	} {
		t.Run(tt.name, func(t *testing.T) { //nolint:paralleltest // each looks whether the spool they share is empty
			early, r := tt.early, tt.request
			if early == nil {
				early = r.Sequences
			}
			var opened atomic.Int64
			r.Sequences = counted(r.Sequences, &opened)
			var gaveUp atomic.Int64
			r.Check = h.BeginCheck(t.Context(), zika, r.Metadata, early, func() { gaveUp.Add(1) })
			defer r.Check.Close()
			made, err := h.Submit(t.Context(), anna, r)
			var invalid *seqlease.InvalidError
			if errors.As(err, &invalid) != tt.invalid || (err != nil) != tt.invalid || opened.Load() != tt.opened {
				t.Errorf("made %d entries with error %v, and opened the file %d times again, want %d", len(made), err, opened.Load(), tt.opened)
			}
			if gaveUp.Load() != tt.opened {
				t.Errorf("the check gave up %d times, want %d", gaveUp.Load(), tt.opened)
			}
			if used := h.spool.Used(); used != 0 {
				t.Errorf("%d bytes of spool are left", used)
			}
		})
	}
}

// A check that nobody wants the end of leaves nothing behind.
func TestCheck_CloseRemovesWhatItMade(t *testing.T) {
	t.Parallel()
	h := open(t, submission.TermsOptions{}, nil)
	r := h.request(h.group, strings.Repeat("ACGT", 100), "a", "b", "c")
	c := h.BeginCheck(t.Context(), zika, r.Metadata, r.Sequences, func() {})
	c.Close()
	r.Check = h.BeginCheck(t.Context(), zika, r.Metadata, r.Sequences, func() {})
	if _, err := h.Submit(t.Context(), bert, r); !errors.Is(err, seqlease.ErrForbidden) {
		t.Errorf("got %v, want ErrForbidden", err)
	}
	r.Check.Close()
	if used := h.spool.Used(); used != 0 {
		t.Errorf("%d bytes of spool are left", used)
	}
}
