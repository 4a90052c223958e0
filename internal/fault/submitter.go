//go:build linux

package fault

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
	"github.com/seqlease/seqlease/internal/fault/evidence"
)

// submitter uploads entries while faults happen, and keeps the backlog at a
// size that keeps the workers busy.
type submitter struct {
	fleet  *Fleet
	random *rand.Rand
	group  int64
	note   string // in each entry's metadata, to make it large
	// large are the entries of the upload that is larger than what sockets hold.
	large []seqlease.AccessionVersion
	// poisoned counts the poisoned entries that were answered to be stored; only run
	// uses it.
	poisoned int

	mu      sync.Mutex // of what follows, and of large
	uploads []evidence.Upload
	strange []string // answers that no fault explains
}

// run uploads until ctx ends or the limit is reached (0: none).
func (s *submitter) run(ctx context.Context, limit int) {
	submitted := 0
	for ctx.Err() == nil && (limit == 0 || submitted < limit) {
		if s.fleet.backlog() >= s.fleet.options.Backlog {
			pause(ctx, 4*look)
			continue
		}
		n := 1 + s.random.IntN(60)
		if limit > 0 {
			n = min(n, limit-submitted)
		}
		if s.upload(ctx, n) {
			submitted += n
		} else {
			pause(ctx, 10*look)
		}
	}
}

// upload submits n entries through a random server, and says whether it was
// answered that they are stored. What was begun comes to its end, also when ctx ends: a
// server may store an upload whose client has left, and that after the last look
// at what waits.
func (s *submitter) upload(ctx context.Context, n int) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainLimit)
	defer cancel()
	server := s.fleet.servers[s.random.IntN(len(s.fleet.servers))]
	c, err := client.New("http://"+server.proxy.Address, s.fleet.settings.submitter, client.WithSilence(10*time.Second))
	if err != nil {
		s.wonder("address of a server: %v", err)
		return false
	}
	s.mu.Lock()
	number := len(s.uploads)
	s.uploads = append(s.uploads, evidence.Upload{})
	s.mu.Unlock()
	u, note := evidence.Upload{}, s.note
	large := s.fleet.options.LargeBytes > 0 && s.large == nil
	if large {
		n, note = largeEntries, noise(s.fleet.options.LargeBytes/largeEntries)
	}
	if s.poisoned < s.fleet.options.Poison && !large { // the large ones are to be released
		u.Poisoned = fmt.Sprintf("u%d-%d", number, n/2)
	}
	var metadata, sequences strings.Builder
	metadata.WriteString("id\tplace\tnote\n")
	for i := range n {
		id := fmt.Sprintf("u%d-%d", number, i)
		u.SubmissionIDs = append(u.SubmissionIDs, id)
		place := fmt.Sprintf("place %d", s.random.IntN(1000))
		if id == u.Poisoned {
			place = evidence.Poison
		}
		fmt.Fprintf(&metadata, "%s\t%s\t%s\n", id, place, note)
		fmt.Fprintf(&sequences, ">%s\n%s\n", id, s.sequence())
	}
	mappings, err := c.Submit(ctx, client.Submission{
		Organism: organism, GroupID: s.group,
		Metadata:  client.File{Name: "m.tsv", Content: strings.NewReader(metadata.String())},
		Sequences: client.File{Name: "s.fasta", Content: strings.NewReader(sequences.String())},
	})
	var problem *client.ProblemError
	switch {
	case err == nil:
		u.Stored = map[string]seqlease.AccessionVersion{}
		for _, m := range mappings {
			u.Stored[m.SubmissionID] = m.AccessionVersion
		}
		if u.Poisoned != "" {
			s.poisoned++
		}
	case errors.As(err, &problem) && !problem.Temporary():
		u.Refused = true
		s.wonder("upload %d: %v", number, err)
	case errors.Is(err, seqlease.ErrStorageFull):
		u.Refused = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uploads[number] = u
	if large {
		s.large = slices.Collect(maps.Values(u.Stored))
	}
	return u.Stored != nil
}

// largeEntries is how many entries share [Options.LargeBytes].
const largeEntries = 32

// largeStored are the entries of the large upload; none if it isn't stored yet.
func (s *submitter) largeStored() []seqlease.AccessionVersion {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.large
}

func (s *submitter) sequence() string {
	b := make([]byte, 20+s.random.IntN(60))
	for i := range b {
		b[i] = "ACGT"[s.random.IntN(4)]
	}
	return string(b)
}

func (s *submitter) wonder(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.strange = append(s.strange, fmt.Sprintf(format, args...))
}

// told returns the uploads so far, and how many entries were answered to be stored.
func (s *submitter) told() (uploads []evidence.Upload, stored int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.uploads {
		stored += len(u.Stored)
		if len(u.SubmissionIDs) > 0 {
			uploads = append(uploads, u)
		}
	}
	return uploads, stored
}
