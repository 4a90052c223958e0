package wire

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
)

// Waits are how long claims took from the request to the last byte of the answer.
type Waits struct {
	Claims       int
	Longest, P99 time.Duration
	// Stored are the entries whose results were accepted.
	Stored int
}

// waitsBatch is how many entries a claim asks for whose wait is measured.
const waitsBatch = 10

// Waits lets one worker claim and submit, one batch after the other, until done is
// closed, and measures its claims.
func (s *Site) Waits(ctx context.Context, replies Replies, done <-chan struct{}) (w Waits, err error) {
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	worker := newReplayer(s, 0, replies, transport)
	stored := map[int]bool{}
	var took []time.Duration
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		began := time.Now()
		batch, err := worker.claim(ctx, waitsBatch, 0)
		if err != nil {
			return w, err
		}
		took = append(took, time.Since(began))
		if len(batch) == 0 {
			continue
		}
		refused, err := worker.submit(ctx, batch)
		if err != nil || refused > 0 {
			return w, fmt.Errorf("%d results refused: %w", refused, err)
		}
		for _, e := range batch {
			if stored[e.number] {
				return w, fmt.Errorf("%s, entry %d, was accepted twice", e.accession, e.number)
			}
			stored[e.number] = true
		}
	}
	slices.Sort(took)
	return Waits{Claims: len(took), Longest: took[len(took)-1], P99: took[len(took)*99/100], Stored: len(stored)}, nil
}

// Holds checks how many entries the server has, and how many of them are processed.
func (s *Site) Holds(ctx context.Context, entries, processed int) error {
	listing, err := s.Submitter.ListEntries(ctx, s.Organism.Key, client.ListFilter{Size: 1})
	if err != nil {
		return err
	}
	sum := int64(0)
	for _, n := range listing.StatusCounts {
		sum += n
	}
	if got := listing.StatusCounts[seqlease.Processed]; sum != int64(entries) || got != int64(processed) {
		return fmt.Errorf("the server has %d entries, %d of them processed: want %d and %d", sum, got, entries, processed)
	}
	return nil
}
