package storetest

import (
	"testing"

	"github.com/seqlease/seqlease/internal/queue"
)

// part is the store seen through one of the interfaces that it implements.
func part[P any](t *testing.T, s Store) P {
	t.Helper()
	p, ok := s.(P)
	if !ok {
		t.Fatalf("the store has no %T", (*P)(nil))
	}
	return p
}

func (f *fixture) renewer(t *testing.T) queue.RenewStore {
	t.Helper()
	return part[queue.RenewStore](t, f.Store)
}

func (f *fixture) waiter(t *testing.T) queue.WaitStore {
	t.Helper()
	return part[queue.WaitStore](t, f.Store)
}

func (f *fixture) keeper(t *testing.T) queue.KeeperStore {
	t.Helper()
	return part[queue.KeeperStore](t, f.Store)
}

func (f *fixture) operator(t *testing.T) queue.OperatorStore {
	t.Helper()
	return part[queue.OperatorStore](t, f.Store)
}
