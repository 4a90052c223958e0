package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/auth"
)

// authorise finds out who is there and whether they may call an operation that
// needs the given access. If not, it has answered. It looks at nothing but
// method and token.
func (s *server) authorise(w *response, r *http.Request, need access) (*http.Request, bool) {
	token, sent := bearerToken(r)
	if !sent {
		if need.public {
			return r, true
		}
		refuseWithoutToken(w, r)
		return r, false
	}
	person, err := s.verify(r, token)
	switch {
	case errors.Is(err, auth.ErrInvalidToken):
		s.refuseToken(w, r, err)
		return r, false
	case err != nil:
		s.fail(w, r, fmt.Errorf("check the token: %w: %w", seqlease.ErrBusy, err))
		return r, false
	case !need.allows(person):
		challenge(w, http.StatusForbidden, "insufficient_scope", "the operation needs the role "+string(need.roles[0]))
		return r, false
	}
	w.user = person.Name
	return r.WithContext(context.WithValue(r.Context(), personKey, person)), true
}

// verify finds out who the token stands for. A request with two headers could be two
// people to two programs on its way.
func (s *server) verify(r *http.Request, token string) (seqlease.Person, error) {
	if len(r.Header.Values("Authorization")) > 1 {
		return seqlease.Person{}, auth.ErrMalformed
	}
	return s.verifier.Verify(r.Context(), token)
}

// refuseToken answers a token that doesn't count with the reason, which holds
// nothing of the token.
func (s *server) refuseToken(w http.ResponseWriter, r *http.Request, err error) {
	reason := auth.ErrMalformed
	_ = errors.As(err, &reason)
	s.logger.LogAttrs(r.Context(), slog.LevelDebug, "token refused",
		slog.String("request_id", requestID(r.Context())), slog.String("reason", string(reason)))
	challenge(w, http.StatusUnauthorized, "invalid_token", string(reason))
}

// bearerToken returns the token of the request. A header of another scheme is
// no token.
func bearerToken(r *http.Request) (token string, sent bool) {
	for _, header := range r.Header.Values("Authorization") {
		scheme, token, _ := strings.Cut(header, " ")
		if strings.EqualFold(scheme, "Bearer") {
			return strings.TrimSpace(token), true
		}
	}
	return "", false
}

// refuseWithoutToken answers reads with 401 and writes with 403, as clients of
// the protocol expect.
func refuseWithoutToken(w http.ResponseWriter, r *http.Request) {
	status := http.StatusForbidden
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		status = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	writeProblem(w, r, Problem{Type: typeBlank, Status: status, Detail: "send a token: Authorization: Bearer ..."})
}

// challenge answers with an error of RFC 6750 and an empty body.
func challenge(w http.ResponseWriter, status int, code, reason string) {
	w.Header().Set("WWW-Authenticate", fmt.Sprintf(
		`Bearer error=%q, error_description=%q, error_uri="https://tools.ietf.org/html/rfc6750#section-3.1"`, code, reason))
	w.WriteHeader(status)
}
