package measure

import (
	"bufio"
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// Machine says what the bench ran on, and what.
func Machine(postgres, commit string) string {
	return fmt.Sprintf("%s, %d cores, %s of memory, %s, %s/%s, PostgreSQL %s; commit %s",
		fact("/proc/cpuinfo", "model name"), runtime.NumCPU(), fact("/proc/meminfo", "MemTotal"), runtime.Version(), runtime.GOOS, runtime.GOARCH, postgres, commit)
}

// Commit is the one that a program was built from, with "+changes" if files differed
// from it: what the build noted, or where it didn't, as in a linked worktree, what git
// says of the sources in dir. It is "unknown" where neither knows. The bench asks for the
// server: what `go run` builds has no such note.
func Commit(ctx context.Context, program, dir string) string {
	if info, err := buildinfo.ReadFile(program); err == nil {
		settings := map[string]string{}
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		if commit := settings["vcs.revision"]; commit != "" {
			return withChanges(commit, settings["vcs.modified"] == "true")
		}
	}
	commit, err := exec.CommandContext(ctx, "git", "-C", dir, "rev-parse", "HEAD").Output() //nolint:gosec // the directory of the sources
	if err != nil {
		return unknownFact
	}
	status, err := exec.CommandContext(ctx, "git", "-C", dir, "status", "--porcelain").Output() //nolint:gosec // as above
	return withChanges(strings.TrimSpace(string(commit)), err != nil || len(status) > 0)
}

func withChanges(commit string, changed bool) string {
	if changed {
		return commit + "+changes"
	}
	return commit
}

const unknownFact = "unknown"

// fact is the first value of the key in a file of proc(5).
func fact(path, key string) string {
	f, err := os.Open(path)
	if err != nil {
		return unknownFact
	}
	defer func() { _ = f.Close() }() // it was only read
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, found := strings.Cut(lines.Text(), ":"); found && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return unknownFact
}
