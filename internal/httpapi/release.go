package httpapi

import (
	"io"
	"log/slog"
	"net/http"
	"strconv"
)

// ndjsonType is the type of every stream of lines. Clients that guess a charset
// guess wrong.
const ndjsonType = "application/x-ndjson; charset=utf-8"

// GetReleasedData streams what is released, which is read at the database's
// speed into a spool file and from there at the client's (L12).
func (s *server) GetReleasedData(w http.ResponseWriter, r *http.Request, o Organism, params GetReleasedDataParams) {
	compressed, err := wantsZstd(params.Compression)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	release, err := s.submissions.Released(r.Context(), o, knownTag(r))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer release.Close()
	w.Header().Set("ETag", release.ETag)
	if release.NotModified {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body, err := release.Open(r.Context(), compressed)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer func() { _ = body.Close() }() // nothing of it is needed any more
	s.streamLines(w, r, body, release.Count, compressed)
}

// streamLines sends a spooled body of so many lines.
func (s *server) streamLines(w http.ResponseWriter, r *http.Request, body io.Reader, lines int64, compressed bool) {
	h := w.Header()
	h.Set("Content-Type", ndjsonType)
	h.Set("X-Total-Records", strconv.FormatInt(lines, 10))
	if compressed {
		h.Set("Content-Encoding", "zstd")
	}
	s.stream(w, r, body)
}

// stream copies a spooled answer to the client. If either side fails, the
// answer is cut (L15).
func (s *server) stream(w http.ResponseWriter, r *http.Request, body io.Reader) {
	if r.Method == http.MethodHead {
		return
	}
	if _, err := io.Copy(w, body); err != nil {
		s.abort(r, err)
	}
}

// abort ends an answer that has begun so that the client sees it cut.
func (s *server) abort(r *http.Request, err error) {
	level := slog.LevelError
	if r.Context().Err() != nil {
		level = slog.LevelInfo // the client left
	}
	s.logger.LogAttrs(r.Context(), level, "answer cut", slog.String("request_id", requestID(r.Context())), slog.Any("error", err))
	panic(http.ErrAbortHandler)
}
