package reprocess

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/seqlease/seqlease"
)

const (
	// checkEvery is the pause between two looks at whether a newer version may become
	// current, as in the reference server.
	checkEvery = 10 * time.Second
	// checkShare bounds what looking costs: the pause is at least so many times as long
	// as the look was.
	checkShare = 20
	// switchPause is the longest pause after switches that others kept from happening.
	switchPause = 5 * time.Minute
	// blockerLook and blockerResults are how many results are looked at for one that
	// blocks a switch: few where one was found before, as it is there still, most times.
	blockerLook    = 100
	blockerResults = 20_000
	// checkTimeout bounds one statement of the check.
	checkTimeout = 30 * time.Second
)

// Candidate is a version that may become the current one of its organism.
type Candidate struct {
	Organism seqlease.Organism
	Current  seqlease.PipelineVersion
	Version  seqlease.PipelineVersion // above the current one
}

// Look is what a look for a blocker found.
type Look struct {
	Blocker int64 // the id of the first entry that blocks the switch; 0: none
	Last    int64 // the id of the last entry that was looked at
	End     bool  // there is none behind it
}

// Standing is how far two versions are with the entries of an organism.
type Standing struct {
	Current, Candidate int64 // how many entries have a result
	Held               bool  // entries are in processing by the candidate
}

// switcher moves the current versions of organisms (V5). One goroutine uses it.
type switcher struct {
	store  Store
	logger *slog.Logger
	// after is up to which entry, by id, none blocks a candidate, as far as was looked
	// when it was: what comes next is what blocked it last.
	after map[Candidate]int64
	busy  time.Duration // the pause after a switch that others kept from happening
}

func newSwitcher(store Store, logger *slog.Logger) *switcher {
	return &switcher{store: store, logger: logger, after: map[Candidate]int64{}}
}

// check switches what may be switched, and says after which pause to look again.
func (s *switcher) check(ctx context.Context) (pause time.Duration, switched int, err error) {
	began := time.Now() //nolint:forbidigo // paces the work; says nothing about leases
	candidates, err := s.candidates(ctx)
	if err != nil {
		return checkEvery, 0, err
	}
	busy := false
	done := map[seqlease.Organism]bool{}
	for _, c := range candidates {
		if done[c.Organism] {
			continue
		}
		ok, fault := s.try(ctx, c)
		switch {
		case errors.Is(fault, seqlease.ErrBusy):
			busy = true
			err = errors.Join(err, fault)
		case fault != nil:
			err = errors.Join(err, fault)
		case ok:
			done[c.Organism] = true
			switched++
			s.logger.LogAttrs(ctx, slog.LevelInfo, "pipeline version is current", organismOf(c.Organism), versionOf(c.Version),
				slog.Int64("before", int64(c.Current)))
		}
	}
	pause = max(checkEvery, checkShare*time.Since(began))
	if s.busy = min(max(2*s.busy, checkEvery), switchPause); !busy {
		s.busy = 0
	}
	return max(pause, s.busy), switched, err
}

// candidates lists the candidates, and forgets what was known of those that are none
// any more.
func (s *switcher) candidates(ctx context.Context) ([]Candidate, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	list, err := s.store.Candidates(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the versions that may become current: %w", err)
	}
	after := make(map[Candidate]int64, len(list))
	for _, c := range list {
		after[c] = s.after[c]
	}
	s.after = after
	return list, nil
}

// try makes the version current if nothing blocks it. Most of what was looked at once
// stays as it was, so that a look begins where something blocked it last; nothing is
// switched before all was looked at in one go.
func (s *switcher) try(ctx context.Context, c Candidate) (switched bool, err error) {
	from := s.after[c]
	blocked, err := s.look(ctx, c)
	if err == nil && !blocked && from > 0 {
		s.after[c] = 0
		blocked, err = s.look(ctx, c)
	}
	if err != nil || blocked {
		return false, err
	}
	s.after[c] = 0
	if keeps, err := s.keepsUp(ctx, c); err != nil || !keeps {
		return false, err
	}
	return s.store.Switch(ctx, c)
}

// look looks for a blocker from where it is on.
func (s *switcher) look(ctx context.Context, c Candidate) (blocked bool, err error) {
	limit := blockerResults
	if s.after[c] > 0 {
		limit = blockerLook
	}
	for {
		l, err := s.lookOnce(ctx, c, limit)
		switch {
		case err != nil:
			return false, err
		case l.Blocker > 0:
			s.after[c] = l.Blocker - 1
			return true, nil
		case l.End:
			return false, nil
		}
		s.after[c], limit = l.Last, blockerResults
	}
}

func (s *switcher) lookOnce(ctx context.Context, c Candidate, limit int) (Look, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	return s.store.FindBlocker(ctx, c, s.after[c], limit)
}

// keepsUp says whether the candidate was ever worked with and has as few entries
// waiting as the current version: one that has processed nothing of what is there
// never becomes current, even if nothing good is lost by it.
func (s *switcher) keepsUp(ctx context.Context, c Candidate) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	standing, err := s.store.Compare(ctx, c)
	if err != nil {
		return false, err
	}
	begun := standing.Held || standing.Candidate > 0
	return begun && standing.Candidate >= standing.Current, nil
}
