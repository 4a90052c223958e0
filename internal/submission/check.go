package submission

import (
	"context"
	"errors"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/intake"
)

// Check is the check of an upload that is under way. Close it.
type Check struct {
	cancel  context.CancelFunc
	done    chan struct{}
	checked *intake.Checked // nil once it was taken
	err     error
	known   bool // whether the files are fine or not
}

// errMemory ends a check that was begun early and needs much memory.
var errMemory = errors.New("an upload that is arriving gets no more memory")

// files are those of an upload, and how they are checked.
type files struct {
	organism            seqlease.Organism
	revision            bool
	metadata, sequences *intake.File // nil: none was sent
	large               func(context.Context) error
	check               *Check // nil: none was begun
}

// Arriving are files of an upload that are still on their way.
type Arriving struct {
	Organism            seqlease.Organism
	Revision            bool // of entries that are there
	Metadata, Sequences *intake.File
}

// BeginCheck begins to check the files of an upload while they arrive: what their Open
// returns may wait. It takes no more memory than nearly every upload needs; what needs
// more is checked by [Submissions.Submit] and [Submissions.Revise], as is what it could
// not read to the end.
// When it ends, however soon that is, ended is called with how many bytes of memory are
// kept until Close; what may not be kept is let go, and checked again. Close it, once no
// file waits any more.
func (s *Submissions) BeginCheck(ctx context.Context, a Arriving, ended func(kept int64) bool) *Check {
	ctx, cancel := context.WithCancel(ctx)
	c := &Check{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		c.err = Caught(func() (err error) {
			c.checked, err = s.checkFiles(ctx, files{
				organism: a.Organism, revision: a.Revision, metadata: a.Metadata, sequences: a.Sequences,
				large: func(context.Context) error { return errMemory },
			})
			return err
		})
		var invalid *seqlease.InvalidError
		c.known = c.err == nil || errors.As(c.err, &invalid) || errors.Is(c.err, seqlease.ErrTooLarge) || errors.Is(c.err, errPanic)
		if c.checked == nil {
			ended(0)
		} else if !ended(c.checked.Memory()) {
			c.drop()
			c.known = false
		}
	}()
	return c
}

// drop removes what the check has made.
func (c *Check) drop() {
	if c.checked != nil {
		_ = c.checked.Close() // it holds nothing that is still needed
		c.checked = nil
	}
}

// take waits for the end of the check, and returns what it has found if it did so.
func (c *Check) take() (checked *intake.Checked, known bool, err error) {
	<-c.done
	checked, c.checked = c.checked, nil
	return checked, c.known, c.err
}

// Close ends the check and removes what it has made, unless an upload took it.
func (c *Check) Close() {
	c.cancel()
	<-c.done
	c.drop()
}

// check returns the entries of an upload.
func (s *Submissions) check(ctx context.Context, f files) (*intake.Checked, error) {
	if f.check != nil {
		if checked, known, err := f.check.take(); known {
			return checked, err
		}
	}
	return s.checkFiles(ctx, f)
}

func (s *Submissions) checkFiles(ctx context.Context, f files) (*intake.Checked, error) {
	o, err := s.organisms.Get(f.organism)
	if err != nil {
		return nil, err
	}
	return intake.Check(ctx, intake.Request{
		Organism: o, Revision: f.revision, Metadata: f.metadata, Sequences: f.sequences, Spool: s.options.Spool, Large: f.large,
	})
}
