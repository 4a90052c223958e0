package httpapi

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"golang.org/x/sync/semaphore"
)

// wantAll checks that nobody holds any of the places.
func wantAll(t *testing.T, name string, places *semaphore.Weighted, n int64) {
	t.Helper()
	if !places.TryAcquire(n) {
		t.Errorf("%s: not all %d are free", name, n)
		return
	}
	places.Release(n)
}

// readerFunc is a client.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestStream_L12_WaitsForTheClientWithNoTurn(t *testing.T) {
	t.Parallel()
	shared := newBudget()
	reads := 0
	b := newTestBody(t, readerFunc(func(p []byte) (int, error) {
		reads++
		wantAll(t, "turns while the client is waited for", shared.turns, turns())
		return copy(p, "line\n"), nil
	}), 1<<20, shared)
	if !b.stream() {
		t.Fatal("the first body isn't streamed")
	}
	for range 3 {
		if _, err := (streamedBody{b}).Read(make([]byte, 64)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := b.work(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if shared.turns.TryAcquire(turns()) {
			t.Error("work is done without a turn")
		}
	}
	if reads != 3 || b.dir.Used() > 0 {
		t.Errorf("%d reads, %d bytes on disk, want 3 and none", reads, b.dir.Used())
	}
	wantAll(t, "places of settled bodies", shared.results, resultPlaces)
	b.release()
	wantAll(t, "turns", shared.turns, turns())
	wantAll(t, "streams", shared.streams, streamPlaces)
}

func TestStream_SettlesInTheMiddle(t *testing.T) {
	t.Parallel()
	shared := newBudget()
	content := strings.Repeat("0123456789", 10_000)
	b := newTestBody(t, strings.NewReader(content), 1<<20, shared)
	if !b.stream() {
		t.Fatal("the first body isn't streamed")
	}
	begin := make([]byte, 12_345)
	if _, err := io.ReadFull(streamedBody{b}, begin); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.work(t.Context()), b.settle(t.Context()), b.settle(t.Context()), b.work(t.Context())); err != nil {
		t.Fatal(err)
	}
	wantAll(t, "turns", shared.turns, turns())
	wantAll(t, "streams", shared.streams, streamPlaces)
	if !shared.results.TryAcquire(resultPlaces-1) || shared.results.TryAcquire(1) {
		t.Error("a settled body holds no place, or more than one")
	}
	rest, err := io.ReadAll(streamedBody{b})
	if err != nil || string(begin)+string(rest) != content || b.dir.Used() != int64(len(rest)) {
		t.Errorf("got %d and %d bytes, %d of them from disk, error %v", len(begin), len(rest), b.dir.Used(), err)
	}
}

func TestStream_EndsWithTheRequest(t *testing.T) {
	t.Parallel()
	shared := newBudget()
	if !shared.turns.TryAcquire(turns()) {
		t.Fatal("turns are taken")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := newTestBody(t, strings.NewReader("x"), 1<<20, shared)
	if !b.stream() {
		t.Fatal("the first body isn't streamed")
	}
	if err := b.work(ctx); !errors.Is(err, context.Canceled) || b.working {
		t.Errorf("got error %v, want to wait for a turn until the request ends", err)
	}
	b.release()
	wantAll(t, "streams", shared.streams, streamPlaces)
}

func TestStream_IsForSomePlainBodies(t *testing.T) {
	t.Parallel()
	shared := newBudget()
	var last *requestBody
	for range streamPlaces {
		if last = newTestBody(t, strings.NewReader(""), 0, shared); !last.stream() {
			t.Fatal("a body isn't streamed though there is a place")
		}
	}
	further := newTestBody(t, strings.NewReader(""), 0, shared)
	if further.stream() {
		t.Errorf("more than %d bodies are streamed at once", streamPlaces)
	}
	last.release()
	last.release()
	packed := newTestBody(t, strings.NewReader(""), 0, shared)
	packed.open = func(raw io.Reader) (io.Reader, func(), error) { return raw, nil, nil }
	if packed.stream() {
		t.Error("a body is streamed that takes memory to decompress")
	}
	if !further.stream() {
		t.Error("a place that was given back isn't used")
	}
}

// TestStream_WaitingForATurnIsNoFaultOfTheClient has a client that owes the rest of a
// piece of its body, for which its time runs.
func TestStream_WaitingForATurnIsNoFaultOfTheClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shared := newBudget()
		client := &patientBody{owed: progressBytes}
		b := newTestBody(t, strings.NewReader(""), 0, shared)
		b.source = client
		if !b.stream() || b.work(t.Context()) != nil || client.owed != progressBytes {
			t.Fatalf("owes %d bytes after a turn that was free, want %d", client.owed, progressBytes)
		}
		b.pause()
		if !shared.turns.TryAcquire(turns()) {
			t.Fatal("turns are taken")
		}
		worked := make(chan error, 1)
		go func() { worked <- b.work(t.Context()) }()
		synctest.Wait()
		shared.turns.Release(turns())
		if err := <-worked; err != nil || client.owed != 0 {
			t.Errorf("error %v, owes %d bytes, want that its time begins anew", err, client.owed)
		}
	})
}
