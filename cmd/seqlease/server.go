package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/httpapi"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/reprocess"
	"github.com/seqlease/seqlease/internal/spool"
	"github.com/seqlease/seqlease/internal/submission"
)

// stopTimeout is how long running requests may take to finish when the server
// stops; long downloads are cut after it.
const stopTimeout = 10 * time.Second

// server is a running server. Stop it.
type server struct {
	url      string
	http     *http.Server
	handlers *handlers
	store    store
	spool    *spool.Dir
	failed   chan struct{} // closed when serving ended by itself
	err      error         // why; read after failed
	// loops are what runs beside the requests, until endLoops.
	loops    errgroup.Group
	endLoops context.CancelFunc
}

// startServer wires the rooms as the configuration says and serves. The
// configuration is valid. ctx bounds the start only. What may not be there, such
// as a free port, is tried before the store is made, so that a server that can't
// start leaves nothing behind.
func startServer(ctx context.Context, c *Config, logger *slog.Logger) (*server, error) {
	address, err := parseStore(c.Store)
	if err != nil {
		return nil, err
	}
	files := spool.NewDir(c.SpoolDir, 0)
	if err := files.Ready(); err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	bell := &queue.Bell{}
	opened, err := address.open(ctx, c, bell, logger)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	s := &server{store: opened, spool: files, failed: make(chan struct{})}
	if err := s.start(ctx, c, bell, listener, logger); err != nil {
		return nil, errors.Join(err, listener.Close(), opened.Close())
	}
	return s, nil
}

func (s *server) start(ctx context.Context, c *Config, bell *queue.Bell, listener net.Listener, logger *slog.Logger) error {
	organisms, err := c.catalog()
	if err != nil {
		return err
	}
	if err := s.store.Register(ctx, organisms.All()); err != nil {
		return fmt.Errorf("register the organisms: %w", err)
	}
	versions := reprocess.New(s.store, reprocess.Options{Ahead: c.VersionsAhead, Keep: c.KeepOldVersions, Logger: logger})
	work := queue.New(s.store, organisms, queue.WithBell(bell), queue.WithLogger(logger), queue.WithVersions(versions))
	s.url = "http://" + listener.Addr().String()
	who, err := c.identity(s.url, logger)
	if err != nil {
		return err
	}
	handler, err := s.wire(c, organisms, work, who, logger)
	if err != nil {
		return err
	}
	s.startLoops(ctx, c, work, versions, who, logger)
	s.handlers = newHandlers(who.handler(handler))
	s.http = httpapi.NewServer(s.handlers)
	s.http.ErrorLog = slog.NewLogLogger(logger.Handler(), slog.LevelWarn)
	go func() {
		defer close(s.failed)
		if err := s.http.Serve(httpapi.Patient(listener)); !errors.Is(err, http.ErrServerClosed) {
			s.err = fmt.Errorf("serve: %w", err)
		}
	}()
	return nil
}

// startLoops starts what runs beside the requests. A server that takes no writes
// has no keeper and fills nothing.
func (s *server) startLoops(ctx context.Context, c *Config, work *queue.Queue, versions *reprocess.Versions, who *identity, logger *slog.Logger) {
	ctx, s.endLoops = context.WithCancel(context.WithoutCancel(ctx))
	s.loops.Go(func() error { return work.Run(ctx) })
	s.loops.Go(func() error { return who.run(ctx) })
	if !c.ReadOnlyMode {
		keeper := queue.NewKeeper(s.store, queue.KeeperOptions{
			Retry: c.retry(), HistoryFor: c.historyFor(), Logger: logger, Ended: work.LeasesEnded,
		})
		s.loops.Go(func() error { return keeper.Run(ctx) })
		s.loops.Go(func() error { return versions.Run(ctx) })
	}
}

// wire makes the other rooms and connects them: door, domain, store.
func (s *server) wire(c *Config, organisms *organism.Catalog, work *queue.Queue, who *identity, logger *slog.Logger) (http.Handler, error) {
	options := submission.Options{
		AccessionPrefix: c.AccessionPrefix,
		DataUseTerms:    submission.TermsOptions{Enabled: *c.DataUseTerms.Enabled},
		KnowsUser:       who.directory.KnowsUser,
		Spool:           s.spool,
	}
	if urls := c.DataUseTerms.URLs; urls != nil {
		options.DataUseTerms.OpenURL, options.DataUseTerms.RestrictedURL = urls.Open, urls.Restricted
	}
	return httpapi.New(httpapi.Options{
		Queue:       work,
		Submissions: submission.New(s.store, organisms, options),
		Organisms:   organisms,
		Verifier:    who.verifier,
		Ready:       s.ready,
		Logger:      logger,
		Name:        c.Name,
		DebugMode:   c.DebugMode,
		Hosts:       c.hosts(),
		ReadOnly:    c.ReadOnlyMode,
	})
}

// hosts are where clients find the parts of the instance. For trying things out they are
// where the request went to, whatever the file says of the backend; so is a website that
// it says to be at the backend's address.
func (c *Config) hosts() httpapi.Hosts {
	hosts := httpapi.Hosts{Backend: c.BackendURL, Website: c.WebsiteURL, QueryEngines: map[seqlease.Organism]string{}}
	if c.Dev != nil {
		hosts.Backend = ""
		if c.WebsiteURL == c.BackendURL {
			hosts.Website = ""
		}
	} else if c.OIDC != nil {
		hosts.IdentityProvider = c.OIDC.base()
	}
	for key, address := range c.LapisURLs {
		hosts.QueryEngines[seqlease.Organism(key)] = address
	}
	return hosts
}

// ready says whether everything is there that requests need.
func (s *server) ready(ctx context.Context) error {
	if err := s.spool.Ready(); err != nil {
		return err
	}
	return s.store.Ready(ctx)
}

// URL is where the server can be reached.
func (s *server) URL() string { return s.url }

// Stop takes no more requests, answers claims that wait, lets what runs finish for
// a while, cuts the rest and lets it tidy up, and closes the store, also if ctx has
// ended. It returns why the server failed, if it did.
func (s *server) Stop(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	s.endLoops()
	err := s.shutDown(ctx)
	<-s.failed
	return errors.Join(s.err, err, s.handlers.wait(ctx), s.loops.Wait(), s.store.Close())
}

// shutDown ends all connections.
func (s *server) shutDown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return s.http.Close() // cuts what is left; the clients see a broken stream
	}
	return err
}
