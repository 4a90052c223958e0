package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"golang.org/x/sync/semaphore"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/ndjson"
	"github.com/seqlease/seqlease/internal/queue"
)

// SubmitProcessedData takes in results line by line; the queue keeps only their
// compressed form until all have come, and then stores all or none (L5).
func (s *server) SubmitProcessedData(w http.ResponseWriter, r *http.Request, o Organism, params SubmitProcessedDataParams) {
	if err := checkOnRefused(params.OnRefused); err != nil {
		s.fail(w, r, err)
		return
	}
	if mediaType(r) != "application/x-ndjson" {
		s.fail(w, r, unsupportedMediaType("send the results as Content-Type: application/x-ndjson"))
		return
	}
	person, _ := personOf(r.Context())
	acceptance, err := s.queue.NewAcceptance(r.Context(), queue.AcceptanceRequest{
		Organism: o, PipelineVersion: params.PipelineVersion, SubmittedBy: person.Name,
	})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if err := s.takeIn(r.Context(), r.Body, acceptance); err != nil {
		s.fail(w, r, err)
		return
	}
	if err := acceptance.Commit(r.Context()); err != nil {
		s.fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func checkOnRefused(onRefused *string) error {
	switch orZero(onRefused) {
	case "", "abort":
		return nil
	case "skip":
		return seqlease.InvalidParameter("onRefused", "onRefused=skip is not supported by this server: leave it out; with any refused line nothing is stored")
	default:
		return seqlease.InvalidParameter("onRefused", fmt.Sprintf("onRefused can be abort, not %q", *onRefused))
	}
}

// takeIn reads the lines of a body.
func (s *server) takeIn(ctx context.Context, body io.Reader, acceptance *queue.Acceptance) error {
	memory := &reservation{pool: s.resultMemory}
	defer memory.release()
	lines := ndjson.NewReader(limited(body, maxResultBody, "result body"), ndjson.DefaultLimit)
	lines.OnResize = func(size int) error { return memory.resize(ctx, size) }
	for {
		line, err := lines.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return lineError(err)
		}
		if err := addLine(acceptance, lines.Line(), line); err != nil {
			return err
		}
	}
}

func addLine(acceptance *queue.Acceptance, number int, line []byte) error {
	decoded, err := decodeResult(number, line)
	if err != nil {
		return err
	}
	result := decoded.result
	if decoded.attemptFault != "" {
		return acceptance.Refuse(number, result.AccessionVersion, decoded.attemptFault)
	}
	return acceptance.Add(number, &result)
}

// lineError says what a failed read of lines means.
func lineError(err error) error {
	var tooLong *ndjson.LineTooLongError
	if errors.As(err, &tooLong) {
		return seqlease.Explain(seqlease.ErrTooLarge, "the result body is too large: %v", tooLong)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return bodyError(err)
}

// reservation is one request's share of the memory for result lines. It is given
// up before more is asked for, so that no two requests wait for each other; what
// waits uncounted is at most a buffer of longLine.
type reservation struct {
	pool *semaphore.Weighted
	held int64
}

// A buffer over longLine takes longLineShare at once, as much as the longest line
// needs, so that few long lines are read at a time and the others wait while
// their buffers are small.
const (
	longLine      = 1 << 20
	longLineShare = resultMemory / 2
)

// resize makes the share fit a line buffer of the given size.
func (m *reservation) resize(ctx context.Context, size int) error {
	want := int64(size)
	if size > longLine {
		want = longLineShare
	}
	if want <= m.held {
		m.pool.Release(m.held - want)
		m.held = want
		return nil
	}
	m.release()
	if err := m.pool.Acquire(ctx, want); err != nil {
		return fmt.Errorf("wait for memory: %w", err)
	}
	m.held = want
	return nil
}

func (m *reservation) release() {
	m.pool.Release(m.held)
	m.held = 0
}
