package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

func TestOpen_OldSchemaIsRefusedAndMigrateBringsItUp(t *testing.T) {
	t.Parallel()
	address := newDatabase(t)
	_, err := postgres.Open(t.Context(), postgres.Options{Address: address})
	if err == nil || !strings.Contains(err.Error(), "seqlease migrate up") {
		t.Fatalf("got %v, want an error that names the command", err)
	}
	status, err := postgres.MigrationStatus(t.Context(), address)
	if err != nil || len(status) == 0 || !status[0].AppliedAt.IsZero() {
		t.Fatalf("status before: %v, %v, want a migration that isn't applied", status, err)
	}
	var group errgroup.Group
	for range 3 { // one does it, the others wait
		group.Go(func() error { return postgres.Migrate(t.Context(), address) })
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	status, err = postgres.MigrationStatus(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range status {
		if m.AppliedAt.IsZero() {
			t.Errorf("%s is not applied", m.Name)
		}
	}
	s, err := postgres.Open(t.Context(), postgres.Options{Address: address})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestOpen_ErrorsDoNotRepeatTheAddress(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]string{
		"malformed": "postgres://anna:hunter2@db.example:notaport/x", "keywords": "host=db.example port=99999 password=hunter2",
		"unreachable": "postgres://anna:hunter2@127.0.0.1:1/x?connect_timeout=2",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := postgres.Open(t.Context(), postgres.Options{Address: address})
			if err == nil {
				t.Fatal("it opened")
			}
			for _, part := range []string{"hunter2", "anna", "127.0.0.1", "db.example"} {
				if strings.Contains(err.Error(), part) {
					t.Errorf("the error %q repeats %q", err, part)
				}
			}
			if err := postgres.Migrate(t.Context(), address); err == nil || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("migrate: got %v, want an error without the password", err)
			}
		})
	}
}

func TestOpen_UnreachableDatabaseIsBusy(t *testing.T) {
	t.Parallel()
	_, err := postgres.Open(t.Context(), postgres.Options{Address: "postgres://anna@127.0.0.1:1/x"})
	if !errors.Is(err, seqlease.ErrBusy) {
		t.Errorf("got %v, want %v", err, seqlease.ErrBusy)
	}
}

func TestOpen_SaysInWordsWhyThereIsNoConnection(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(newDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	address.Path = "/hunter2"
	for name, c := range map[string]struct{ address, want string }{
		"no such database": {address.String(), "the server has no database of the name in the address: create it first"},
		"no server":        {"postgres://anna@127.0.0.1:1/x", "no server listens at the host and port"},
		"no socket":        {"postgres:///x?host=/nonexistent/hunter2", "no server listens at the host and port, or socket"},
		"no such host":     {"postgres://anna:hunter2@db.invalid/x?connect_timeout=5", "the host name in its address can't be looked up"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for what, try := range map[string]func() error{
				"open": func() error {
					s, err := postgres.Open(t.Context(), postgres.Options{Address: c.address})
					if err == nil {
						err = s.Close()
					}
					return err
				},
				"migrate": func() error { return postgres.Migrate(t.Context(), c.address) },
				"status":  func() error { _, err := postgres.MigrationStatus(t.Context(), c.address); return err },
			} {
				err := try()
				if err == nil || !strings.Contains(err.Error(), "the database can't be reached: "+c.want) {
					t.Errorf("%s: got %v, want an error that says %q", what, err, c.want)
				}
				if err != nil && (strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "busy")) {
					t.Errorf("%s: the error %q repeats the address, or talks of being busy", what, err)
				}
			}
		})
	}
}

func TestReady_FullDiskIsTold(t *testing.T) {
	t.Parallel()
	s := newHarness("", postgres.Options{}).open(t)
	for _, text := range []string{
		"CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'no space left on device' USING ERRCODE = '53100'; END$$",
		"CREATE TRIGGER no_room BEFORE INSERT ON submitting_group FOR EACH ROW EXECUTE FUNCTION no_room()",
	} {
		if _, err := s.Pool().Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Ready(t.Context()); err != nil {
		t.Errorf("before: %v", err)
	}
	_, err := s.CreateGroup(t.Context(), seqlease.NewGroup{GroupName: "g", ContactEmail: "lab@example.org"}, "anna")
	if !errors.Is(err, seqlease.ErrStorageFull) {
		t.Errorf("got %v, want %v", err, seqlease.ErrStorageFull)
	}
	if err := s.Ready(t.Context()); !errors.Is(err, seqlease.ErrStorageFull) {
		t.Errorf("ready: got %v, want %v", err, seqlease.ErrStorageFull)
	}
}

// Everything at once through a pool of one connection: nobody who holds it asks
// for a second one.
func TestStore_B040_OneConnectionServesEverybody(t *testing.T) {
	t.Parallel()
	s := newHarness("", postgres.Options{MaxConnections: 1}).open(t)
	g := register(t, s)
	const workers, each = 8, 20
	var done atomic.Int64
	var group errgroup.Group
	for w := range workers {
		group.Go(func() error {
			made, err := s.Submit(context.Background(), smallUpload(s, g.GroupID, each))
			if err != nil {
				return fmt.Errorf("submit: %w", err)
			}
			for claimed := 0; done.Load() < workers*each && claimed < workers*each; {
				lease, err := s.Claim(context.Background(), askFor(7))
				if err != nil {
					return fmt.Errorf("claim: %w", err)
				}
				if len(lease.Entries) == 0 {
					break
				}
				claimed += len(lease.Entries)
				if _, err := s.AcceptResults(context.Background(), packedAnswer(s, lease)); err != nil {
					return fmt.Errorf("accept: %w", err)
				}
				done.Add(int64(len(lease.Entries)))
			}
			if _, err := s.List(context.Background(), submission.ListFilter{Organism: storetest.WestNile, Limit: w}, func(submission.ListedEntry) error { return nil }); err != nil {
				return fmt.Errorf("list: %w", err)
			}
			if _, err := s.Approve(context.Background(), submission.Approval{Organism: storetest.WestNile, Approver: "anna", Scope: seqlease.ApproveAll}); err != nil {
				return fmt.Errorf("approve: %w", err)
			}
			err = s.ReadReleased(context.Background(), storetest.WestNile,
				func(submission.ReleasedHead) error { return nil }, func(submission.ReleasedEntry) error { return nil })
			if err != nil {
				return fmt.Errorf("read released: %w", err)
			}
			_, err = s.GroupsOfEntries(context.Background(), []seqlease.AccessionVersion{made[0].AccessionVersion})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := done.Load(); got != workers*each {
		t.Errorf("%d entries were processed, want %d", got, workers*each)
	}
}
