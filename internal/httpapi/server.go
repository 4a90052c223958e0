package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/auth"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

// Limits of the transport (protocol §1).
const (
	maxHeaderBytes    = 20 << 10
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 2 * time.Minute
)

// Options are what the door needs. Those up to Logger must be set.
type Options struct {
	Queue       *queue.Queue
	Submissions *submission.Submissions
	Organisms   *organism.Catalog
	Verifier    auth.Verifier
	// Ready says whether requests can be served, by an error if not.
	Ready  func(context.Context) error
	Logger *slog.Logger

	// Name of the instance, shown to people; empty: "seqlease".
	Name string
	// DebugMode lets super users delete everything, and is told to clients.
	DebugMode bool
	// Hosts are told to clients.
	Hosts Hosts
	// ReadOnly refuses every write with 503.
	ReadOnly bool
	// StallTimeout is after how long without progress a client is cut off; 0: 60 s.
	StallTimeout time.Duration
}

// server is the door: a handler for every operation of openapi.yaml.
type server struct {
	queue       *queue.Queue
	submissions *submission.Submissions
	organisms   *organism.Catalog
	verifier    auth.Verifier
	ready       func(context.Context) error
	logger      *slog.Logger
	name        string
	debugMode   bool
	hosts       Hosts
	readOnly    bool
	stall       time.Duration

	description *description
	router      *router
	swagger     http.Handler
	budget      *budget
}

var _ ServerInterface = (*server)(nil)

// New returns the handler of the whole protocol.
func New(o Options) (http.Handler, error) {
	if o.Queue == nil || o.Submissions == nil || o.Organisms == nil || o.Verifier == nil || o.Ready == nil || o.Logger == nil {
		return nil, errors.New("http: an option is missing")
	}
	d, err := embedded()
	if err != nil {
		return nil, err
	}
	s := &server{
		queue: o.Queue, submissions: o.Submissions, organisms: o.Organisms, verifier: o.Verifier, ready: o.Ready,
		logger: o.Logger, name: o.Name, debugMode: o.DebugMode, hosts: o.Hosts, readOnly: o.ReadOnly, stall: o.StallTimeout,
		description: d, router: &router{}, swagger: newSwaggerUI(), budget: newBudget(),
	}
	if s.name == "" {
		s.name = "seqlease"
	}
	if s.stall == 0 {
		s.stall = stallTimeout
	}
	HandlerWithOptions(s, StdHTTPServerOptions{BaseRouter: s.router, ErrorHandlerFunc: s.failParameter})
	for _, pattern := range s.router.patterns {
		if _, described := d.access[describedAs(pattern)]; !described {
			return nil, fmt.Errorf("http: %s is not in openapi.yaml", pattern)
		}
	}
	return s, nil
}

// NewServer returns a server of the handler with the limits of the transport.
// There is no limit on how long an answer takes; clients that stall are cut off
// by the handler, if the server's listener is [Patient]. What net/http itself refuses, such as too long or malformed
// headers, it answers in plain text: it offers no way to change that.
func NewServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ConnContext:       withConnection,
	}
}

// failParameter answers a parameter that the generated code can't bind.
func (s *server) failParameter(w http.ResponseWriter, r *http.Request, err error) {
	var missing *RequiredParamError
	var malformed *InvalidParamFormatError
	var repeated *TooManyValuesForParamError
	switch {
	case errors.As(err, &missing):
		err = seqlease.InvalidParameter(missing.ParamName, missing.ParamName+" is missing")
	case errors.As(err, &malformed):
		err = seqlease.InvalidParameter(malformed.ParamName,
			malformed.ParamName+" can't be read: it must be one value of its type and in its range")
	case errors.As(err, &repeated):
		err = seqlease.InvalidParameter(repeated.ParamName, repeated.ParamName+" may be given once")
	}
	s.fail(w, r, err)
}
