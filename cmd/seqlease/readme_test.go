package main

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// buildCommand is the one line of the quickstart that the test runs apart, as
// the script runs in a folder of its own.
const buildCommand = "mkdir -p fern && go build -o fern/seqlease ./cmd/seqlease && cd fern\n"

// TestREADMEQuickstart runs the quickstart as it stands in the README, with
// another port, and looks at what it prints.
func TestREADMEQuickstart(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for _, block := range regexp.MustCompile("(?s)```sh quickstart\n(.*?)```").FindAllStringSubmatch(string(readme), -1) {
		script.WriteString(block[1])
	}
	text, found := strings.CutPrefix(script.String(), buildCommand)
	if !found {
		t.Fatalf("the quickstart should begin with %q", buildCommand)
	}

	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	build := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(dir, "fern", "seqlease"), "./cmd/seqlease")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", buildCommand, err, out)
	}
	root, err := filepath.Abs(build.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "config"), filepath.Join(dir, "config")); err != nil {
		t.Fatal(err)
	}

	address := freeAddress(t)
	text = strings.ReplaceAll(text, "127.0.0.1:8079", address)
	bash := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", text+"\nkill %1; wait %1 || true\n")
	bash.Dir = filepath.Join(dir, "fern")
	bash.Env = append(os.Environ(), "SEQLEASE_LISTEN="+address)
	stdout, stderr := runScript(t, bash, "the quickstart failed")
	for _, gone := range []string{"fern.db-wal", "fern.db-shm"} {
		if _, err := os.Stat(filepath.Join(bash.Dir, gone)); err == nil {
			t.Errorf("%s is there after the server has stopped: the store isn't in one file", gone)
		}
	}
	for _, want := range []string{
		`"groupId":1`,
		`"submissionId":"pond1"`,
		`"processingAttemptId":"`,
		`"leaseSeconds":60`,
		`"status":"PROCESSED"`,
		`"PROCESSED":2`,
		`"versionStatus":"LATEST_VERSION"`,
		`"collectedOn":"2026-03-05"`,
		`"alignedNucleotideSequences":{"main":"ATGGCTTGTAAAGGTTAA"}`,
	} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("the quickstart should print %s; it printed:\n%s\nstderr:\n%s", want, stdout, stderr)
		}
	}
}

// freeAddress returns a loopback address that nobody listened on a moment ago.
func freeAddress(t *testing.T) string {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}
