package postgres_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/storetest"
)

// former is a server of its own that can be made to take no writes, as a former
// primary after a failover.
type former struct {
	address string
	admin   *pgx.Conn
}

func newFormer(t *testing.T) *former {
	t.Helper()
	_, address := newCluster(t)
	f := &former{address: address, admin: connect(t, address)}
	f.takeWrites(t, true) // a server that was there already may be as a test left it
	return f
}

// takeWrites switches the server while its connections stay open.
func (f *former) takeWrites(t *testing.T, yes bool) {
	t.Helper()
	setting := "on"
	if yes {
		setting = "off"
	}
	run(t, f.admin, "SET default_transaction_read_only = off",
		"ALTER SYSTEM SET default_transaction_read_only = "+setting, "SELECT pg_reload_conf()")
}

// backends are the server's processes for the connections of stores.
func (f *former) backends(t *testing.T) (pids []int32) {
	t.Helper()
	err := f.admin.QueryRow(t.Context(), "SELECT coalesce(array_agg(pid), '{}') FROM pg_stat_activity "+
		"WHERE datname = current_database() AND application_name = 'seqlease'").Scan(&pids)
	if err != nil {
		t.Fatal(err)
	}
	return pids
}

// eventually calls f until it returns what is wanted, as the server takes a
// setting over when it gets round to it.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	ctx := soon(t)
	for !f() {
		if ctx.Err() != nil {
			t.Fatalf("never %s", what)
		}
	}
}

func errorOf[T any](_ T, err error) error { return err }

// A database that only reads is busy, not broken, and says so to whoever asks
// whether the server is ready. When it takes writes again, everything goes on
// without a restart, with the leases that were there.
func TestStore_B041_ReadOnlyDatabaseIsBusyUntilItTakesWrites(t *testing.T) {
	t.Parallel()
	f := newFormer(t)
	h := newHarness("", postgres.Options{MaxConnections: 3})
	s := h.join(t, &database{address: f.address})
	g := register(t, s)
	submitN(t, s, g.GroupID, 5)
	lease, err := s.Claim(t.Context(), askFor(2))
	if err != nil || len(lease.Entries) != 2 {
		t.Fatalf("claimed %d entries: %v", len(lease.Entries), err)
	}
	before := f.backends(t)
	f.takeWrites(t, false)
	eventually(t, "refused", func() bool {
		_, err = s.Renew(t.Context(), renewal(lease, time.Hour))
		return err != nil
	})
	for what, err := range map[string]error{
		"renew":  err,
		"claim":  errorOf(s.Claim(t.Context(), askFor(1))),
		"accept": errorOf(s.AcceptResults(t.Context(), packedAnswer(s, lease))),
		"submit": errorOf(s.Submit(t.Context(), smallUpload(s, g.GroupID, 1))),
		"ready":  s.Ready(t.Context()),
	} {
		if !errors.Is(err, seqlease.ErrBusy) || !strings.Contains(err.Error(), "takes no writes") {
			t.Errorf("%s: got %v, want %v that says why", what, err, seqlease.ErrBusy)
		}
	}
	eventually(t, "without the old connections", func() bool {
		for _, pid := range f.backends(t) {
			for _, old := range before {
				if pid == old {
					return false
				}
			}
		}
		return true
	})
	f.takeWrites(t, true)
	eventually(t, "ready", func() bool { return s.Ready(t.Context()) == nil })
	if _, err := s.AcceptResults(t.Context(), packedAnswer(s, lease)); err != nil {
		t.Errorf("results of the lease from before: %v", err)
	}
	if next, err := s.Claim(t.Context(), askFor(9)); err != nil || len(next.Entries) != 3 {
		t.Errorf("claimed %d entries, want the 3 that were left: %v", len(next.Entries), err)
	}
}

// With both hosts in the address the next connections lead to the one that takes
// writes, though the address doesn't ask for it.
func TestStore_B041_OfTwoHostsTheOneThatTakesWritesIsFound(t *testing.T) {
	t.Parallel()
	f := newFormer(t)
	old, err := url.Parse(f.address)
	if err != nil {
		t.Fatal(err)
	}
	promoted, err := url.Parse(newDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	run(t, connect(t, promoted.String()), "CREATE DATABASE "+strings.TrimPrefix(old.Path, "/"))
	promoted.Path = old.Path
	if err := postgres.Migrate(t.Context(), promoted.String()); err != nil {
		t.Fatal(err)
	}
	both := *old
	both.Host += "," + promoted.Host
	s := newHarness("", postgres.Options{}).join(t, &database{address: both.String()})
	submitN(t, s, register(t, s).GroupID, 1)
	f.takeWrites(t, false)
	eventually(t, "refused", func() bool { _, err = s.Claim(t.Context(), askFor(1)); return err != nil })
	if !errors.Is(err, seqlease.ErrBusy) {
		t.Errorf("got %v, want %v", err, seqlease.ErrBusy)
	}
	eventually(t, "on the other host", func() bool { return s.Register(t.Context(), storetest.Organisms()) == nil })
	submitN(t, s, register(t, s).GroupID, 2)
	if lease, err := s.Claim(t.Context(), askFor(9)); err != nil || len(lease.Entries) != 2 {
		t.Errorf("claimed %d entries on the other host, want 2: %v", len(lease.Entries), err)
	}
	if n := len(f.backends(t)); n != 0 {
		t.Errorf("%d connections to the host that takes no writes", n)
	}
	if err := s.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}
