package auth

import (
	"sync"
	"time"
)

// How many wrong passwords may be tried for a user within what time.
const (
	maxAttempts   = 10
	attemptWindow = time.Minute
)

// attempts counts wrong passwords by account.
type attempts struct {
	now func() time.Time

	mu     sync.Mutex
	counts map[string]*attemptCount
}

type attemptCount struct {
	since time.Time
	n     int
}

func newAttempts(now func() time.Time) *attempts {
	return &attempts{now: now, counts: map[string]*attemptCount{}}
}

// begin counts an attempt before its outcome is known, so that many at once are no
// more than many in a row. If it is allowed and turns out right, undo takes it back.
func (a *attempts) begin(account string) (undo func(), allowed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.counts[account]
	if c == nil || a.now().Sub(c.since) >= attemptWindow {
		c = &attemptCount{since: a.now()}
		a.counts[account] = c
	}
	if c.n >= maxAttempts {
		return nil, false
	}
	c.n++
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		c.n--
	}, true
}
