//go:build unix

package sqlite

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
)

// BenchmarkDrainToFloor drains a queue by claims of 100 whose work is instant,
// and stores the same bodies by nothing but SQLite itself, in turns: entries/s of
// both, and their ratio, which is what counts; and the processor time of each,
// which others on the machine disturb less.
func BenchmarkDrainToFloor(b *testing.B) {
	const entries = 20_000
	for _, synchronous := range []string{"FULL", "NORMAL"} {
		for _, size := range []int{200, 1000} {
			for _, workers := range []int{16, 64} {
				b.Run(fmt.Sprintf("%s/%dB/%d", synchronous, size, workers), func(b *testing.B) {
					body := packedBody(size)
					var drain, floor, bare spent
					for b.Loop() {
						drain.add(timeDrain(b, synchronous, entries, workers, body))
						floor.add(timeFloor(b, synchronous, floorTable, entries, body))
						bare.add(timeFloor(b, synchronous, bareTable, entries, body))
					}
					all := float64(entries * b.N)
					b.ReportMetric(all/drain.wall.Seconds(), "drain/s")
					b.ReportMetric(all/floor.wall.Seconds(), "floor/s")
					b.ReportMetric(floor.wall.Seconds()/drain.wall.Seconds(), "drain/floor")
					b.ReportMetric(bare.wall.Seconds()/drain.wall.Seconds(), "drain/bare")
					b.ReportMetric(drain.processor.Seconds()*1e6/all, "drain-cpu-µs")
					b.ReportMetric(floor.processor.Seconds()*1e6/all, "floor-cpu-µs")
					b.ReportMetric(0, "ns/op")
				})
			}
		}
	}
}

// spent is what something took: by the clock on the wall, and of processors.
type spent struct{ wall, processor time.Duration }

func (s *spent) add(more spent) {
	s.wall += more.wall
	s.processor += more.processor
}

// meter returns what was spent from here on when it is called.
func meter(b *testing.B) func() spent {
	b.Helper()
	processor := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	wall, used := time.Now(), processor()
	return func() spent { return spent{time.Since(wall), processor() - used} }
}

// BenchmarkDrain is one drain of many entries, for profiles.
func BenchmarkDrain(b *testing.B) {
	const entries = 50_000
	var took spent
	for b.Loop() {
		took.add(timeDrain(b, "FULL", entries, 16, packedBody()))
	}
	b.ReportMetric(float64(entries*b.N)/took.wall.Seconds(), "entries/s")
}

func timeDrain(b *testing.B, synchronous string, entries, workers int, body seqlease.Packed) spent {
	b.Helper()
	s, u := benchStore(b, entries)
	if _, err := s.Submit(b.Context(), u); err != nil {
		b.Fatal(err)
	}
	if synchronous == "NORMAL" {
		s.writer.log.sync = func() error { return nil }
	}
	end := meter(b)
	drainAll(b, s, workers, body)
	return end()
}

func drainAll(b testing.TB, s *Store, workers int, body seqlease.Packed) {
	b.Helper()
	group, ctx := errgroup.WithContext(b.Context())
	for range workers {
		group.Go(func() error {
			for {
				lease, err := s.Claim(ctx, benchClaim(benchBatch))
				if err != nil || len(lease.Entries) == 0 {
					return err
				}
				if _, err := s.AcceptResults(ctx, benchResults(lease, body)); err != nil {
					return err
				}
			}
		})
	}
	if err := group.Wait(); err != nil {
		b.Fatal(err)
	}
}

// What the floor stores bodies in: by the key of the results, and as SQLite does
// it with the least effort.
const (
	floorTable = `CREATE TABLE result (pipeline_version INTEGER NOT NULL, entry_id INTEGER NOT NULL, body BLOB NOT NULL,
PRIMARY KEY (pipeline_version, entry_id)) STRICT`
	bareTable = "CREATE TABLE result (pipeline_version INTEGER NOT NULL, entry_id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT"
)

// timeFloor stores bodies, 100 per commit, by the same driver with the same
// settings, one statement prepared for all of them, and does nothing else.
func timeFloor(b *testing.B, synchronous, table string, entries int, body seqlease.Packed) spent {
	b.Helper()
	db, err := sql.Open("sqlite", writerDSN(filepath.Join(b.TempDir(), "floor.db")))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // the benchmark is over
	db.SetMaxOpenConns(1)
	mustExec(b, db, table)
	mustExec(b, db, "PRAGMA synchronous = "+synchronous)
	insert, err := db.PrepareContext(b.Context(), "INSERT INTO result (pipeline_version, entry_id, body) VALUES (?, ?, ?)"+
		strings.Repeat(", (?, ?, ?)", benchBatch-1))
	if err != nil {
		b.Fatal(err)
	}
	defer insert.Close() //nolint:errcheck // the benchmark is over
	rows := make([]any, 0, 3*benchBatch)
	end := meter(b)
	for id := 0; id < entries; id += benchBatch {
		rows = rows[:0]
		for i := range benchBatch {
			rows = append(rows, int64(1), int64(id+i), body.Bytes)
		}
		if _, err := insert.ExecContext(b.Context(), rows...); err != nil {
			b.Fatal(err)
		}
	}
	return end()
}
