//go:build linux

package fault_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seqlease/seqlease/internal/fault"
	"github.com/seqlease/seqlease/internal/fault/evidence"
)

// largeBytes is more than the sockets of a connection hold on a usual system
// (tcp(7), tcp_wmem), and stalledBytes what a slow reader proves to have left there.
const (
	largeBytes   = 10 << 20
	stalledBytes = 8 << 20
)

// longestSilence is how long a server may accept no result while somebody reads
// slowly or leaves a transaction idle. Who waits for them waits longer.
const longestSilence = 4.0

// 64 workers are attached while the database restarts, 64 clients read slowly,
// and sessions are leaked, with one connection to the database in one server and
// two in the other (L12, L13, B040, B041).
func TestFault_PostgresConnections(t *testing.T) {
	t.Parallel()
	const processes, workers, servers = 4, 64, 2
	report := run(t, fault.Options{
		Store: fault.Postgres, Servers: servers, PoolSizes: []int{1, 2}, Workers: processes, PerProcess: workers / processes,
		Pace: 10 * time.Millisecond, Backlog: 1000, NoteBytes: 2 << 10, LargeBytes: largeBytes, Attached: workers,
	}, fault.Plan{Steps: [][]fault.Kind{
		{fault.SlowReaders},
		{fault.IdleTransaction},
		{fault.SlowReaders, fault.IdleTransaction, fault.DatabaseRestarted},
		{fault.DatabaseKilled, fault.SessionsCut},
	}})
	readers := first(t, report, fault.SlowReaders)
	if readers.Bytes < stalledBytes {
		t.Errorf("a slow reader got %d bytes once it read on, want at least %d: the server had nothing to wait for", readers.Bytes, stalledBytes)
	}
	wantProgress(t, report, readers, servers)
	wantProgress(t, report, first(t, report, fault.IdleTransaction), servers)
	restart := first(t, report, fault.DatabaseRestarted)
	if n := attached(report.Lines, restart.Span); n != workers {
		t.Errorf("%d workers were attached at the restart, want %d", n, workers)
	}
}

// first returns the first spell of the kind, which its test lets happen alone.
func first(t *testing.T, report *fault.Report, kind fault.Kind) fault.Spell {
	t.Helper()
	i := slices.IndexFunc(report.Spells, func(s fault.Spell) bool { return s.Kind == kind })
	if i < 0 {
		t.Fatalf("%q did not happen", kind)
	}
	return report.Spells[i]
}

// wantProgress: while the spell lasts, entries are handed out, and every server
// accepts results without a long silence. (On a slow machine all workers of one
// server may be at their results all the time.)
func wantProgress(t *testing.T, report *fault.Report, spell fault.Spell, servers int) {
	t.Helper()
	allClaims := 0
	for server := range servers {
		claims, times := 0, []float64{spell.From, spell.Until}
		for i := range report.Lines {
			l := &report.Lines[i]
			var place int
			if _, err := fmt.Sscanf(l.Worker, "worker-%d-", &place); err != nil {
				t.Fatalf("%q names no place", l.Worker)
			}
			if place%servers != server || l.Sent < spell.From || l.Got > spell.Until {
				continue
			}
			switch {
			case l.Accepted():
				times = append(times, l.Got)
			case l.Call == evidence.CallClaim && len(l.Entries) > 0:
				claims++
			}
		}
		slices.Sort(times)
		silence := 0.0
		for i := range times[1:] {
			silence = max(silence, times[i+1]-times[i])
		}
		t.Logf("%s for %.1f s: server %d served %d claims and %d submissions, at most %.1f s apart",
			spell.Kind, spell.Until-spell.From, server, claims, len(times)-2, silence)
		if silence > longestSilence {
			t.Errorf("%s: server %d accepted nothing for %.1f s, want at most %.1f s", spell.Kind, server, silence, longestSilence)
		}
		allClaims += claims
	}
	if allClaims == 0 {
		t.Errorf("%s: no claim got entries", spell.Kind)
	}
}

// attached counts the workers that had claimed entries before the span and called
// again after it, from the same process.
func attached(lines []evidence.Line, span evidence.Span) int {
	before, after := map[string]bool{}, map[string]bool{}
	for i := range lines {
		l := &lines[i]
		before[l.Worker] = before[l.Worker] || l.Call == evidence.CallClaim && l.Status/100 == 2 && l.Got < span.From
		after[l.Worker] = after[l.Worker] || l.Sent > span.Until
	}
	n := 0
	for worker := range before {
		if before[worker] && after[worker] {
			n++
		}
	}
	return n
}
