package httpapi

import (
	"net/http"
	"path"
	"slices"
	"strings"
)

// router finds the operation of a request. Paths that begin with a fixed word
// (groups, user, ...) and those that begin with an organism are kept in two
// muxes: in one, "/groups/{groupId}" and "/{organism}/get-sequences" would
// contradict each other. No organism may be called like a fixed word.
type router struct {
	fixed, organisms http.ServeMux
	words            map[string]bool // first words of the fixed paths, "" for the root
	patterns         []string
}

// organismPrefix begins the patterns of everything below an organism.
const organismPrefix = "/{organism}/"

// HandleFunc registers a pattern with a method. It is what the generated code calls.
func (rt *router) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	_, p, _ := strings.Cut(pattern, " ")
	rt.patterns = append(rt.patterns, pattern)
	if strings.HasPrefix(p, organismPrefix) {
		rt.organisms.HandleFunc(pattern, handler)
		return
	}
	if rt.words == nil {
		rt.words = map[string]bool{"": true}
	}
	rt.words[firstWord(strings.TrimSuffix(p, "{$}"))] = true
	rt.fixed.HandleFunc(pattern, handler)
}

// ServeHTTP serves a request that find has an operation for.
func (rt *router) ServeHTTP(w http.ResponseWriter, r *http.Request) { rt.mux(r).ServeHTTP(w, r) }

// find returns the operation of a request as the description names it, or else
// the status and, for a wrong method, the methods allowed. Paths are taken as
// they are: a redirect of a POST would lose its body. What is percent-encoded in
// them belongs to a name, such as a user's, and not to the way.
func (rt *router) find(r *http.Request) (operation string, status int, allow string) {
	escaped := r.URL.EscapedPath()
	clean := path.Clean(escaped)
	if strings.HasSuffix(escaped, "/") && clean != "/" {
		clean += "/"
	}
	if clean != escaped {
		return "", http.StatusNotFound, ""
	}
	handler, pattern := rt.mux(r).Handler(r)
	if slices.Contains(rt.patterns, pattern) {
		return describedAs(pattern), http.StatusOK, ""
	}
	outcome := &statusRecorder{header: http.Header{}}
	handler.ServeHTTP(outcome, r)
	if outcome.status == http.StatusMethodNotAllowed {
		return "", http.StatusMethodNotAllowed, outcome.header.Get("Allow")
	}
	return "", http.StatusNotFound, ""
}

func (rt *router) mux(r *http.Request) *http.ServeMux {
	if rt.words[firstWord(r.URL.Path)] {
		return &rt.fixed
	}
	return &rt.organisms
}

func firstWord(p string) string {
	word, _, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/")
	return word
}

// statusRecorder keeps the status and header that a handler answers with.
type statusRecorder struct {
	header http.Header
	status int
}

func (s *statusRecorder) Header() http.Header         { return s.header }
func (s *statusRecorder) WriteHeader(status int)      { s.status = status }
func (s *statusRecorder) Write(p []byte) (int, error) { return len(p), nil }

// describedAs turns a pattern into the form of the description.
func describedAs(pattern string) string { return strings.TrimSuffix(pattern, "{$}") }
