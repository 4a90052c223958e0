package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Processor time tells more than the clock where others share the machine.

// clockTick is the unit of times in /proc/PID/stat (proc(5)).
const clockTick = 10 * time.Millisecond

// The fields of /proc/PID/stat behind the name, from 0.
const (
	fieldParent      = 1
	fieldUser        = 11 // then those of the system, and both of ended children
	fieldSystem      = 12
	fieldEndedSystem = 14
)

// OwnTime is the processor time that this process has taken so far.
func OwnTime() (time.Duration, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, err
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), nil
}

// ProcessTime is the processor time that a process has taken so far, in steps of
// 10 ms; the error is [os.ErrNotExist] if it has ended.
func ProcessTime(pid int) (time.Duration, error) {
	s, err := readStat(strconv.Itoa(pid))
	if err != nil {
		return 0, err
	}
	return s.took(fieldSystem)
}

// FamilyTime is what a process, its children, and those of its children that have
// ended have taken so far.
func FamilyTime(pid int) (took time.Duration, err error) {
	family := strconv.Itoa(pid)
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		s, err := readStat(filepath.Base(name))
		if err != nil {
			continue // it has ended
		}
		last := fieldSystem
		switch {
		case filepath.Base(name) == family:
			last = fieldEndedSystem
		case s[fieldParent] != family:
			continue
		}
		some, err := s.took(last)
		if err != nil {
			return 0, err
		}
		took += some
	}
	return took, nil
}

// ServerTime is what the PostgreSQL server that q is connected to has taken with all
// its connections.
func ServerTime(ctx context.Context, q interface {
	QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row
},
) (time.Duration, error) {
	var file string
	if err := q.QueryRow(ctx, "SELECT pg_read_file('postmaster.pid')").Scan(&file); err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(file, "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		return 0, err
	}
	return FamilyTime(pid)
}

// stat are the fields of /proc/PID/stat behind the name.
type stat []string

func readStat(pid string) (stat, error) {
	content, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return nil, err
	}
	_, rest, _ := strings.Cut(string(content), ") ") // the name may hold anything
	if s := stat(strings.Fields(rest)); len(s) > fieldEndedSystem {
		return s, nil
	}
	return nil, errors.New("the system doesn't tell how much time a process has taken")
}

// took sums the times up to the last field.
func (s stat) took(last int) (took time.Duration, err error) {
	for _, field := range s[fieldUser : last+1] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("processor time of a process: %w", err)
		}
		took += time.Duration(ticks) * clockTick
	}
	return took, nil
}
