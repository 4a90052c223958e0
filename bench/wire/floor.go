package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/bench/genome"
	"github.com/seqlease/seqlease/bench/measure"
	"github.com/seqlease/seqlease/internal/auth"
	"github.com/seqlease/seqlease/internal/httpapi"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/spool"
	"github.com/seqlease/seqlease/internal/submission"
)

// inMemory is where temporary files cost no disk, where there is such a place.
const inMemory = "/dev/shm"

// handlerFloor is the same as [bareFloor] through the server's own handlers, called in this
// process without a network: what remains of a server whose store keeps nothing.
func handlerFloor(ctx context.Context, b *measure.Bench, o *organism.Organism, samples []genome.Sample, replies Replies) (sample measure.Sample, err error) {
	place := inMemory
	if _, err := os.Stat(place); err != nil {
		place = b.Dir
	}
	dir, err := os.MkdirTemp(place, "bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	handler, token, err := door(o, samples, dir)
	if err != nil {
		return nil, err
	}
	return onAllCores(ctx, b, func() func(context.Context) error {
		return (&loop{handler: handler, token: token, organism: o.Key, replies: replies}).once
	})
}

// door is the server's handler on a store that keeps nothing.
func door(o *organism.Organism, samples []genome.Sample, dir string) (_ http.Handler, token string, err error) {
	const secret = "of-no-server" // the handler has no address
	store, err := newCodecStore(o, samples)
	if err != nil {
		return nil, "", err
	}
	catalog, err := organism.NewCatalog(o)
	if err != nil {
		return nil, "", err
	}
	person := seqlease.Person{Name: "pipeline", Roles: []seqlease.Role{seqlease.PreprocessingPipeline}}
	verifier, err := auth.NewStatic([]auth.StaticToken{{SHA256: auth.Hash(secret), Person: person}})
	if err != nil {
		return nil, "", err
	}
	handler, err := httpapi.New(httpapi.Options{
		Queue: queue.New(store, catalog), Organisms: catalog, Verifier: verifier,
		Submissions: submission.New(nil, catalog, submission.Options{Spool: spool.NewDir(dir, 0)}),
		Ready:       func(context.Context) error { return nil }, Logger: slog.New(slog.DiscardHandler),
	})
	return handler, secret, err
}

// loop is one core's.
type loop struct {
	handler  http.Handler
	token    string
	organism seqlease.Organism
	replies  Replies
}

// once has a batch claimed and its results taken.
func (l *loop) once(ctx context.Context) error {
	var batch []claimed
	answer := &answer{line: func(line []byte) error {
		e, err := namesOf(line)
		batch = append(batch, e)
		return err
	}}
	form := fmt.Sprintf("numberOfSequenceEntries=%d&pipelineVersion=1", Batch)
	if err := l.call(ctx, answer, "extract-unprocessed-data", "application/x-www-form-urlencoded", strings.NewReader(form)); err != nil {
		return err
	}
	if len(batch) != Batch {
		return fmt.Errorf("got %d entries", len(batch))
	}
	body := &parts{}
	for _, e := range batch {
		body.list = l.replies.append(body.list, e)
	}
	return l.call(ctx, answer, "submit-processed-data?pipelineVersion=1", "application/x-ndjson", body)
}

func (l *loop) call(ctx context.Context, a *answer, path, contentType string, body io.Reader) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "/"+string(l.organism)+"/"+path, body)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+l.token)
	request.Header.Set("Content-Type", contentType)
	a.status, a.header = 0, http.Header{}
	l.handler.ServeHTTP(a, request)
	if a.status/100 != 2 || a.err != nil {
		return fmt.Errorf("%s: %d: %w", path, a.status, errors.Join(a.err, fmt.Errorf("%.300s", a.rest)))
	}
	return nil
}

// answer is a response that is read while it is written.
type answer struct {
	header http.Header
	status int
	line   func([]byte) error
	rest   []byte // of a line
	err    error
}

// Header is for the handler.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader notes the status.
func (a *answer) WriteHeader(status int) { a.status = status }

// Write reads the lines of a good answer.
func (a *answer) Write(p []byte) (int, error) {
	n := len(p)
	if a.status != http.StatusOK {
		a.rest = append(a.rest, p...)
		return n, nil
	}
	for a.err == nil {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			break
		}
		line := p[:end]
		if len(a.rest) > 0 {
			a.rest = append(a.rest, line...)
			line = a.rest
		}
		a.err = a.line(line)
		p, a.rest = p[end+1:], a.rest[:0]
	}
	a.rest = append(a.rest, p...)
	return n, a.err
}

// Flush has nothing to do.
func (a *answer) Flush() {}

// SetReadDeadline and SetWriteDeadline: nobody stalls here.
func (a *answer) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline is as SetReadDeadline.
func (a *answer) SetWriteDeadline(time.Time) error { return nil }
