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
	// checkSoon is the pause while only what is under way keeps it from that.
	checkSoon = time.Second
	// checkShare bounds what looking costs: the pause is at least so many times as long
	// as the look was.
	checkShare = 20
	// cleanFor is how long it is relied on that all entries were looked at and none
	// blocked it, and keepsUpFor that it keeps up with the current version.
	cleanFor   = 10 * time.Minute
	keepsUpFor = time.Minute
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
	// Held and CurrentHeld say that entries are in processing by the candidate, and by
	// the current version.
	Held, CurrentHeld bool
}

// switcher moves the current versions of organisms (V5). One goroutine uses it.
type switcher struct {
	store  Store
	logger *slog.Logger
	known  map[Candidate]*known
}

// known is what was found out about a candidate. The instants are this process's and
// pace its work; nothing is decided by them that the store doesn't test.
type known struct {
	// due is when it is looked at again.
	due time.Time
	// after is up to which entry, by id, none blocks it, as far as was looked when it
	// was: what comes next is what blocked it last.
	after int64
	// clean is until when it counts that all entries were looked at and none blocked it:
	// what came to block it since is found by [SwitchStore.MaySwitch].
	clean time.Time
	// keepsUp is until when it counts that it keeps up.
	keepsUp time.Time
	// busy is the pause after switches that others kept from happening.
	busy time.Duration
}

func newSwitcher(store Store, logger *slog.Logger) *switcher {
	return &switcher{store: store, logger: logger, known: map[Candidate]*known{}}
}

// check switches what may be switched, and says after which pause to look again.
func (s *switcher) check(ctx context.Context) (pause time.Duration, switched int, err error) {
	candidates, err := s.candidates(ctx)
	if err != nil {
		return checkEvery, 0, err
	}
	pause = checkEvery
	done := map[seqlease.Organism]bool{}
	for _, c := range candidates {
		k := s.known[c]
		if wait := time.Until(k.due); done[c.Organism] || wait > 0 {
			pause = min(pause, max(wait, checkSoon/10))
			continue
		}
		ok, rest, fault := s.try(ctx, c, k)
		k.due = after(rest)
		pause = min(pause, rest)
		err = errors.Join(err, fault)
		if ok {
			done[c.Organism] = true
			switched++
			s.logger.LogAttrs(ctx, slog.LevelInfo, "pipeline version is current", organismOf(c.Organism), versionOf(c.Version),
				slog.Int64("before", int64(c.Current)))
		}
	}
	return pause, switched, err
}

// after is the instant when the time has passed.
func after(d time.Duration) time.Time {
	return time.Now().Add(d) //nolint:forbidigo // paces the work; says nothing about leases
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
	still := make(map[Candidate]*known, len(list))
	for _, c := range list {
		if still[c] = s.known[c]; still[c] == nil {
			still[c] = &known{}
		}
	}
	s.known = still
	return list, nil
}

// try makes the version current if nothing keeps it from that, and says after which
// pause to try again.
func (s *switcher) try(ctx context.Context, c Candidate, k *known) (switched bool, pause time.Duration, err error) {
	if time.Until(k.clean) <= 0 {
		began := after(0)
		if clean, err := s.isClean(ctx, c, k); err != nil || !clean {
			return false, max(checkEvery, checkShare*time.Since(began)), err
		}
		k.clean = after(cleanFor)
	}
	began := after(0)
	switched, err = s.tryClean(ctx, c, k)
	if errors.Is(err, seqlease.ErrBusy) {
		k.busy = min(max(2*k.busy, checkEvery), switchPause)
		return false, k.busy, err
	}
	k.busy = 0
	return switched, max(checkSoon, checkShare*time.Since(began)), err
}

// tryClean makes a version current that no entry blocked when all were looked at.
func (s *switcher) tryClean(ctx context.Context, c Candidate, k *known) (switched bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	if may, err := s.store.MaySwitch(ctx, c); err != nil || !may {
		return false, err
	}
	if time.Until(k.keepsUp) <= 0 {
		if keeps, err := s.keepsUp(ctx, c); err != nil || !keeps {
			return false, err
		}
		k.keepsUp = after(keepsUpFor)
	}
	return s.store.Switch(ctx, c)
}

// isClean says that no entry blocks the version. Most of what was looked at once stays
// as it was, so that a look begins where something blocked it last; it takes one that
// began with the first entry to say so.
func (s *switcher) isClean(ctx context.Context, c Candidate, k *known) (bool, error) {
	from := k.after
	blocked, err := s.look(ctx, c, k)
	if err == nil && !blocked && from > 0 {
		k.after = 0
		blocked, err = s.look(ctx, c, k)
	}
	if err != nil || blocked {
		return false, err
	}
	k.after = 0
	return true, nil
}

// look looks for a blocker from where it is on.
func (s *switcher) look(ctx context.Context, c Candidate, k *known) (blocked bool, err error) {
	limit := blockerResults
	if k.after > 0 {
		limit = blockerLook
	}
	for {
		l, err := s.lookOnce(ctx, c, k.after, limit)
		switch {
		case err != nil:
			return false, err
		case l.Blocker > 0:
			k.after = l.Blocker - 1
			return true, nil
		case l.End:
			return false, nil
		}
		k.after, limit = l.Last, blockerResults
	}
}

func (s *switcher) lookOnce(ctx context.Context, c Candidate, after int64, limit int) (Look, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	return s.store.FindBlocker(ctx, c, after, limit)
}

// keepsUp says whether the candidate was ever worked with and has as few entries
// waiting as the current version: one that has processed nothing of what is there
// never becomes current, even if nothing good is lost by it. A first one may be about
// to, unless the current version is, too.
func (s *switcher) keepsUp(ctx context.Context, c Candidate) (bool, error) {
	standing, err := s.store.Compare(ctx, c)
	if err != nil {
		return false, err
	}
	begun := standing.Candidate > 0 || standing.Held && !standing.CurrentHeld
	return begun && standing.Candidate >= standing.Current, nil
}
