package client

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/ndjson"
)

// SubmitResults sends results, all or none of which are stored. The error is a
// [*seqlease.RefusedError] with every refused line if there are any. The same
// results may be sent again, for instance if the answer was lost (L6).
func (c *Client) SubmitResults(ctx context.Context, o seqlease.Organism, v seqlease.PipelineVersion, results iter.Seq[seqlease.Result]) error {
	answer, _, err := c.sendResults(ctx, o, v, results, "")
	if err != nil {
		return fmt.Errorf("submit results of %s v%d: %w", o, v, err)
	}
	answer.close()
	return nil
}

// SubmitGoodResults sends results, of which the good ones are stored though
// others are refused. Those are an error, so that nobody overlooks them (B068): a
// [*PartlyRefusedError] with every refused line. Without an error every result is
// stored. The same results may be sent again.
func (c *Client) SubmitGoodResults(ctx context.Context, o seqlease.Organism, v seqlease.PipelineVersion, results iter.Seq[seqlease.Result]) error {
	if err := c.submitGoodResults(ctx, o, v, results); err != nil {
		return fmt.Errorf("submit results of %s v%d: %w", o, v, err)
	}
	return nil
}

func (c *Client) submitGoodResults(ctx context.Context, o seqlease.Organism, v seqlease.PipelineVersion, results iter.Seq[seqlease.Result]) error {
	answer, sent, err := c.sendResults(ctx, o, v, results, "skip")
	if err != nil {
		return err
	}
	defer answer.close()
	if err := expectType(answer, "application/json"); err != nil {
		return err
	}
	var outcome struct {
		Stored  int                `json:"stored"`
		Refused []seqlease.Refusal `json:"refused"`
	}
	if err := json.UnmarshalRead(io.LimitReader(answer.body, maxProblem), &outcome); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if got := outcome.Stored + len(outcome.Refused); got != sent {
		return fmt.Errorf("the answer accounts for %d results, but %d were sent", got, sent)
	}
	if len(outcome.Refused) > 0 {
		return &PartlyRefusedError{Stored: outcome.Stored, Refused: outcome.Refused}
	}
	return nil
}

// PartlyRefusedError lists every refused line of a submission whose other lines
// were stored. It is [seqlease.ErrLeaseLost] to [errors.Is] if any line was
// refused for a lost lease.
type PartlyRefusedError struct {
	Stored  int                // lines that are stored
	Refused []seqlease.Refusal // in line order
}

// Error says how many lines were refused and names the first.
func (e *PartlyRefusedError) Error() string {
	first := e.Refused[0]
	where := fmt.Sprintf("line %d", first.Line)
	if first.Accession != "" {
		where += fmt.Sprintf(" (%s)", first.AccessionVersion)
	}
	return fmt.Sprintf("%d of %d result lines were refused and the others stored; the first: %s: %s: %s",
		len(e.Refused), e.Stored+len(e.Refused), where, first.Reason, first.Detail)
}

// Is reports a lost lease among the refusals.
func (e *PartlyRefusedError) Is(target error) bool {
	return (&seqlease.RefusedError{Refused: e.Refused}).Is(target)
}

// sendResults sends the results and says how many they were. An empty onRefused
// is the server's default.
func (c *Client) sendResults(ctx context.Context, o seqlease.Organism, v seqlease.PipelineVersion,
	results iter.Seq[seqlease.Result], onRefused string,
) (a *answer, sent int, err error) {
	query := url.Values{"pipelineVersion": {strconv.FormatInt(int64(v), 10)}}
	if onRefused != "" {
		query.Set("onRefused", onRefused)
	}
	reader, writer := io.Pipe()
	written := make(chan int)
	go func() {
		n, err := writeResults(writer, results)
		writer.CloseWithError(err)
		written <- n
	}()
	a, err = c.send(ctx, call{
		method: http.MethodPost, path: organismPath(o, "submit-processed-data"), query: query,
		contentType: "application/x-ndjson", body: reader,
	})
	_ = reader.Close() // the server may answer before it has read everything
	return a, <-written, err
}

func writeResults(to io.Writer, results iter.Seq[seqlease.Result]) (n int, err error) {
	lines := ndjson.NewWriter(to)
	for result := range results {
		line, err := json.Marshal(&result)
		if err != nil {
			return n, fmt.Errorf("encode the result of %s: %w", result.AccessionVersion, err)
		}
		if err := lines.WriteLine(line); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
