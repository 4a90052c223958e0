package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/spool"
)

// ProblemKind ties an error of the domain to what HTTP says for it.
type ProblemKind struct {
	Is     error  // what [errors.Is] finds
	Status int    // HTTP status
	Type   string // member "type" of the problem document
}

// problemURN begins the "type" of every kind of problem that is our own.
const problemURN = "urn:seqlease:problem:"

// The types of problems that carry lists, which are error types in the domain.
const (
	typeInvalidRequest = problemURN + "invalid-request"
	typeInvalidContent = problemURN + "invalid-content"
	typeRefused        = problemURN + "results-refused"
	typeBusy           = problemURN + "busy"
	typeBlank          = "about:blank"
)

// ProblemKinds lists the sentinels and what they become, first match first.
// Beside them, a [*seqlease.RefusedError] is 422 "results-refused" with the list
// refused, and a [*seqlease.InvalidError] is 400 "invalid-request" or 422
// "invalid-content" with the list problems; the list of a [*seqlease.ExplainedError]
// is its problem, if it has one. Anything else is a 500.
// The Go client is tested to turn each back into its sentinel.
func ProblemKinds() []ProblemKind {
	return []ProblemKind{
		{seqlease.ErrTooLarge, http.StatusRequestEntityTooLarge, problemURN + "too-large"},
		{seqlease.ErrUnknownOrganism, http.StatusBadRequest, problemURN + "unknown-organism"},
		{seqlease.ErrNotFound, http.StatusNotFound, problemURN + "not-found"},
		{seqlease.ErrForbidden, http.StatusForbidden, problemURN + "forbidden"},
		{seqlease.ErrConflict, http.StatusConflict, problemURN + "conflict"},
		{seqlease.ErrPipelineOutdated, http.StatusUnprocessableEntity, problemURN + "pipeline-outdated"},
		{seqlease.ErrPipelineUnknown, http.StatusUnprocessableEntity, problemURN + "pipeline-unknown"},
		{seqlease.ErrState, http.StatusUnprocessableEntity, problemURN + "entry-state"},
		{seqlease.ErrLeaseLost, http.StatusConflict, problemURN + "lease-lost"},
		{seqlease.ErrStorageFull, http.StatusInsufficientStorage, problemURN + "storage-full"},
		{seqlease.ErrBusy, http.StatusServiceUnavailable, typeBusy},
	}
}

// retryAfterSeconds is what a client is asked to wait when we are busy.
const retryAfterSeconds = "5"

// problemOf says what an error is to a client: one sentence without the chain of
// what the rooms were doing, which is for the log ([seqlease.Explanation]). Of an
// error that is none of ours, nothing is told.
func problemOf(err error) (p Problem, known bool) {
	var malformed *malformedBodyError
	if errors.As(err, &malformed) {
		p, known = problemOf(malformed.error)
		p.Refused = malformed.refused
		return p, known
	}
	var refused *seqlease.RefusedError
	if errors.As(err, &refused) {
		return Problem{
			Type: typeRefused, Status: http.StatusUnprocessableEntity,
			Detail: refused.Error(), Refused: refused.Refused,
		}, true
	}
	var invalid *seqlease.InvalidError
	if errors.As(err, &invalid) {
		p := Problem{Type: typeInvalidContent, Status: http.StatusUnprocessableEntity, Detail: invalid.Error()}
		if invalid.Kind == seqlease.InvalidRequest {
			p.Type, p.Status = typeInvalidRequest, http.StatusBadRequest
		}
		for _, f := range invalid.Problems {
			p.Problems = append(p.Problems, inputProblem(f))
		}
		return p, true
	}
	var status *statusError
	if errors.As(err, &status) {
		return Problem{Type: typeBlank, Status: status.status, Detail: status.detail}, true
	}
	for _, kind := range ProblemKinds() {
		if errors.Is(err, kind.Is) {
			p := Problem{Type: kind.Type, Status: kind.Status, Detail: seqlease.Explanation(err)}
			var explained *seqlease.ExplainedError
			if errors.As(err, &explained) && explained.Problem != nil {
				p.Problems = []InputProblem{inputProblem(*explained.Problem)}
			}
			return p, true
		}
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, spool.ErrFull) {
		return Problem{Type: typeBusy, Status: http.StatusServiceUnavailable}, true
	}
	return Problem{Type: typeBlank, Status: http.StatusInternalServerError}, false
}

func inputProblem(p seqlease.Problem) InputProblem {
	return InputProblem{
		File: p.File, Line: p.Line, Record: cut(p.Record, maxShown), Field: cut(p.Field, maxShown), Value: cut(p.Value, maxShown),
		Message: cut(p.Message, maxMessage),
	}
}

// statusError is a fault of the transport that no domain room knows.
type statusError struct {
	status int
	detail string
}

func (e *statusError) Error() string { return e.detail }

// errTooSlow is for clients that send next to nothing.
var errTooSlow = &statusError{http.StatusRequestTimeout, "the body came too slowly"}

func unsupportedMediaType(detail string) error {
	return &statusError{http.StatusUnsupportedMediaType, detail}
}

// fail answers with the problem document of err.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	p, known := problemOf(err)
	id := requestID(r.Context())
	switch {
	case errors.Is(err, context.Canceled) && r.Context().Err() != nil:
		// Nobody reads the answer; the access log tells that the client left.
		p = Problem{Type: typeBlank, Status: statusClientClosed, Detail: "the client left"}
	case !known:
		s.logger.LogAttrs(r.Context(), slog.LevelError, "request failed",
			slog.String("request_id", id), slog.String("path", r.URL.Path), slog.Any("error", err))
		p.Detail = "internal error; the server's log tells more under request id " + id
	case p.Type == typeBusy:
		s.logger.LogAttrs(r.Context(), slog.LevelWarn, "busy", slog.String("request_id", id), slog.Any("error", err))
		w.Header().Set("Retry-After", retryAfterSeconds)
		p.Detail = "the server could not do this in time; try again"
	case p.Status == http.StatusInsufficientStorage:
		s.logger.LogAttrs(r.Context(), slog.LevelError, "storage full", slog.String("request_id", id), slog.Any("error", err))
	case p.Status == http.StatusForbidden:
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if known {
		s.logger.LogAttrs(r.Context(), slog.LevelDebug, "refused", slog.String("request_id", id), slog.Any("error", err))
	}
	if len(p.Refused) > manyRefused {
		s.sendLong(w, func(w http.ResponseWriter) { writeProblem(w, r, p) })
		return
	}
	writeProblem(w, r, p)
}

// statusClientClosed is nginx' status for a client that left; it shows in the
// access log only.
const statusClientClosed = 499

// Bounds of an answer, whatever a message quotes. Every refused line is named, but where
// there are more than manyRefused, nobody reads each one's whole detail.
const (
	maxProblemDetail = 16 << 10
	maxMessage       = queue.MaxReasonBytes // of a problem or a refused line
	manyRefused      = 1000
	shortRefusal     = 200
)

func writeProblem(w http.ResponseWriter, r *http.Request, p Problem) {
	p.Title = http.StatusText(p.Status)
	p.Instance = cut(r.URL.Path, maxShown)
	p.Detail = cut(p.Detail, maxProblemDetail)
	p.Refused = shortened(p.Refused)
	h := w.Header()
	h.Del("ETag")
	h.Del("Content-Encoding")
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	// It is written piece by piece, and a text that quotes the request may hold
	// broken UTF-8. A client that left finds out by itself.
	_ = json.MarshalWrite(w, p, jsontext.AllowInvalidUTF8(true))
}

// shortened cuts the details of refusals, of many ones more. It returns none as an empty
// list.
func shortened(refused []seqlease.Refusal) []seqlease.Refusal {
	most := maxMessage
	if len(refused) > manyRefused {
		most = shortRefusal
	}
	for i := range refused {
		refused[i].Detail = cut(refused[i].Detail, most)
	}
	if refused == nil {
		return []seqlease.Refusal{}
	}
	return refused
}
