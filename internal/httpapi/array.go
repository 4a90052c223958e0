package httpapi

import (
	"iter"
	"net/http"

	json "github.com/go-json-experiment/json"
)

// arrayAtOnce is about how many bytes of a list are made before they are sent.
const arrayAtOnce = 32 << 10

// writeArray answers with a list as a JSON array, piece by piece: it may be long.
// An error that comes before anything was sent is told as any other; a later one
// cuts the answer (L15).
func writeArray[T any](s *server, w http.ResponseWriter, r *http.Request, items iter.Seq2[T, error]) {
	text, sent := []byte{'['}, false
	separator := ""
	for item, err := range items {
		switch {
		case err != nil && sent:
			s.abort(r, err)
		case err != nil:
			s.fail(w, r, err)
			return
		}
		element, err := json.Marshal(item)
		if err != nil {
			s.abort(r, err)
		}
		text = append(append(text, separator...), element...)
		separator = ","
		if len(text) < arrayAtOnce {
			continue
		}
		if !sent {
			w.Header().Set("Content-Type", "application/json")
			sent = true
		}
		if _, err := w.Write(text); err != nil {
			return // a client that left finds out by itself
		}
		text = text[:0]
	}
	if !sent {
		w.Header().Set("Content-Type", "application/json")
	}
	_, _ = w.Write(append(text, ']'))
}

// converted yields what convert makes of each item.
func converted[T, U any](items iter.Seq2[T, error], convert func(T) U) iter.Seq2[U, error] {
	return func(yield func(U, error) bool) {
		for item, err := range items {
			if !yield(convert(item), err) {
				return
			}
		}
	}
}
