package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestOperatingCommands runs the commands of docs/operating.md in their order, with
// another port, and looks at what they print.
func TestOperatingCommands(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for _, block := range regexp.MustCompile("(?s)```sh operating\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		script.WriteString(block[1])
	}
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(dir, "bin", "seqlease"), "./cmd/seqlease")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for _, name := range []string{"config", "testdata"} {
		if err := os.Symlink(filepath.Join(root, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}

	address := freeAddress(t)
	text := strings.ReplaceAll(script.String(), "127.0.0.1:8079", address)
	bash := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", text+"\nkill %1; wait %1\n")
	bash.Dir = dir
	bash.Env = append(os.Environ(), "SEQLEASE_LISTEN="+address, "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	stdout, stderr := runScript(t, bash, "the commands failed")
	for _, want := range []string{"seqlease ", "  -\n", `{"status":"UP"}`, "  applied  ", `"statusCounts":{`, `"leases":[]`} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, stdout)
		}
	}
	for _, line := range []string{"msg=serving", "msg=request", "msg=stopping"} {
		if !strings.Contains(stderr.String(), line) {
			t.Errorf("the log lacks %q:\n%s", line, stderr)
		}
	}
}
