package postgres

import (
	"sync/atomic"
	"time"
)

// fullFor is how long a server isn't ready after the database found no room:
// then requests come again and show whether there is some.
const fullFor = 30 * time.Second

// fullness remembers when the database found no room. The zero value: never.
type fullness struct{ last atomic.Pointer[time.Time] }

func (f *fullness) note() {
	now := time.Now() //nolint:forbidigo // paces readiness; says nothing about leases
	f.last.Store(&now)
}

func (f *fullness) recent() bool {
	last := f.last.Load()
	return last != nil && time.Since(*last) < fullFor
}
