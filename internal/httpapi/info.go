package httpapi

import (
	"context"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/swaggest/swgui"
	"github.com/swaggest/swgui/v5emb"
)

// readyTimeout bounds a readiness probe.
const readyTimeout = 5 * time.Second

// documentationPath is where people find the description of the protocol.
const documentationPath = "/swagger-ui/"

// GetInfo tells what this server is, as a page for browsers.
func (s *server) GetInfo(w http.ResponseWriter, r *http.Request) {
	if prefersHTML(r.Header.Get("Accept")) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		name := html.EscapeString(s.name)
		_, _ = fmt.Fprintf(w, "<!DOCTYPE html>\n<html lang=\"en\"><head><title>%s</title></head>\n"+
			"<body><h1>%s</h1><p>The server runs. <a href=\".%s\">How to speak to it</a></p></body></html>\n", name, name, documentationPath)
		return
	}
	writeJSON(w, ServerInfo{Name: s.name, Status: "running", Documentation: documentationPath, IsInDebugMode: s.debugMode})
}

// prefersHTML says whether text/html comes before any form of JSON.
func prefersHTML(accept string) bool {
	page := strings.Index(accept, "text/html")
	data := strings.Index(accept, "application/json")
	return page >= 0 && (data < 0 || page < data)
}

// GetHealth answers as readiness does.
func (s *server) GetHealth(w http.ResponseWriter, r *http.Request) { s.GetReadyz(w, r) }

// GetHealthLiveness answers as /healthz does.
func (s *server) GetHealthLiveness(w http.ResponseWriter, r *http.Request) { s.GetHealthz(w, r) }

// GetHealthReadiness answers as /readyz does.
func (s *server) GetHealthReadiness(w http.ResponseWriter, r *http.Request) { s.GetReadyz(w, r) }

// GetHealthz says that the process answers.
func (s *server) GetHealthz(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, Health{Status: "UP"})
}

// GetReadyz says whether the store answers.
func (s *server) GetReadyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	if err := s.ready(ctx); err != nil {
		s.logger.LogAttrs(r.Context(), slog.LevelWarn, "not ready", slog.Any("error", err))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(`{"status":"DOWN"}`)) // a probe that left asks again
		return
	}
	writeJSON(w, Health{Status: "UP"})
}

// GetOpenAPI serves the description of the protocol.
func (s *server) GetOpenAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(s.description.json) // a client that left finds out by itself
}

// GetAPIDocs serves it by the name that existing clients know.
func (s *server) GetAPIDocs(w http.ResponseWriter, r *http.Request) { s.GetOpenAPI(w, r) }

// GetFavicon spares browsers an error.
func (s *server) GetFavicon(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusNoContent)
}

// swaggerCSP is what the page's own inline script and style need.
const swaggerCSP = "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; " +
	"img-src 'self' data:; frame-ancestors 'none'"

// newSwaggerUI returns the page and its files, all from this program.
func newSwaggerUI() http.Handler {
	return v5emb.NewHandlerWithConfig(swgui.Config{
		Title: "seqlease", SwaggerJSON: "../openapi.json", BasePath: "./", InternalBasePath: documentationPath,
	})
}

// GetSwaggerUI serves the page.
func (s *server) GetSwaggerUI(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", swaggerCSP)
	s.swagger.ServeHTTP(w, r)
}

// GetSwaggerUIFile serves a file of the page.
func (s *server) GetSwaggerUIFile(w http.ResponseWriter, r *http.Request, file string) {
	if file == "index.html" {
		r = r.Clone(r.Context())
		r.URL.Path = documentationPath
		s.GetSwaggerUI(w, r)
		return
	}
	s.swagger.ServeHTTP(w, r)
}

// writeJSON answers 200 with a document that is small and can be encoded.
func writeJSON(w http.ResponseWriter, document any) {
	body, err := json.Marshal(document, json.Deterministic(true))
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", document, err))
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // a client that left finds out by itself
}
