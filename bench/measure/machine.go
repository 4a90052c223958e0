package measure

import (
	"bufio"
	"debug/buildinfo"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Machine says what the bench ran on, and what.
func Machine(postgres, commit string) string {
	return fmt.Sprintf("%s, %d cores, %s of memory, %s, %s/%s, PostgreSQL %s; commit %s",
		fact("/proc/cpuinfo", "model name"), runtime.NumCPU(), fact("/proc/meminfo", "MemTotal"), runtime.Version(), runtime.GOOS, runtime.GOARCH, postgres, commit)
}

// Commit is the one that a program was built from, with "+changes" if files differed
// from it; "unknown" where the build didn't note it. The bench asks the server: what
// `go run` builds has no such note.
func Commit(program string) string {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return unknownFact
	}
	commit, changes := unknownFact, ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changes = "+changes"
		}
	}
	return commit + changes
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
