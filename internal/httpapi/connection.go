package httpapi

import (
	"context"
	"net"
	"net/http"
)

// withConnection keeps the connection of a request for [resetOnClose].
func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey, c)
}

// resetOnClose has the connection of the request reset when it is closed. To a
// client of HTTP/1.0 the end of the connection is the end of the body, so that
// nothing else tells it that an answer was cut (L15).
func resetOnClose(r *http.Request) {
	if c, ok := r.Context().Value(connectionKey).(interface{ SetLinger(sec int) error }); ok {
		_ = c.SetLinger(0) // fails only if the connection is closed already
	}
}
