package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/ndjson"
)

// Released describes a stream of released data.
type Released struct {
	Records     int64 // how many lines came
	ETag        string
	NotModified bool // nothing has changed since the given tag; no line came
}

// errCut is a stream that ended early although the connection says otherwise.
var errCut = errors.New("the stream is not whole")

// ReleasedData calls yield with each line of the released data, a JSON document
// valid until yield returns. An error of yield ends the call and is returned.
// Only without an error did everything come: the lines are counted against what
// the server announced (B065). ifNoneMatch is the tag of an earlier call, or
// empty.
func (c *Client) ReleasedData(ctx context.Context, o seqlease.Organism, ifNoneMatch string, yield func(line []byte) error) (Released, error) {
	released, err := c.releasedData(ctx, o, ifNoneMatch, yield)
	if err != nil {
		return released, fmt.Errorf("released data of %s: %w", o, err)
	}
	return released, nil
}

func (c *Client) releasedData(ctx context.Context, o seqlease.Organism, ifNoneMatch string, yield func(line []byte) error) (Released, error) {
	answer, err := c.send(ctx, call{
		method: http.MethodGet, path: organismPath(o, "get-released-data"), ifNoneMatch: ifNoneMatch,
	})
	if err != nil {
		return Released{}, err
	}
	defer answer.close()
	released := Released{ETag: answer.header.Get("ETag"), NotModified: answer.status == http.StatusNotModified}
	if released.NotModified {
		return released, nil
	}
	released.Records, err = countedLines(answer, yield)
	return released, err
}

// countedLines calls yield with each line of an answer, valid until yield returns. It
// counts the lines, which must be as many as the server announced.
func countedLines(a *answer, yield func(line []byte) error) (count int64, err error) {
	if err := expectType(a, "application/x-ndjson"); err != nil {
		return 0, err
	}
	announced, err := strconv.ParseInt(a.header.Get("x-total-records"), 10, 64)
	if err != nil {
		return 0, errors.New("the answer doesn't say in x-total-records how many lines it has")
	}
	lines := ndjson.NewReader(a.body, maxLine)
	for {
		line, err := lines.Next()
		switch {
		case errors.Is(err, io.EOF) && count != announced:
			return count, fmt.Errorf("%w: %d lines of %d came", errCut, count, announced)
		case err != nil:
			return count, endOf(err)
		}
		count++
		if err := yield(line); err != nil {
			return count, err
		}
	}
}

// endOf makes no error of the proper end of a stream.
func endOf(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: the connection ended early", errCut)
	}
	return err
}
