package httpapi

import (
	"errors"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// What the server does to lines between the socket and the queue, for whoever measures
// that alone.

// AppendClaimed appends the line of a claimed entry to dst, as it goes out.
func AppendClaimed(dst []byte, lease queue.Lease, e queue.Entry) ([]byte, error) {
	return appendEntry(dst, lease, e)
}

// ResultDecoder reads lines of results as they come in. It is for one goroutine; the
// zero value is ready.
type ResultDecoder struct{ lines lineDecoder }

// Decode reads a line, which has a number from 1. The result is its own: line may be
// written over.
func (d *ResultDecoder) Decode(number int, line []byte) (*seqlease.Result, error) {
	decoded, err := d.lines.decode(number, line)
	if err == nil && decoded.attemptFault != "" {
		err = errors.New(decoded.attemptFault)
	}
	return &decoded.result, err
}
