package submission

import (
	"context"
	"errors"

	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/spool"
)

// export is released data on its way into a spool file.
type export struct {
	organism *organism.Organism
	asked    string // the tag when it was started
	file     *spool.File
	cancel   context.CancelFunc
	done     chan struct{} // closed when the writing goroutine has ended

	begun      chan struct{} // closed when what follows is known
	beginError error
	tag        string // of the snapshot that is written
	count      int64

	// Under the lock of Submissions:
	users  int
	failed bool
}

// exportFor joins the export that serves the tag, or starts one. It counts the
// caller as a user, who leaves by leave.
func (s *Submissions) exportFor(ctx context.Context, o *organism.Organism, tag string) (*export, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.exports[o.Key]; e != nil && e.serves(tag) {
		e.users++
		return e, nil
	}
	file, err := s.options.Spool.Create()
	if err != nil {
		return nil, err
	}
	// The writing serves everybody who joins, so it ends with the last of them.
	writing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	e := &export{
		organism: o, asked: tag, file: file, cancel: cancel, users: 1,
		begun: make(chan struct{}), done: make(chan struct{}),
	}
	s.exports[o.Key] = e
	go s.write(writing, e)
	return e, nil
}

// serves needs the lock. What was read after the tag was asked for is at least
// as new, so the tag that started an export is served by it as well.
func (e *export) serves(tag string) bool {
	if e.failed {
		return false
	}
	if e.asked == tag {
		return true
	}
	select {
	case <-e.begun:
		return e.tag == tag
	default:
		return false
	}
}

// leave counts a user out. The last one stops the writing and waits for it.
func (s *Submissions) leave(e *export) {
	s.mu.Lock()
	e.users--
	last := e.users == 0
	if last && s.exports[e.organism.Key] == e {
		delete(s.exports, e.organism.Key)
	}
	s.mu.Unlock()
	if last {
		e.cancel()
		<-e.done
		e.file.Release()
	}
}

// write fills the file from one snapshot.
func (s *Submissions) write(ctx context.Context, e *export) {
	defer close(e.done)
	begun := false
	w := newLineWriter(e.organism, s.options.DataUseTerms, e.file)
	err := s.store.ReadReleased(ctx, e.organism.Key,
		func(head ReleasedHead) error {
			e.tag, e.count, w.head = releaseTag(head.Mark, head.Now), head.Count, head
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
	err = e.file.Finish(err)
	if err != nil {
		s.mu.Lock()
		e.failed = true
		s.mu.Unlock()
	}
	if !begun {
		e.beginError = err
		close(e.begun)
	}
}
