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

// TestExample_PythonClient runs the commands of examples/python-client/README.md as
// they stand there, with another port and another place for the program and its store:
// a real server, a real pipeline and a real submitter.
func TestExample_PythonClient(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Fatal("python3 is missing; on Debian or Ubuntu: apt-get install python3 (scripts/test does so)")
	}
	readme, err := os.ReadFile("../../examples/python-client/README.md")
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for _, block := range regexp.MustCompile("(?s)```sh example\n(.*?)```").FindAllStringSubmatch(string(readme), -1) {
		script.WriteString(block[1])
	}
	dir, address := t.TempDir(), freeAddress(t)
	for _, command := range []string{"bin/seqlease serve --dev", "pipeline.py", "walkthrough.py", "127.0.0.1:8079"} {
		if !strings.Contains(script.String(), command) {
			t.Fatalf("the README should say %q:\n%s", command, &script)
		}
	}
	text := strings.NewReplacer(
		"127.0.0.1:8079", address, "bin/seqlease", filepath.Join(dir, "seqlease"), "sqlite:python-client.db", "sqlite:"+filepath.Join(dir, "x.db"),
	).Replace(script.String())

	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	bash := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", text+"\nkill %1 %2; wait || true\n")
	bash.Dir = filepath.Join("..", "..")
	bash.Env = append(os.Environ(), "SEQLEASE_LISTEN="+address, "SEQLEASE_SERVER=http://"+address, "PYTHONDONTWRITEBYTECODE=1")
	stdout, stderr := runScript(t, bash, "the example failed")
	for _, want := range []string{
		"group 1: Moss lab\n", "submitted: 3 entries\n", "processed: 3 entries, 1 with errors\n", "error: the genome has 14 bases, not 18\n",
		"edited: 0 with errors\n", "approved: 3 entries\n", "released: 3 records\n", "asked again with the tag: nothing new\n",
		"after a revision and a revocation: 5 records\n",
		".1  pond1  REVISED  revocation: False\n", ".2  pond1  LATEST_VERSION  revocation: False\n",
		".1  pond2  REVOKED  revocation: False\n", ".2  pond2  LATEST_VERSION  revocation: True\n",
		".1  pond3  LATEST_VERSION  revocation: False\n",
	} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("the example should print %q; it printed:\n%s\nstderr:\n%s", want, stdout, stderr)
		}
	}
	if strings.Contains(stderr.String(), "results refused") {
		t.Errorf("the pipeline's results were refused:\n%s", stderr)
	}
}
