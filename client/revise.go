package client

import (
	"context"
	"fmt"
	"mime/multipart"

	"github.com/seqlease/seqlease"
)

// Revision is an upload of new versions of released entries.
type Revision struct {
	Organism seqlease.Organism
	// Metadata has a column accession that says what each row revises.
	Metadata File
	// Sequences has no Content for organisms without sequences.
	Sequences File
	// IdempotencyKey is that of [Submission].
	IdempotencyKey string
}

// Revise uploads new versions of released entries and returns them in the order of
// the metadata file. Nothing is stored if the error is a [*seqlease.InvalidError],
// [seqlease.ErrState] (an accession doesn't exist, or its highest version isn't
// released) or [seqlease.ErrForbidden].
func (c *Client) Revise(ctx context.Context, r Revision) ([]seqlease.SubmissionIDMapping, error) {
	mappings, err := c.upload(ctx, organismPath(r.Organism, "revise"), r.IdempotencyKey, func(form *multipart.Writer) error {
		return writeFiles(form, r.Metadata, r.Sequences)
	})
	if err != nil {
		return nil, fmt.Errorf("revise %s by %s: %w", r.Organism, r.Metadata.Name, err)
	}
	return mappings, nil
}
