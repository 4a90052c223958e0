package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/seqlease/seqlease/internal/pgcluster"
)

// TestServe_WaitsForPostgreSQL starts the server before its database, as after a
// power cut.
func TestServe_WaitsForPostgreSQL(t *testing.T) {
	t.Parallel()
	// It crashes right after the migration, which must not be lost.
	cluster, err := pgcluster.Start(t.Context(), pgcluster.Options{Durable: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	database, err := cluster.NewDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := command(t, "migrate", "up", "--store", database); code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	outage, err := cluster.Crash()
	if errors.Is(err, pgcluster.ErrNotOurs) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var log output
	config := minimalConfig(t)
	waits, code := make(chan struct{}), make(chan int)
	stderr := writerFunc(func(p []byte) (int, error) {
		switch text := string(p); {
		case strings.Contains(text, "waiting for the database"):
			close(waits) // a second time is a panic: it is logged once
		case strings.Contains(text, "msg=serving"):
			stop()
		}
		return log.Write(p)
	})
	go func() {
		code <- run(ctx, []string{"serve", "--config", config, "--store", database, "--listen", "127.0.0.1:0"}, strings.NewReader(""), io.Discard, stderr)
	}()
	select {
	case <-waits:
		if err := outage.End(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := <-code; got != exitDone || !strings.Contains(log.String(), "msg=serving") {
			t.Errorf("exit code %d: %s", got, &log)
		}
	case got := <-code:
		t.Errorf("exit code %d without a wait: %s", got, &log)
	}
}
