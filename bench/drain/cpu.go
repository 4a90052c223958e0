package drain

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// clockTick is the unit of times in /proc/PID/stat (proc(5)).
const clockTick = 10 * time.Millisecond

// The fields of /proc/PID/stat behind the name, from 0.
const (
	fieldParent      = 1
	fieldUser        = 11 // then those of the system, and both of ended children
	fieldSystem      = 12
	fieldEndedSystem = 14
)

// processorTime is what the server with all its connections and this process have
// taken so far. It tells more than the clock where others share the machine. Known
// is false where the system doesn't tell it.
func (d database) processorTime(ctx context.Context) (took time.Duration, known bool, err error) {
	var file string
	if err := d.pool.QueryRow(ctx, statement("server_process")).Scan(&file); err != nil {
		return 0, false, err
	}
	server, _, _ := strings.Cut(file, "\n")
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return 0, false, err
	}
	took = time.Duration(own.Utime.Nano() + own.Stime.Nano())
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, false, err
	}
	for _, name := range files {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest)
		last := fieldSystem
		switch pid := filepath.Base(filepath.Dir(name)); {
		case len(fields) <= fieldEndedSystem:
			continue
		case pid == server:
			last, known = fieldEndedSystem, true
		case fields[fieldParent] != server:
			continue
		}
		for _, field := range fields[fieldUser : last+1] {
			ticks, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return 0, false, err
			}
			took += time.Duration(ticks) * clockTick
		}
	}
	return took, known, nil
}
