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

// processorTime tells more than the clock where others share the machine.
type processorTime struct {
	server time.Duration // with all its connections; 0 where the system doesn't tell it
	client time.Duration // of this process
}

func (t processorTime) since(before processorTime) processorTime {
	return processorTime{t.server - before.server, t.client - before.client}
}

// processorTime is what was taken so far.
func (d database) processorTime(ctx context.Context) (t processorTime, err error) {
	var file string
	if err := d.pool.QueryRow(ctx, statement("server_process")).Scan(&file); err != nil {
		return t, err
	}
	server, _, _ := strings.Cut(file, "\n")
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return t, err
	}
	t.client = time.Duration(own.Utime.Nano() + own.Stime.Nano())
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return t, err
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
			last = fieldEndedSystem
		case fields[fieldParent] != server:
			continue
		}
		for _, field := range fields[fieldUser : last+1] {
			ticks, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return t, err
			}
			t.server += time.Duration(ticks) * clockTick
		}
	}
	return t, nil
}
