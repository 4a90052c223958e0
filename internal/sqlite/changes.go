package sqlite

import (
	"sync"

	"github.com/seqlease/seqlease"
)

// changes are entries that may have become unfit for release since a large approval of
// their organism began: it looks at them again before it is decided. Whatever gives an
// entry another revision or release, or replaces a result without errors, notes it here
// in its transaction. (The deletions of the organism wait meanwhile, and a switch of the
// version is noticed by itself.) The zero value wants to know of nothing.
//
// Memory is enough: all writes go through this process, one after the other, and an
// approval that isn't decided comes to nothing with it.
type changes struct {
	mu    sync.Mutex
	noted map[seqlease.Organism][]seqlease.AccessionVersion // by organisms with an approval under way
}

// begin has what changes from here on noted.
func (c *changes) begin(o seqlease.Organism) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.noted == nil {
		c.noted = map[seqlease.Organism][]seqlease.AccessionVersion{}
	}
	c.noted[o] = nil
}

// end forgets everything.
func (c *changes) end(o seqlease.Organism) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.noted, o)
}

// wanted says whether changes of the organism are noted.
func (c *changes) wanted(o seqlease.Organism) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, wanted := c.noted[o]
	return wanted
}

// note notes entries, if anybody wants to know. What is noted in a transaction that is
// undone does no harm.
func (c *changes) note(o seqlease.Organism, entries ...seqlease.AccessionVersion) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if noted, wanted := c.noted[o]; wanted {
		c.noted[o] = append(noted, entries...)
	}
}

// since are those noted after the first so many.
func (c *changes) since(o seqlease.Organism, seen int) []seqlease.AccessionVersion {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.noted[o][seen:]
}
