package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// asCommand makes the test binary behave as the command, so that tests can start
// it as a process of its own, and the demo its workers.
const asCommand = "SEQLEASE_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	forTests := len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "-test.") // as processes of a fuzz test are
	if os.Getenv(asCommand) != "" && !forTests {
		main()
	}
	if err := os.Setenv(asCommand, "1"); err != nil {
		panic(err)
	}
	for _, name := range []string{"SEQLEASE_SERVER", "SEQLEASE_TOKEN", "SEQLEASE_STORE", "SEQLEASE_LISTEN"} {
		if err := os.Unsetenv(name); err != nil { // what the developer has set is not what is tested
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// output is a buffer that may be written and read at once.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// command runs the command line in this process.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, talk output
	code = run(t.Context(), args, strings.NewReader(""), &out, &talk)
	return code, out.String(), talk.String()
}

func TestRun_ExitCodesAndWhereTheTextGoes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	valid := minimalConfig(t)
	invalid := write(t, dir, "invalid.yaml", "accessionPrefix: A_\n")
	for name, c := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string // parts of them
	}{
		"help":                  {[]string{"--help"}, exitDone, "Do the main job on real genomes", ""},
		"help of a command":     {[]string{"work", "--help"}, exitDone, "--pipeline-version", ""},
		"version":               {[]string{"version"}, exitDone, "seqlease ", ""},
		"version as a flag":     {[]string{"--version"}, exitDone, "seqlease ", ""},
		"no command":            {nil, exitUsage, "", "expected one of"},
		"unknown command":       {[]string{"swim"}, exitUsage, "", "swim"},
		"unknown flag":          {[]string{"serve", "--port", "1"}, exitUsage, "", "--port"},
		"missing flag":          {[]string{"serve"}, exitUsage, "", "--config"},
		"unknown pipeline":      {[]string{"work", "--config", valid, "--organism", "fern", "--pipeline-version", "1", "--pipeline", "swim"}, exitUsage, "", "align"},
		"unknown organism":      {[]string{"work", "--config", valid, "--organism", "moss", "--pipeline-version", "1", "--pipeline", "echo"}, exitUsage, "", "moss"},
		"odd lease":             {[]string{"work", "--config", valid, "--organism", "fern", "--pipeline-version", "1", "--pipeline", "echo", "--lease", "5s"}, exitUsage, "", "--lease"},
		"odd server":            {[]string{"work", "--config", valid, "--organism", "fern", "--pipeline-version", "1", "--pipeline", "echo", "--server", "here"}, exitUsage, "", "--server"},
		"odd store":             {[]string{"serve", "--config", valid, "--store", "here"}, exitUsage, "", "sqlite:FILE"},
		"odd store of a demo":   {[]string{"demo", "--store", "mysql://user:hunter2@host/x"}, exitUsage, "", "postgres://"},
		"too few workers":       {[]string{"demo", "--workers", "2"}, exitUsage, "", "--workers"},
		"faulty configuration":  {[]string{"serve", "--config", invalid}, exitFailed, "", "organisms is missing"},
		"no configuration file": {[]string{"serve", "--config", filepath.Join(dir, "none")}, exitFailed, "", "none"},
		"unreachable store":     {[]string{"migrate", "up", "--store", "sqlite:" + filepath.Join(dir, "no", "such", "dir", "x.db")}, exitFailed, "", "x.db"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := command(t, c.args...)
			if code != c.code {
				t.Errorf("exit code %d, want %d; stderr: %s", code, c.code, stderr)
			}
			if !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) {
				t.Errorf("stdout %q\nstderr %q", stdout, stderr)
			}
			if c.code != exitDone && stdout != "" {
				t.Errorf("a failure wrote to stdout: %q", stdout)
			}
			if strings.Contains(stderr, "hunter2") {
				t.Errorf("a password was shown: %q", stderr)
			}
		})
	}
}

func TestVersionOf_NamesTheCommitIfKnown(t *testing.T) {
	t.Parallel()
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "d78db70"}
	changed := []debug.BuildSetting{commit, {Key: "vcs.modified", Value: "true"}}
	for want, info := range map[string]*debug.BuildInfo{
		"development build, go1": {Main: debug.Module{Version: "(devel)"}},
		"v1.2.3, go1":            {Main: debug.Module{Version: "v1.2.3"}},
		"development build, commit d78db70 with changes, go1": {Settings: changed},
		"v1.2.3, commit d78db70, go1":                         {Main: debug.Module{Version: "v1.2.3"}, Settings: changed[:1]},
	} {
		info.GoVersion = "go1"
		if got := versionOf(info); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestMigrate_BringsSQLiteUpAndSaysSo(t *testing.T) {
	t.Parallel()
	store := "sqlite:" + filepath.Join(t.TempDir(), "x.db")
	status := func() string {
		t.Helper()
		code, stdout, stderr := command(t, "migrate", "status", "--store", store)
		if code != exitDone || stdout == "" {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		return stdout
	}
	if got := status(); strings.Contains(got, "applied") || !strings.Contains(got, "pending") {
		t.Errorf("status of a new store:\n%s", got)
	}
	code, _, stderr := command(t, "migrate", "up", "--store", store)
	if code != exitDone || !strings.Contains(stderr, "the schema of the sqlite store is current") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if got := status(); !strings.Contains(got, "applied") || strings.Contains(got, "pending") {
		t.Errorf("status after the migration:\n%s", got)
	}
	code, _, stderr = command(t, "migrate", "up", "--store", store)
	if code != exitDone || !strings.Contains(stderr, "seqlease: 0 migrations applied") {
		t.Errorf("a second time: exit code %d: %s", code, stderr)
	}
}

func TestMigrateStatus_JSONHasItsFields(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := command(t, "migrate", "status", "--json", "--store", "sqlite:"+filepath.Join(t.TempDir(), "x.db"))
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	first, _, _ := strings.Cut(stdout, "}")
	var fields []string
	for line := range strings.Lines(first) {
		if name, _, found := strings.Cut(strings.TrimSpace(line), ":"); found {
			fields = append(fields, name)
		}
	}
	if diff := cmp.Diff([]string{`"version"`, `"name"`, `"applied"`}, fields); diff != "" {
		t.Errorf("fields (-want +got):\n%s\n%s", diff, stdout)
	}
}

func TestHelp_TheExampleOfEveryCommandIsRight(t *testing.T) {
	t.Parallel()
	var parsed commandLine
	for _, leaf := range newParser(&parsed, io.Discard, io.Discard).Model.Leaves(true) {
		name := strings.TrimPrefix(leaf.FullPath(), "seqlease ")
		_, example, found := strings.Cut(leaf.Help, "Example: seqlease ")
		if !found {
			if name != "version" {
				t.Errorf("%s shows no example", name)
			}
			continue
		}
		var stderr output
		if got, _, _ := parse(strings.Fields(example), io.Discard, &stderr); got != name {
			t.Errorf("the example of %s is understood as %q: %s", name, got, stderr.String())
		}
	}
}
