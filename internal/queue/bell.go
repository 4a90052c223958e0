package queue

import (
	"sync/atomic"

	"github.com/seqlease/seqlease"
)

// Bell tells the claims that wait in this process that something was added to a
// queue. A store rings it after a commit that did so; it only saves waiting for
// the next look at the change counters, and nothing depends on it. A nil bell is
// silent.
type Bell struct {
	answer atomic.Pointer[func(seqlease.Organism)]
}

// Ring says that something may have become claimable. It never waits.
func (b *Bell) Ring(o seqlease.Organism) {
	if b == nil {
		return
	}
	if answer := b.answer.Load(); answer != nil {
		(*answer)(o)
	}
}

// Answer sets who is told, which must not wait. Call it once, before the bell is rung.
func (b *Bell) Answer(answer func(seqlease.Organism)) { b.answer.Store(&answer) }
