package httpapi

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/sqlite"
)

func BenchmarkDecodeResult(b *testing.B) {
	for _, s := range sizes {
		b.Run(s.name, func(b *testing.B) {
			line := s.resultLine(b, coronavirus())
			var decoder lineDecoder
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := decoder.decode(1, line); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppendEntry(b *testing.B) {
	for _, s := range sizes {
		b.Run(s.name, func(b *testing.B) {
			lease, entry := claimed(s.submitted(b, coronavirus()))
			var line []byte
			var err error
			b.SetBytes(int64(len(entry.Data)))
			b.ReportAllocs()
			for b.Loop() {
				if line, err = appendEntry(line[:0], lease, entry); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkWay is all that is done to an entry between the store's compressed bytes
// and the socket, out and in, without HTTP and without storing anything: the floor
// of what a drain can cost. An operation is a batch of a hundred entries; MB/s count the bytes of both lines.
func BenchmarkWay(b *testing.B) {
	o := coronavirus()
	organisms, err := organism.NewCatalog(o)
	if err != nil {
		b.Fatal(err)
	}
	store, err := sqlite.Open(b.Context(), sqlite.Options{Path: filepath.Join(b.TempDir(), "x.db"), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	if err := store.Register(b.Context(), organisms.All()); err != nil {
		b.Fatal(err)
	}
	work := queue.New(store, organisms)
	for _, s := range sizes {
		b.Run(s.name, func(b *testing.B) {
			document, line := s.submitted(b, o), s.resultLine(b, o)
			packed, err := store.Pack(o.Key, document)
			if err != nil {
				b.Fatal(err)
			}
			lease, entry := claimed(document)
			entry.Packed = packed
			const batch = 100
			for range batch {
				entry.Place = len(lease.Entries)
				lease.Entries = append(lease.Entries, entry.ClaimedEntry)
			}
			b.SetBytes(batch * int64(len(document)+len(line)))
			b.ReportAllocs()
			var out []byte
			for b.Loop() {
				for entry, err := range work.Entries(b.Context(), lease, func(seqlease.AccessionVersion, error) {}) {
					if err == nil {
						out, err = appendEntry(out[:0], lease, entry)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
				takeInBatch(b.Context(), b, work, o.Key, line, batch)
			}
		})
	}
}

func takeInBatch(ctx context.Context, b *testing.B, work *queue.Queue, o Organism, line []byte, batch int) {
	b.Helper()
	acceptance, err := work.NewAcceptance(ctx, queue.AcceptanceRequest{Organism: o, PipelineVersion: 1, SubmittedBy: "pipe"})
	if err != nil {
		b.Fatal(err)
	}
	var decoder lineDecoder
	for i := range batch {
		decoded, err := decoder.decode(i+1, line)
		if err != nil {
			b.Fatal(err)
		}
		decoded.result.Version = seqlease.Version(i + 1) // not the same entry again
		if err := acceptance.Add(i+1, &decoded.result); err != nil {
			b.Fatal(err)
		}
	}
}
