package submission

import (
	"context"
	"errors"
	"time"

	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/spool"
)

// outlet is where the released data of one organism goes out.
type outlet struct {
	organism    *organism.Organism
	fingerprint string
	// turn is held by the export that is being written. There is one at a time,
	// since each holds a connection and a snapshot, and anybody may ask for one.
	turn chan struct{}

	// Under the lock of Submissions:
	writing *export // has the turn
	newest  *export // may wait for its turn, be written, or be whole and read by somebody
}

func newOutlet(o *organism.Organism, terms TermsOptions) *outlet {
	return &outlet{organism: o, fingerprint: fingerprint(o, terms), turn: make(chan struct{}, 1)}
}

// tag adds to the mark the UTC day, because restrictions lapse without a write,
// and last the configuration, because a restart may change the body without one.
func (out *outlet) tag(mark string, now time.Time) string {
	return `"` + mark + "|" + now.UTC().Format(time.DateOnly) + "|" + out.fingerprint + `"`
}

// export is released data on its way into a spool file.
type export struct {
	outlet *outlet
	asked  string // the tag when it was made
	file   *spool.File
	cancel context.CancelFunc
	done   chan struct{} // closed when the writing goroutine has ended

	begun      chan struct{} // closed when what follows is known
	beginError error
	tag        string // of the snapshot that is written
	count      int64

	// Under the lock of Submissions:
	users   int
	started bool // the snapshot may have been taken
	failed  bool
}

// exportFor joins an export that shows the tag's state or a later one, or makes
// one, which waits for its turn. It counts the caller as a user, who leaves by leave.
func (s *Submissions) exportFor(ctx context.Context, out *outlet, tag string) (*export, error) {
	for {
		e, undecided, err := s.join(ctx, out, tag)
		if undecided == nil {
			return e, err
		}
		select {
		case <-undecided:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// join is exportFor, unless it depends on a snapshot that is being taken: then it
// returns the channel that is closed when that is known.
func (s *Submissions) join(ctx context.Context, out *outlet, tag string) (joined *export, undecided <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range []*export{out.writing, out.newest} {
		if e != nil && e.serves(tag) {
			e.users++
			return e, nil, nil
		}
	}
	if e := out.newest; e != nil && e.isUndecided() {
		return nil, e.begun, nil
	}
	file, err := s.options.Spool.Create()
	if err != nil {
		return nil, nil, err
	}
	// The writing serves everybody who joins, so it ends with the last of them.
	writing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	e := &export{
		outlet: out, asked: tag, file: file, cancel: cancel, users: 1,
		begun: make(chan struct{}), done: make(chan struct{}),
	}
	out.newest = e
	go s.write(writing, e)
	return e, nil, nil
}

// serves needs the lock. A snapshot that is taken after the tag was read is at
// least as new, and tags rise: so an export serves whoever came before it
// started, and later those whose tag isn't above what it is known to show.
func (e *export) serves(tag string) bool {
	if e.users == 0 || e.failed {
		return false
	}
	if !e.started || tag <= e.asked {
		return true
	}
	select {
	case <-e.begun:
		return tag <= e.tag
	default:
		return false
	}
}

// isUndecided needs the lock. It says whether the snapshot may have been taken
// but isn't known yet.
func (e *export) isUndecided() bool {
	if e.users == 0 || e.failed || !e.started {
		return false
	}
	select {
	case <-e.begun:
		return false
	default:
		return true
	}
}

// leave counts a user out. The last one stops the writing and waits for it.
func (s *Submissions) leave(e *export) {
	s.mu.Lock()
	e.users--
	last := e.users == 0
	if out := e.outlet; last && out.newest == e {
		out.newest = nil
		if out.writing != e {
			out.newest = out.writing // others may still share it
		}
	}
	s.mu.Unlock()
	if last {
		e.cancel()
		<-e.done
		e.file.Release()
	}
}

// write fills the file from one snapshot when it is the export's turn.
func (s *Submissions) write(ctx context.Context, e *export) {
	defer close(e.done)
	begun := false
	err := s.takeTurn(ctx, e)
	if err == nil {
		defer s.endTurn(e)
		begun, err = s.fill(ctx, e)
	}
	s.fails(e, err) // before readers can know of it and ask again
	err = e.file.Finish(err)
	s.fails(e, err)
	if !begun {
		e.beginError = err
		close(e.begun)
	}
}

// fails has nobody join an export that is broken.
func (s *Submissions) fails(e *export, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.failed = e.failed || err != nil
}

// takeTurn waits until no other export of the organism is being written.
func (s *Submissions) takeTurn(ctx context.Context, e *export) error {
	select {
	case e.outlet.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e.started = true
	e.outlet.writing = e
	return nil
}

func (s *Submissions) endTurn(e *export) {
	s.mu.Lock()
	e.outlet.writing = nil
	s.mu.Unlock()
	<-e.outlet.turn
}

// fill reads the snapshot. begun says whether e.begun was closed.
func (s *Submissions) fill(ctx context.Context, e *export) (begun bool, err error) {
	w := newLineWriter(e.outlet.organism, s.options.DataUseTerms, e.file)
	err = s.store.ReadReleased(ctx, e.outlet.organism.Key,
		func(head ReleasedHead) error {
			e.tag, e.count, w.head = e.outlet.tag(head.Mark, head.Now), head.Count, head
			begun = true
			close(e.begun)
			return nil
		},
		w.add)
	if err == nil && !begun {
		err = errors.New("the store told nothing about the released data")
	}
	if err == nil {
		err = w.end()
	}
	return begun, err
}
