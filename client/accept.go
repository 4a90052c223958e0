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
	reader, writer := io.Pipe()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		writer.CloseWithError(writeResults(writer, results))
	}()
	answer, err := c.send(ctx, call{
		method: http.MethodPost, path: organismPath(o, "submit-processed-data"),
		query:       url.Values{"pipelineVersion": {strconv.FormatInt(int64(v), 10)}},
		contentType: "application/x-ndjson", body: reader,
	})
	_ = reader.Close() // the server may answer before it has read everything
	<-sent
	if err != nil {
		return fmt.Errorf("submit results of %s v%d: %w", o, v, err)
	}
	answer.close()
	return nil
}

func writeResults(to io.Writer, results iter.Seq[seqlease.Result]) error {
	lines := ndjson.NewWriter(to)
	for result := range results {
		line, err := json.Marshal(&result)
		if err != nil {
			return fmt.Errorf("encode the result of %s: %w", result.AccessionVersion, err)
		}
		if err := lines.WriteLine(line); err != nil {
			return err
		}
	}
	return nil
}
