package submission_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// packing counts what is packed and looks at what is left when the transaction begins.
type packing struct {
	submission.Store
	packed   atomic.Int64
	onSubmit func(submission.Upload)
}

func (p *packing) Pack(o seqlease.Organism, document []byte) (seqlease.Packed, error) {
	p.packed.Add(1)
	return p.Store.Pack(o, document)
}

func (p *packing) Submit(ctx context.Context, u submission.Upload) ([]seqlease.SubmissionIDMapping, error) {
	p.onSubmit(u)
	return p.Store.Submit(ctx, u)
}

// TestSubmit_L12_LargeEntriesArePackedBeforeTheTransaction: what the store is given
// is what was packed before, as often as it reads it, and counts as spool space.
// Packing small entries takes less time than storing them, so that is done meanwhile.
func TestSubmit_L12_LargeEntriesArePackedBeforeTheTransaction(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		letters       int
		before, after int64 // how often something is packed until the store is asked, and in the end
	}{
		{"small", 100, 0, 9},
		{"large", 8 << 10, 3, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := &packing{}
			h := open(t, submission.TermsOptions{}, func(s submission.Store) submission.Store { p.Store = s; return p })
			ids := []string{"a", strings.Repeat("long", 50), "c"}
			calls := 0
			p.onSubmit = func(u submission.Upload) {
				calls++
				if got := p.packed.Load(); got != tt.before {
					t.Errorf("%d entries are packed when the store is asked, want %d", got, tt.before)
				}
				bytes := int64(0)
				for range 2 { // a transaction may be repeated
					i := 0
					for e, err := range u.Entries {
						if err != nil || e.SubmissionID != ids[i] || len(e.Data.Bytes) == 0 || e.Data.Dictionary == 0 {
							t.Errorf("entry %d is %q with %d bytes and dictionary %d (%v)", i, e.SubmissionID, len(e.Data.Bytes), e.Data.Dictionary, err)
						}
						bytes += int64(len(e.Data.Bytes))
						i++
					}
					if i != len(ids) {
						t.Errorf("%d entries, want %d", i, len(ids))
					}
				}
				if used := h.spool.Used(); used == 0 || tt.before > 0 && used < bytes/2 {
					t.Errorf("%d bytes of spool are counted, of %d that are packed", used, bytes/2)
				}
			}
			h.submitLetters(t, anna, h.group, strings.Repeat("ACGT", tt.letters/4), ids...)
			if got := p.packed.Load(); calls != 1 || got != tt.after || h.spool.Used() != 0 {
				t.Errorf("%d calls, %d packed, %d bytes of spool left, want 1, %d and 0", calls, got, h.spool.Used(), tt.after)
			}
		})
	}
}

// However many cores pack them, entries come in the order of the metadata file, and
// whoever has seen enough of them may stop.
func TestSubmit_ManyEntriesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	for name, letters := range map[string]int{"small": 8, "large": 8 << 10} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &packing{}
			h := open(t, submission.TermsOptions{}, func(s submission.Store) submission.Store { p.Store = s; return p })
			ids := make([]string, 5000*8/letters+1000)
			for i := range ids {
				ids[i] = fmt.Sprint("entry", i)
			}
			p.onSubmit = func(u submission.Upload) {
				for _, enough := range []int{1, 300, len(ids) + 1} {
					i := 0
					for e, err := range u.Entries {
						if err != nil || i == len(ids) || e.SubmissionID != ids[i] {
							t.Fatalf("entry %d is %q (%v)", i, e.SubmissionID, err)
						}
						if i++; i == enough {
							break
						}
					}
					if i != min(enough, len(ids)) {
						t.Errorf("%d entries, want %d", i, min(enough, len(ids)))
					}
				}
			}
			h.submitLetters(t, anna, h.group, strings.Repeat("ACGT", letters/4), ids...)
		})
	}
}

// copying packs nothing: what it makes is as large as what it is given.
type copying struct{ packing }

func (c *copying) Pack(_ seqlease.Organism, document []byte) (seqlease.Packed, error) {
	c.packed.Add(int64(len(document)))
	return seqlease.Packed{Dictionary: 1, Bytes: bytes.Clone(document)}, nil
}

var errEnough = errors.New("enough was seen")

// Submit stores nothing.
func (c *copying) Submit(_ context.Context, u submission.Upload) ([]seqlease.SubmissionIDMapping, error) {
	c.onSubmit(u)
	return nil, errEnough
}

// A few very large entries among many small ones are not packed one after the other
// before anybody asks for them: at most one is ahead.
func TestSubmit_L12_LargeEntriesAmongManySmallOnes(t *testing.T) {
	t.Parallel()
	const small, large, letters = 10_000, 6, 6 << 20
	c := &copying{}
	h := open(t, submission.TermsOptions{}, func(s submission.Store) submission.Store { c.Store = s; return c })
	var metadata, sequences strings.Builder
	metadata.WriteString("id\tcountry\n")
	long := strings.Repeat("ACGT", letters/4)
	for i := range small + large {
		fmt.Fprintf(&metadata, "e%d\tPeru\n", i)
		row := "ACGT"
		if i >= small/2 && i < small/2+large {
			row = long
		}
		fmt.Fprintf(&sequences, ">e%d\n%s\n", i, row)
	}
	r := h.request(h.group, "")
	r.Metadata, r.Sequences = inMemory("m.tsv", metadata.String()), inMemory("s.fasta", sequences.String())
	c.onSubmit = func(u submission.Upload) {
		synctest.Test(t, func(t *testing.T) {
			n, seen, most := 0, int64(0), int64(0)
			for e, err := range u.Entries {
				if err != nil || e.SubmissionID != fmt.Sprint("e", n) {
					t.Fatalf("entry %d is %q (%v)", n, e.SubmissionID, err)
				}
				if n++; n%100 == 0 || len(e.Data.Bytes) > letters {
					synctest.Wait() // until no more is packed
				}
				most = max(most, c.packed.Load()-seen)
				seen += int64(len(e.Data.Bytes))
			}
			// A bundle has a large entry and small ones.
			if limit := int64(4<<20 + letters + 1<<20); n != small+large || most > limit {
				t.Errorf("%d entries; %d bytes were packed that nobody had asked for, want at most %d", n, most, limit)
			}
		})
	}
	if _, err := h.Submit(t.Context(), anna, r); !errors.Is(err, errEnough) {
		t.Fatal(err)
	}
	if got := c.packed.Load(); got < large*letters || h.spool.Used() != 0 {
		t.Errorf("%d bytes were packed, %d bytes of spool are left", got, h.spool.Used())
	}
}

// panickingPack has a bug.
type panickingPack struct{ submission.Store }

func (panickingPack) Pack(seqlease.Organism, []byte) (seqlease.Packed, error) { panic("a bug") }

// Wherever entries are packed, a panic ends the one request alone.
func TestSubmit_APanicOfPackingIsAnError(t *testing.T) {
	t.Parallel()
	for name, letters := range map[string]int{"small": 8, "large": 8 << 10} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := open(t, submission.TermsOptions{}, func(s submission.Store) submission.Store { return panickingPack{s} })
			_, err := h.Submit(t.Context(), anna, h.request(h.group, strings.Repeat("ACGT", letters/4), "a", "b"))
			if err == nil || !strings.Contains(err.Error(), "panic: a bug") || !strings.Contains(err.Error(), "panickingPack") || h.spool.Used() != 0 {
				t.Errorf("got %v and %d bytes of spool left, want an error with the cause and its place, and 0", err, h.spool.Used())
			}
		})
	}
}

// brokenPacking can't pack.
type brokenPacking struct{ submission.Store }

var errPacking = errors.New("can't be packed")

func (brokenPacking) Pack(seqlease.Organism, []byte) (seqlease.Packed, error) {
	return seqlease.Packed{}, errPacking
}

func TestSubmit_WhatCannotBePackedStoresNothing(t *testing.T) {
	t.Parallel()
	for name, letters := range map[string]int{"small": 8, "large": 8 << 10} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := open(t, submission.TermsOptions{}, func(s submission.Store) submission.Store { return brokenPacking{s} })
			_, err := h.Submit(t.Context(), anna, h.request(h.group, strings.Repeat("ACGT", letters/4), "a", "b"))
			if !errors.Is(err, errPacking) || !strings.Contains(err.Error(), `"a"`) || h.spool.Used() != 0 {
				t.Errorf("got %v and %d bytes of spool left, want an error that names the entry, and 0", err, h.spool.Used())
			}
			if entries, _ := h.list(t, anna, submission.ListRequest{Organism: zika}); len(entries) > 0 {
				t.Errorf("stored %v", entries)
			}
		})
	}
}
