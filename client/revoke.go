package client

import (
	"context"
	"fmt"

	"github.com/seqlease/seqlease"
)

// Revoke adds a revocation to each accession as its next version, which waits for
// approval, and returns them by accession. An empty comment sends none. The error is
// [seqlease.ErrState] unless the highest version of each is released.
func (c *Client) Revoke(ctx context.Context, o seqlease.Organism, accessions []seqlease.Accession, comment string) ([]seqlease.SubmissionIDMapping, error) {
	request := struct {
		Accessions     []seqlease.Accession `json:"accessions"`
		VersionComment string               `json:"versionComment,omitzero"`
	}{accessions, comment}
	var made []seqlease.SubmissionIDMapping
	if err := c.post(ctx, organismPath(o, "revoke"), request, &made); err != nil {
		return nil, fmt.Errorf("revoke %d accessions of %s: %w", len(accessions), o, err)
	}
	return made, nil
}
