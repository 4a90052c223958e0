package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/ndjson"
)

// ExternalMetadata is what an updater says of a released entry: values of the fields
// that the server's configuration has for it, or nulls. It replaces all that the
// updater has said of the entry before.
type ExternalMetadata struct {
	seqlease.AccessionVersion
	Metadata map[string]json.RawMessage `json:"externalMetadata"`
}

// SubmitExternalMetadata sends what an updater says of released entries, all or
// nothing of which is stored: at most 64 MiB and 100,000 entries. The error is a
// [*seqlease.InvalidError] with the first 20 problems, each with its line (from 1). The
// same may be sent again.
func (c *Client) SubmitExternalMetadata(ctx context.Context, o seqlease.Organism, updater string, entries iter.Seq[ExternalMetadata]) error {
	reader, writer := io.Pipe()
	written := make(chan struct{})
	go func() {
		defer close(written)
		writer.CloseWithError(writeExternal(writer, entries))
	}()
	answer, err := c.send(ctx, call{
		method: http.MethodPost, path: organismPath(o, "submit-external-metadata"),
		query:       url.Values{"externalMetadataUpdater": {updater}},
		contentType: "application/x-ndjson", body: reader,
	})
	_ = reader.Close() // the server may answer before it has read everything
	<-written
	if err != nil {
		return fmt.Errorf("submit external metadata of %s for %s: %w", o, updater, err)
	}
	answer.close()
	return nil
}

func writeExternal(to io.Writer, entries iter.Seq[ExternalMetadata]) error {
	lines := ndjson.NewWriter(to)
	for entry := range entries {
		line, err := jsonv2.Marshal(&entry)
		if err != nil {
			return fmt.Errorf("encode the metadata of %s: %w", entry.AccessionVersion, err)
		}
		if err := lines.WriteLine(line); err != nil {
			return err
		}
	}
	return nil
}
