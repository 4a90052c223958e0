package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/pgcluster"
	"github.com/seqlease/seqlease/internal/postgres"
)

// waitLog counts the lines of a log and calls first at the first one.
type waitLog struct {
	mu    sync.Mutex
	text  bytes.Buffer
	first func()
}

func (w *waitLog) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.text.Len() == 0 {
		w.first()
	}
	return w.text.Write(p)
}

func (w *waitLog) wantOneLine(t *testing.T, part string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if text := w.text.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "waiting for the database") || !strings.Contains(text, part) {
		t.Errorf("logged %q, want one line that says %q", text, part)
	}
}

func TestOpen_WaitsForAServerThatDoesNotListenYet(t *testing.T) {
	t.Parallel()
	c, address := newCluster(t)
	outage, err := c.Crash()
	if errors.Is(err, pgcluster.ErrNotOurs) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	waits := make(chan struct{})
	log := &waitLog{first: func() { close(waits) }}
	opened := later(func() error {
		s, err := postgres.Open(context.Background(), postgres.Options{
			Address: address, WaitFor: time.Minute, Logger: slog.New(slog.NewTextHandler(log, nil)),
		})
		if err != nil {
			return err
		}
		return s.Close()
	})
	<-waits
	if err := outage.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Error(err)
	}
	log.wantOneLine(t, "no server listens")
}

// starting is a server that starts up, and refuses the password when it has.
func starting(t *testing.T, refusals int) (address string) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() }) // ends the loop
	go func() {
		for n := 0; ; n++ {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			refusal := &pgproto3.ErrorResponse{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: "57P03", Message: "the database system is starting up"}
			if n >= refusals {
				refusal.Code, refusal.Message = "28P01", "wrong"
			}
			server := pgproto3.NewBackend(c, c)
			if _, err := server.ReceiveStartupMessage(); err == nil {
				server.Send(refusal)
				_ = server.Flush() // the client may have left
			}
			_ = c.Close()
		}
	}()
	return "postgres://anna:x@" + listener.Addr().String() + "/x?sslmode=disable"
}

// What doesn't pass by itself is told at once, also after a wait for what does.
func TestOpen_WaitsWhileTheServerStartsUp(t *testing.T) {
	t.Parallel()
	log := &waitLog{first: func() {}}
	_, err := postgres.Open(soon(t), postgres.Options{
		Address: starting(t, 2), WaitFor: time.Hour, Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
	if err == nil || !strings.Contains(err.Error(), "refuses the user's password") {
		t.Errorf("got %v, want the refusal that came after the start", err)
	}
	log.wantOneLine(t, "57P03")
}

func TestOpen_WaitsNoLongerThanItWasTold(t *testing.T) {
	t.Parallel()
	_, err := postgres.Open(t.Context(), postgres.Options{Address: "postgres://anna@127.0.0.1:1/x", WaitFor: 300 * time.Millisecond})
	if !errors.Is(err, seqlease.ErrBusy) || !strings.Contains(err.Error(), "waited 300ms: the database can't be reached: no server listens") {
		t.Errorf("got %v, want how long it waited and why", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	log := &waitLog{first: cancel}
	_, err = postgres.Open(ctx, postgres.Options{
		Address: starting(t, 1e9), WaitFor: time.Hour, Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "57P03") {
		t.Errorf("got %v, want that nobody waits any more and what for", err)
	}
}
