package postgres_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seqlease/seqlease/internal/postgres"
)

// clockTick is the unit of /proc/PID/stat; it is the same on every Linux.
const clockTick = 10 * time.Millisecond

// postmasterOf returns the process id of the server.
func postmasterOf(b *testing.B, s *postgres.Store) int {
	b.Helper()
	var file string
	if err := s.Pool().QueryRow(b.Context(), "SELECT pg_read_file('postmaster.pid')").Scan(&file); err != nil {
		b.Fatal(err)
	}
	first, _, _ := strings.Cut(file, "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		b.Fatal(err)
	}
	return pid
}

// serverCPU is the CPU time of a server and its processes; of those that have ended
// it counts whole ticks.
func serverCPU(postmaster int) time.Duration {
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is constant
	var total time.Duration
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // it ended
		}
		fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
		own := filepath.Base(filepath.Dir(name)) == strconv.Itoa(postmaster)
		if !own && fields[1] != strconv.Itoa(postmaster) {
			continue
		}
		if own { // user and system time of its children that have ended
			total += time.Duration(number(fields[13])+number(fields[14])) * clockTick
		}
		if exact, err := os.ReadFile(filepath.Join(filepath.Dir(name), "schedstat")); err == nil {
			total += time.Duration(number(strings.Fields(string(exact))[0]))
		}
	}
	return total
}

// number reads what the kernel wrote.
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// clientCPU is the CPU time of this process.
func clientCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
