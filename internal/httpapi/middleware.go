package httpapi

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/seqlease/seqlease"
)

// maxRequestID is the longest request id that is taken over from a client.
const maxRequestID = 128

// contextKey is the type of the keys under which a request's facts are kept.
type contextKey int

const (
	requestIDKey contextKey = iota
	personKey
	connectionKey
)

func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey).(string)
	return id
}

// personOf returns who the request comes from; ok is false without a token.
func personOf(ctx context.Context) (p seqlease.Person, ok bool) {
	p, ok = ctx.Value(personKey).(seqlease.Person)
	return p, ok
}

// ServeHTTP gives the request its id, answers what needs no operation, finds
// the operation, asks who is there, and only then lets anything of the request
// be looked at.
func (s *server) ServeHTTP(writer http.ResponseWriter, r *http.Request) {
	began := time.Now()
	id := r.Header.Get("X-Request-Id")
	if !isPlainWord(id) {
		id = newRequestID()
	}
	r = r.WithContext(context.WithValue(r.Context(), requestIDKey, id))
	w := newResponse(writer, s.stall)
	w.unread = r.ContentLength != 0
	setCommonHeaders(w.Header(), id)
	fault := s.serve(w, r)
	if w.status == 0 && fault == nil {
		w.status = http.StatusOK // net/http sends it for a handler that sent nothing
		w.dismissBody()
	}
	s.logAccess(r, w, time.Since(began), fault)
	if fault != nil {
		resetOnClose(r)
		panic(http.ErrAbortHandler) // the client sees a cut answer, never a short one (L15)
	}
}

// serve answers the request. A panic before anything was sent becomes a 500; any
// other is returned.
func (s *server) serve(w *response, r *http.Request) (fault any) {
	defer func() { fault = s.afterPanic(w, r, recover()) }()
	if r.Method == http.MethodOptions {
		answerOptions(w, r)
		return nil
	}
	s.dispatch(w, r)
	return nil
}

func (s *server) afterPanic(w *response, r *http.Request, fault any) any {
	if fault == nil || fault == http.ErrAbortHandler { //nolint:errorlint // a panic value, compared as net/http does
		return fault
	}
	err := fmt.Errorf("panic: %v\n%s", fault, debug.Stack())
	if w.status == 0 {
		s.fail(w, r, err)
		return nil
	}
	s.logger.LogAttrs(r.Context(), slog.LevelError, "panic in mid-answer", slog.String("request_id", requestID(r.Context())), slog.Any("error", err))
	return fault
}

// dispatch calls the operation of the request if there is one and the caller may.
func (s *server) dispatch(w *response, r *http.Request) {
	operation, status, allow := s.router.find(r)
	need := s.description.access[operation]
	if operation == "" {
		need = s.accessToPath(r, allow)
	}
	r, ok := s.authorise(w, r, need)
	if !ok {
		return
	}
	if s.readOnly && isWrite(r.Method) {
		s.fail(w, r, &statusError{http.StatusServiceUnavailable, "the server is in read-only mode; reading works"})
		return
	}
	switch status {
	case http.StatusOK:
		if produced := s.description.produces[operation]; !acceptable(r.Header.Values("Accept"), produced) {
			s.fail(w, r, errNotAcceptable(r, produced))
			return
		}
		defer w.release()
		if err := s.prepareBody(w, r, operation); err != nil {
			s.fail(w, r, err)
			return
		}
		s.router.ServeHTTP(w, r)
	case http.StatusMethodNotAllowed:
		w.Header().Set("Allow", allow)
		s.fail(w, r, &statusError{status, "this path takes " + allow + ", not " + r.Method})
	default:
		s.fail(w, r, &statusError{status, "there is nothing at " + r.URL.Path + "; see /openapi.json"})
	}
}

// accessToPath is what it takes to be told that there is nothing at a path, or
// nothing but the methods allow: the roles that every operation there asks for. Who may
// not call them isn't told of them.
func (s *server) accessToPath(r *http.Request, allow string) access {
	path := r.URL.Path
	if word := firstWord(path); word == "admin" || word == "debug" {
		return access{roles: []seqlease.Role{seqlease.SuperUser}}
	}
	isRead := r.Method == http.MethodGet || r.Method == http.MethodHead
	if path == "/" || s.isPublicArea(path) || isRead && strings.HasPrefix(path, "/files/get/") {
		return access{public: true}
	}
	var roles []seqlease.Role
	for i, method := range strings.Split(allow, ", ") {
		other := r.WithContext(r.Context())
		other.Method = method
		operation, _, _ := s.router.find(other)
		of := s.description.access[operation].roles
		if i == 0 {
			roles = slices.Clone(of)
		}
		roles = slices.DeleteFunc(roles, func(role seqlease.Role) bool { return !slices.Contains(of, role) })
	}
	return access{roles: roles}
}

// isPublicArea says whether nothing below the path's first word needs a token,
// not even to be told that there is nothing.
func (s *server) isPublicArea(path string) bool {
	switch firstWord(path) {
	case "actuator", "api-docs", "api-docs.yaml", "error", "favicon.ico", "healthz", "openapi.json", "readyz", "swagger-ui":
		return true
	default:
		return false
	}
}

func isWrite(method string) bool {
	switch method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return true
	default:
		return false
	}
}

func setCommonHeaders(h http.Header, id string) {
	h.Set("X-Request-Id", id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", "ETag, X-Request-Id, X-Total-Records, Content-Disposition, Retry-After, WWW-Authenticate")
}

// answerOptions answers CORS preflights: any origin and header may ask, since
// tokens travel in a header that no page can send without having one.
func answerOptions(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE, OPTIONS, HEAD")
	h.Set("Access-Control-Max-Age", "3600")
	if asked := r.Header.Values("Access-Control-Request-Headers"); len(asked) > 0 {
		h.Set("Access-Control-Allow-Headers", strings.Join(asked, ", "))
		h.Set("Vary", "Access-Control-Request-Headers")
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *server) logAccess(r *http.Request, w *response, took time.Duration, fault any) {
	level := slog.LevelInfo
	if s.isPublicArea(r.URL.Path) {
		level = slog.LevelDebug // probes come every few seconds
	}
	s.logger.LogAttrs(r.Context(), level, "request",
		slog.String("request_id", requestID(r.Context())), slog.String("method", r.Method), slog.String("path", r.URL.Path),
		slog.Int("status", w.status), slog.Int64("bytes", w.bytes), slog.Duration("took", took),
		slog.String("user", w.user), slog.Bool("aborted", fault != nil))
}

// isPlainWord says whether a client's request id can be repeated in headers and
// logs: visible ASCII of a bounded length.
func isPlainWord(id string) bool {
	if id == "" || len(id) > maxRequestID {
		return false
	}
	return strings.IndexFunc(id, func(c rune) bool { return c <= ' ' || c > '~' }) < 0
}

// newRequestID draws a random UUID (version 4).
func newRequestID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never returns an error
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}
