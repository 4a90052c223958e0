package httpapi

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// patientPair are the two ends of a connection that buffers little.
func patientPair(t *testing.T) (server, client net.Conn) {
	t.Helper()
	raw, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := Patient(raw)
	defer func() { _ = l.Close() }()
	if client, err = (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = server.Close(), client.Close() })
	if err := errors.Join(server.(*patientConn).SetWriteBuffer(64<<10), client.(*net.TCPConn).SetReadBuffer(64<<10)); err != nil {
		t.Fatal(err)
	}
	return server, client
}

// readSlowly reads n bytes, some of them with each tick.
func readSlowly(ctx context.Context, from io.Reader, n int) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for piece := make([]byte, 16<<10); n > 0; n -= len(piece) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if _, err := io.ReadFull(from, piece[:min(n, len(piece))]); err != nil {
			return err
		}
	}
	return nil
}

// A write that takes several times as long as a client may be silent succeeds while the
// client takes something.
func TestPatient_ASlowReaderIsNotCut(t *testing.T) {
	t.Parallel()
	const size, stall = 4 << 20, 2 * time.Second
	server, client := patientPair(t)
	read := make(chan error, 1)
	go func() { read <- readSlowly(t.Context(), client, size) }()
	if err := server.SetWriteDeadline(time.Now().Add(stall)); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if n, err := server.Write(make([]byte, size)); n != size || err != nil {
		t.Fatalf("wrote %d bytes and got %v", n, err)
	}
	if took := time.Since(began); took < stall*3/2 {
		t.Errorf("it took %v only", took)
	}
	if err := <-read; err != nil {
		t.Error(err)
	}
}

func TestPatient_WhoTakesNothingIsCut(t *testing.T) {
	t.Parallel()
	const stall = 200 * time.Millisecond
	for name, deadline := range map[string]func(net.Conn) error{
		"write deadline": func(c net.Conn) error { return c.SetWriteDeadline(time.Now().Add(stall)) },
		"both deadlines": func(c net.Conn) error { return c.SetDeadline(time.Now().Add(stall)) },
		"passed":         func(c net.Conn) error { return c.SetWriteDeadline(time.Now().Add(-stall)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, _ := patientPair(t)
			if err := deadline(server); err != nil {
				t.Fatal(err)
			}
			if n, err := server.Write(make([]byte, 16<<20)); n == 16<<20 || !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("wrote %d bytes and got %v, want %v", n, err, os.ErrDeadlineExceeded)
			}
		})
	}
}

// Without a deadline a write waits for its client.
func TestPatient_NoDeadline(t *testing.T) {
	t.Parallel()
	server, client := patientPair(t)
	if err := errors.Join(server.SetWriteDeadline(time.Now().Add(-time.Second)), server.SetWriteDeadline(time.Time{})); err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() { read <- readSlowly(t.Context(), client, 1<<20) }()
	if n, err := server.Write(make([]byte, 1<<20)); n != 1<<20 || err != nil {
		t.Errorf("wrote %d bytes and got %v", n, err)
	}
	if err := <-read; err != nil {
		t.Error(err)
	}
}
