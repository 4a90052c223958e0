package httpapi

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/seqlease/seqlease"
)

func TestLimited(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		length, limit int
		fits          bool
	}{{0, 0, true}, {1, 0, false}, {9, 10, true}, {10, 10, true}, {11, 10, false}, {100_000, 10, false}} {
		for name, source := range map[string]io.Reader{
			"whole":        strings.NewReader(strings.Repeat("x", tt.length)),
			"byte by byte": iotest.OneByteReader(strings.NewReader(strings.Repeat("x", tt.length))),
			"data and end": iotest.DataErrReader(strings.NewReader(strings.Repeat("x", tt.length))),
		} {
			got, err := io.ReadAll(limited(source, int64(tt.limit), "test body"))
			if (err == nil) != tt.fits || len(got) != min(tt.length, tt.limit) {
				t.Errorf("%d bytes under a limit of %d, %s: got %d bytes and error %v", tt.length, tt.limit, name, len(got), err)
			}
			if err != nil && (!errors.Is(err, seqlease.ErrTooLarge) || !strings.Contains(err.Error(), "test body")) {
				t.Errorf("error %v must be too large and name the body", err)
			}
		}
	}
}

// TestReservation_BoundsMemory checks that long lines wait for each other and
// that none holds something while it waits, so that they can't block for ever.
func TestReservation_BoundsMemory(t *testing.T) {
	t.Parallel()
	pool := semaphore.NewWeighted(resultMemory)
	var group errgroup.Group
	for range 20 {
		group.Go(func() error {
			m := &reservation{pool: pool}
			defer m.release()
			for _, step := range []struct{ size, held int }{
				{128 << 10, 128 << 10},
				{1 << 20, 1 << 20},
				{2 << 20, 32 << 20},
				{32<<20 + 2, 32 << 20},
				{64 << 10, 64 << 10},
			} {
				if err := m.resize(t.Context(), step.size); err != nil {
					return err
				}
				if m.held != int64(step.held) {
					t.Errorf("%d bytes held for a buffer of %d, want %d", m.held, step.size, step.held)
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if !pool.TryAcquire(resultMemory) {
		t.Fatal("memory was not given back")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := &reservation{pool: pool}
	if err := m.resize(ctx, 1<<20); !errors.Is(err, context.Canceled) || m.held != 0 {
		t.Errorf("got error %v and %d bytes without room, want to wait", err, m.held)
	}
}
