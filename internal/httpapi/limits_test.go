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
	"github.com/seqlease/seqlease/internal/spool"
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

func newTestBody(t *testing.T, source io.Reader, limit int64, shared *budget) *requestBody {
	t.Helper()
	b := &requestBody{source: io.NopCloser(source), raw: source, dir: spool.NewDir(t.TempDir(), 0), budget: shared, limit: limit, what: "test body"}
	t.Cleanup(func() {
		b.release()
		if used := b.dir.Used(); used != 0 {
			t.Errorf("%d bytes of spool space were not given back", used)
		}
	})
	return b
}

func TestRequestBody_IsFetchedWhole(t *testing.T) {
	t.Parallel()
	broken := errors.New("cut")
	for _, length := range []int{0, 1, memoryBody - 1, memoryBody, memoryBody + 1, 3*memoryBody + 5} {
		content := strings.Repeat("0123456789", length/10+1)[:length]
		for name, source := range map[string]func() io.Reader{
			"whole":        func() io.Reader { return strings.NewReader(content) },
			"in halves":    func() io.Reader { return iotest.HalfReader(strings.NewReader(content)) },
			"data and end": func() io.Reader { return iotest.DataErrReader(strings.NewReader(content)) },
		} {
			b := newTestBody(t, source(), int64(length), newBudget())
			err := b.fetch()
			got, readErr := io.ReadAll(b)
			if err != nil || readErr != nil || string(got) != content {
				t.Errorf("%d bytes %s: got %d, errors %v and %v", length, name, len(got), err, readErr)
			}
			if onDisk := b.dir.Used(); length != memoryBody && (onDisk > 0) != (length > memoryBody) {
				t.Errorf("%d bytes %s: %d on disk", length, name, onDisk)
			}
			b = newTestBody(t, io.MultiReader(source(), iotest.ErrReader(broken)), int64(length), newBudget())
			if err := b.fetch(); err == nil || !strings.Contains(err.Error(), "broke off") {
				t.Errorf("%d bytes %s, then a fault: %v", length, name, err)
			}
			b = newTestBody(t, io.MultiReader(source(), strings.NewReader("x")), int64(length), newBudget())
			if err := b.fetch(); !errors.Is(err, seqlease.ErrTooLarge) || !strings.Contains(err.Error(), "test body") {
				t.Errorf("%d bytes %s and one more than the limit: %v", length, name, err)
			}
		}
	}
}

func TestRequestBody_FullDiskIsBusy(t *testing.T) {
	t.Parallel()
	b := newTestBody(t, strings.NewReader(strings.Repeat("x", 3*memoryBody)), 1<<20, newBudget())
	b.dir = spool.NewDir(t.TempDir(), 2*memoryBody)
	if err := b.fetch(); !errors.Is(err, spool.ErrFull) {
		t.Errorf("got %v, want that the disk is full", err)
	}
}

// TestBudget_IsGivenBackAndEndsWithTheRequest holds everything that a request can
// hold, releases it twice, and checks that one without a place ends with its context.
func TestBudget_IsGivenBackAndEndsWithTheRequest(t *testing.T) {
	t.Parallel()
	shared := newBudget()
	everything := func(ctx context.Context, b *requestBody) error {
		return errors.Join(b.hold(ctx, shared.uploads), b.hold(ctx, shared.results), b.hold(ctx, shared.json), b.holdLarge(ctx), b.holdLarge(ctx))
	}
	var group errgroup.Group
	for range 20 {
		b := newTestBody(t, strings.NewReader(""), 0, shared)
		group.Go(func() error {
			err := everything(t.Context(), b)
			b.release()
			b.release()
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	for name, places := range map[string]struct {
		pool *semaphore.Weighted
		all  int64
	}{"uploads": {shared.uploads, uploadPlaces}, "results": {shared.results, resultPlaces}, "json": {shared.json, jsonPlaces}, "large": {shared.large, 1}} {
		if !places.pool.TryAcquire(places.all) {
			t.Errorf("not all places for %s were given back", name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := newTestBody(t, strings.NewReader(""), 0, shared)
	if err := everything(ctx, b); !errors.Is(err, context.Canceled) || b.large || len(b.places) > 0 {
		t.Errorf("got error %v and %d places where all are taken, want to wait", err, len(b.places))
	}
}

// TestBodyError_OursIsNoInvalidRequest has a fetched file that can't be read.
func TestBodyError_OursIsNoInvalidRequest(t *testing.T) {
	t.Parallel()
	broken := errors.New("read /secret/spool: input/output error")
	b := newTestBody(t, strings.NewReader(""), 1<<20, newBudget())
	b.fetched, b.raw = true, diskReader{iotest.ErrReader(broken)}
	_, err := b.Read(make([]byte, 1))
	for name, err := range map[string]error{"plain": bodyError(err), "decoded": bodyError(decodeError(err))} {
		if p, known := problemOf(err); known || p.Status != 500 || !errors.Is(err, broken) {
			t.Errorf("%s: %+v, known: %t, of %v, want a fault of our own", name, p, known, err)
		}
	}
}
