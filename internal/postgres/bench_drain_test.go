package postgres_test

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease/internal/postgres"
)

// Drains are measured as the targets say: batches of 100, 64 claimers with instant
// work, 16 connections, a server that keeps its promises.
const (
	benchBatch       = 100
	benchClaimers    = 64
	benchConnections = 16
	// benchRounds is how often drain and floor take turns: what else the machine does
	// comes to both.
	benchRounds = 3
)

// cost is what a contender took for one round.
type cost struct {
	elapsed, server, client time.Duration // of which the last two are CPU time
	wal                     int64         // bytes
}

// BenchmarkDrainAndFloor drains b.N entries and copies as many results of the
// same size, by turns. An operation is one entry, drained once and copied once in
// each round. The medians of the rounds are compared.
func BenchmarkDrainAndFloor(b *testing.B) {
	for _, size := range []int{200, 1000, 6000} {
		b.Run(fmt.Sprintf("body=%d", size), func(b *testing.B) {
			s := durableStore(b)
			group := register(b, s)
			body := make([]byte, size)
			_, _ = rand.Read(body) // never fails
			var drains, floors []cost
			claims := 0
			b.ReportAllocs()
			b.StopTimer()
			for round := range benchRounds {
				if _, err := s.Pool().Exec(b.Context(), "CHECKPOINT"); err != nil { // the next one is far off
					b.Fatal(err)
				}
				submitN(b, s, group.GroupID, b.N)
				drained := measured(b, s, func() { claims += drain(b, s, b.N, body) })
				copied := measured(b, s, func() { copyFloor(b, s, round, b.N, body) })
				drains, floors = append(drains, drained), append(floors, copied)
			}
			perEntry := func(list []cost, of func(cost) int64) float64 {
				slices.SortFunc(list, func(a, b cost) int { return cmp.Compare(of(a), of(b)) })
				return float64(of(list[len(list)/2])) / float64(b.N)
			}
			elapsed := func(c cost) int64 { return int64(c.elapsed) }
			b.ReportMetric(1e9/perEntry(drains, elapsed), "drained/s")
			b.ReportMetric(1e9/perEntry(floors, elapsed), "copied/s")
			b.ReportMetric(perEntry(floors, elapsed)/perEntry(drains, elapsed), "of-floor")
			for name, of := range map[string]func(cost) int64{
				"server-ns": func(c cost) int64 { return int64(c.server) }, "client-ns": func(c cost) int64 { return int64(c.client) },
			} {
				b.ReportMetric(perEntry(drains, of), "drain-"+name)
				b.ReportMetric(perEntry(floors, of), "floor-"+name)
			}
			b.ReportMetric(perEntry(drains, func(c cost) int64 { return c.wal })-float64(size), "WAL-B/entry")
			b.ReportMetric(float64(claims)*benchBatch/float64(b.N*benchRounds), "claims/least")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// measured returns what f took.
func measured(b *testing.B, s *postgres.Store, f func()) cost {
	b.Helper()
	wal := func() (at int64) {
		if err := s.Pool().QueryRow(b.Context(), "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn").Scan(&at); err != nil {
			b.Fatal(err)
		}
		return at
	}
	postmaster := postmasterOf(b, s)
	before, server, client := wal(), serverCPU(postmaster), clientCPU()
	began := time.Now()
	b.StartTimer()
	f()
	b.StopTimer()
	return cost{
		elapsed: time.Since(began), server: serverCPU(postmaster) - server, client: clientCPU() - client, wal: wal() - before,
	}
}

// drain claims and answers until nothing waits, and returns the number of claims.
func drain(b *testing.B, s *postgres.Store, n int, body []byte) int {
	b.Helper()
	var claims, drained atomic.Int64
	var workers errgroup.Group
	for range benchClaimers {
		workers.Go(func() error {
			for {
				lease, err := s.Claim(b.Context(), askFor(benchBatch))
				if err != nil || len(lease.Entries) == 0 {
					return err
				}
				claims.Add(1)
				drained.Add(int64(len(lease.Entries)))
				if _, err := s.AcceptResults(b.Context(), answer(lease, body)); err != nil {
					return err
				}
			}
		})
	}
	if err := workers.Wait(); err != nil {
		b.Fatal(err)
	}
	if drained.Load() != int64(n) {
		b.Fatalf("drained %d entries of %d", drained.Load(), n)
	}
	return int(claims.Load())
}

// copyFloor copies results into a table that has nothing but them, 100 for each
// commit, over as many connections as the drain has.
func copyFloor(b *testing.B, s *postgres.Store, round, n int, body []byte) {
	b.Helper()
	table := fmt.Sprintf("floor_%d", round)
	_, err := s.Pool().Exec(b.Context(), "CREATE TABLE "+table+" (id bigint NOT NULL, body bytea NOT NULL) WITH (toast_tuple_target = 8160);"+
		"ALTER TABLE "+table+" ALTER COLUMN body SET STORAGE EXTERNAL")
	if err != nil {
		b.Fatal(err)
	}
	var next atomic.Int64
	var workers errgroup.Group
	for range benchConnections {
		workers.Go(func() error {
			for {
				from := next.Add(benchBatch) - benchBatch
				count := min(benchBatch, n-int(from))
				if count <= 0 {
					return nil
				}
				if err := copyBatch(b.Context(), s, table, from, count, body); err != nil {
					return err
				}
			}
		})
	}
	if err := workers.Wait(); err != nil {
		b.Fatal(err)
	}
}

func copyBatch(ctx context.Context, s *postgres.Store, table string, from int64, count int, body []byte) error {
	_, err := s.Pool().CopyFrom(ctx, pgx.Identifier{table}, []string{"id", "body"}, pgx.CopyFromSlice(count, func(i int) ([]any, error) {
		return []any{from + int64(i), body}, nil
	}))
	return err
}
