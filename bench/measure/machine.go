package measure

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Machine says what the bench ran on.
func Machine(postgres string) string {
	return fmt.Sprintf("%s, %d cores, %s of memory, %s, %s/%s, PostgreSQL %s",
		fact("/proc/cpuinfo", "model name"), runtime.NumCPU(), fact("/proc/meminfo", "MemTotal"), runtime.Version(), runtime.GOOS, runtime.GOARCH, postgres)
}

// fact is the first value of the key in a file of proc(5).
func fact(path, key string) string {
	f, err := os.Open(path)
	if err != nil {
		return "unknown"
	}
	defer func() { _ = f.Close() }() // it was only read
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, found := strings.Cut(lines.Text(), ":"); found && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}
