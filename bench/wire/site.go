package wire

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/bench/genome"
	"github.com/seqlease/seqlease/bench/measure"
	"github.com/seqlease/seqlease/client"
	"github.com/seqlease/seqlease/internal/organism"
)

// The stores of a site.
const (
	Postgres = "postgres"
	SQLite   = "sqlite"
)

// Site is one store of one organism with its servers. Close it.
type Site struct {
	Organism *organism.Organism
	Servers  []*Server
	// Submitter calls the first server.
	Submitter *client.Client
	// Database is the address of the PostgreSQL database; empty with SQLite.
	Database string

	settings settings
	dir      string
	drop     func()
}

// Open makes an empty store and starts servers on it; SQLite takes one.
func Open(ctx context.Context, b *measure.Bench, store string, servers int, o *organism.Organism) (_ *Site, err error) {
	s := &Site{Organism: o, drop: func() {}}
	if s.dir, err = os.MkdirTemp(b.Dir, "site-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if s.settings, err = writeSettings(s.dir, o); err != nil {
		return nil, err
	}
	address := "sqlite:" + filepath.Join(s.dir, "store.db")
	if store == Postgres {
		if s.Database, s.drop, err = b.Database(ctx); err != nil {
			return nil, err
		}
		address = s.Database
		if out, err := exec.CommandContext(ctx, b.Server, "migrate", "up", "--store", address).CombinedOutput(); err != nil { //nolint:gosec // built by the bench
			return nil, fmt.Errorf("migrate: %w: %s", err, out)
		}
	}
	for range servers {
		server, err := startServer(ctx, b.Server, s.settings, address, s.dir)
		if err != nil {
			return nil, err
		}
		s.Servers = append(s.Servers, server)
	}
	s.Submitter, err = client.New(s.Servers[0].URL, s.settings.submitter)
	return s, err
}

// Close stops the servers and removes the store.
func (s *Site) Close() error {
	var errs []error
	for _, server := range s.Servers {
		errs = append(errs, server.Stop())
	}
	s.drop()
	return errors.Join(append(errs, os.RemoveAll(s.dir))...)
}

// Fill uploads n entries for a group of its own: one sample after the other, again
// and again. The number of an entry, which counts from first, is in its submission id.
func (s *Site) Fill(ctx context.Context, samples []genome.Sample, first, n int) error {
	group, err := s.Submitter.CreateGroup(ctx, seqlease.NewGroup{GroupName: "bench"})
	if err != nil {
		return err
	}
	made, err := s.Submitter.Submit(ctx, Upload(s.Organism.Key, group.GroupID, samples, first, n))
	if err != nil {
		return err
	}
	if len(made) != n {
		return fmt.Errorf("uploaded %d entries, the server made %d", n, len(made))
	}
	return nil
}
