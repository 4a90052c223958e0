package submission_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

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

// TestSubmit_L12_EverythingIsPackedBeforeTheTransaction: what the store is given
// is what it packed before, as often as it reads it, and counts as spool space.
func TestSubmit_L12_EverythingIsPackedBeforeTheTransaction(t *testing.T) {
	t.Parallel()
	p := &packing{}
	h := open(t, submission.TermsOptions{}, func(s submission.Store) submission.Store { p.Store = s; return p })
	ids := []string{"a", strings.Repeat("long", 50), "c"}
	calls := 0
	p.onSubmit = func(u submission.Upload) {
		calls++
		if got := p.packed.Load(); got != int64(len(ids)) {
			t.Errorf("%d entries are packed when the store is asked, want %d", got, len(ids))
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
		if used := h.spool.Used(); used < bytes/2 {
			t.Errorf("%d bytes of spool are counted, want at least the %d that are packed", used, bytes/2)
		}
	}
	h.submitSmall(t, anna, h.group, ids...)
	if got := p.packed.Load(); calls != 1 || got != int64(len(ids)) || h.spool.Used() != 0 {
		t.Errorf("%d calls, %d packed, %d bytes of spool left, want 1, %d and 0", calls, got, h.spool.Used(), len(ids))
	}
}

// However many cores pack them, entries come in the order of the metadata file.
func TestSubmit_ManyEntriesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	p := &packing{}
	h := open(t, submission.TermsOptions{}, func(s submission.Store) submission.Store { p.Store = s; return p })
	ids := make([]string, 1000)
	for i := range ids {
		ids[i] = fmt.Sprint("entry", i)
	}
	p.onSubmit = func(u submission.Upload) {
		i := 0
		for e, err := range u.Entries {
			if err != nil || i == len(ids) || e.SubmissionID != ids[i] {
				t.Fatalf("entry %d is %q (%v)", i, e.SubmissionID, err)
			}
			i++
		}
		if i != len(ids) {
			t.Errorf("%d entries, want %d", i, len(ids))
		}
	}
	h.submitSmall(t, anna, h.group, ids...)
}
