package client

import (
	"context"
	"fmt"
	"net/http"

	"github.com/seqlease/seqlease"
)

// Deletion says which received or processed entries to delete. Nil filters take
// everything that the token's user may act for.
type Deletion struct {
	Scope    seqlease.DeletionScope      `json:"scope"`
	Entries  []seqlease.AccessionVersion `json:"accessionVersionsFilter,omitzero"`
	GroupIDs []int64                     `json:"groupIdsFilter,omitzero"`
}

// Delete deletes entries and returns them. What is in processing or released stays;
// the error is [seqlease.ErrState] if the filter names such an entry.
func (c *Client) Delete(ctx context.Context, o seqlease.Organism, d Deletion) ([]seqlease.AccessionVersion, error) {
	var deleted []seqlease.AccessionVersion
	k, err := jsonCall(organismPath(o, "delete-sequence-entry-versions"), d)
	if err == nil {
		k.method = http.MethodDelete
		err = c.document(ctx, k, &deleted)
	}
	if err != nil {
		return nil, fmt.Errorf("delete entries of %s: %w", o, err)
	}
	return deleted, nil
}
