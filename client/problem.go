package client

import (
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/seqlease/seqlease"
)

// problemPrefix begins the type of every problem that is the server's own.
const problemPrefix = "urn:seqlease:problem:"

// maxProblem bounds the answer that describes a problem. A refused submission of
// 100,000 results lists them all.
const maxProblem = 64 << 20

// ProblemError is an answer that says that the call went wrong. It wraps the
// error of the root package that the problem stands for, such as
// [seqlease.ErrNotFound], a [*seqlease.InvalidError] or a
// [*seqlease.RefusedError], if there is one.
type ProblemError struct {
	Status     int           // HTTP status
	Type       string        // of the problem document; empty if there was none
	Title      string        // of the problem document, else the name of the status
	Detail     string        // for people; empty if there was no problem document
	RequestID  string        // to find the request in the server's log
	RetryAfter time.Duration // how long the server asks to wait; 0: it doesn't
	cause      error
}

// Error says what the server said.
func (e *ProblemError) Error() string {
	text := "the server answered " + strconv.Itoa(e.Status) + " " + e.Title
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	if e.RequestID != "" && e.Status >= http.StatusInternalServerError {
		text += " (request " + e.RequestID + ")"
	}
	return text
}

// Unwrap returns the root package's error, or nil.
func (e *ProblemError) Unwrap() error { return e.cause }

// Temporary says whether the same call may succeed later without anybody
// changing it: the server or a proxy before it is busy, away or broken.
func (e *ProblemError) Temporary() bool {
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	default:
		return e.Status >= http.StatusInternalServerError
	}
}

// Internal says whether the server has a fault that may be due to what it was sent.
func (e *ProblemError) Internal() bool { return e.Status == http.StatusInternalServerError }

// problemDocument is what the server writes (RFC 9457).
type problemDocument struct {
	Type     string             `json:"type"`
	Title    string             `json:"title"`
	Detail   string             `json:"detail"`
	Problems []inputProblem     `json:"problems"`
	Refused  []seqlease.Refusal `json:"refused"`
}

type inputProblem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Record  string `json:"record"`
	Field   string `json:"field"`
	Value   string `json:"value"`
	Message string `json:"message"`
}

// problemOf makes an error of a response with an unhappy status. A body that is
// no problem document, such as a proxy's HTML page, isn't shown (B091).
func problemOf(response *http.Response, body io.Reader) error {
	e := &ProblemError{
		Status: response.StatusCode, Title: http.StatusText(response.StatusCode),
		RequestID: response.Header.Get("X-Request-Id"), RetryAfter: retryAfter(response.Header),
	}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	var document problemDocument
	if kind == "application/problem+json" {
		// A document that can't be read leaves the status, which says enough.
		if json.UnmarshalRead(io.LimitReader(body, maxProblem), &document) == nil {
			e.Type, e.Detail = document.Type, document.Detail
			if document.Title != "" {
				e.Title = document.Title
			}
		}
	}
	e.cause = causeOfProblem(e, document)
	return e
}

func causeOfProblem(e *ProblemError, document problemDocument) error {
	name, _ := strings.CutPrefix(e.Type, problemPrefix)
	switch name {
	case "results-refused":
		return &seqlease.RefusedError{Refused: document.Refused}
	case "invalid-request":
		return invalid(seqlease.InvalidRequest, document)
	case "invalid-content":
		return invalid(seqlease.InvalidContent, document)
	}
	if sentinel := sentinels()[name]; sentinel != nil {
		return sentinel
	}
	return nil
}

// sentinels are the errors that need no parts, by the name of the problem.
func sentinels() map[string]error {
	return map[string]error{
		"unknown-organism":  seqlease.ErrUnknownOrganism,
		"pipeline-outdated": seqlease.ErrPipelineOutdated,
		"pipeline-unknown":  seqlease.ErrPipelineUnknown,
		"entry-state":       seqlease.ErrState,
		"lease-lost":        seqlease.ErrLeaseLost,
		"conflict":          seqlease.ErrConflict,
		"not-found":         seqlease.ErrNotFound,
		"forbidden":         seqlease.ErrForbidden,
		"too-large":         seqlease.ErrTooLarge,
		"busy":              seqlease.ErrBusy,
		"storage-full":      seqlease.ErrStorageFull,
	}
}

func invalid(kind seqlease.InvalidKind, document problemDocument) error {
	e := &seqlease.InvalidError{Kind: kind}
	for _, p := range document.Problems {
		e.Add(seqlease.Problem{File: p.File, Line: p.Line, Record: p.Record, Field: p.Field, Value: p.Value, Message: p.Message})
	}
	if len(document.Problems) == 0 {
		e.Add(seqlease.Problem{Message: document.Detail})
	}
	return e
}

// retryAfter reads the form with seconds; servers and proxies that send a date
// are taken as saying nothing, because their clock isn't ours.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.ParseUint(h.Get("Retry-After"), 10, 16)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
