package client

import (
	"context"
	"fmt"

	"github.com/seqlease/seqlease"
)

// Approval says which processed entries to release. Nil filters take everything
// that the token's user may act for.
type Approval struct {
	Scope      seqlease.ApprovalScope      `json:"scope"`
	Entries    []seqlease.AccessionVersion `json:"accessionVersionsFilter,omitzero"`
	GroupIDs   []int64                     `json:"groupIdsFilter,omitzero"`
	Submitters []string                    `json:"submitterNamesFilter,omitzero"`
}

// Approve releases processed entries without errors and returns them. The error
// is [seqlease.ErrState] if an entry of the filter can't be approved.
func (c *Client) Approve(ctx context.Context, o seqlease.Organism, a Approval) ([]seqlease.AccessionVersion, error) {
	var approved []seqlease.AccessionVersion
	k, err := jsonCall(organismPath(o, "approve-processed-data"), a)
	if err == nil {
		err = c.document(ctx, k, &approved)
	}
	if err != nil {
		return nil, fmt.Errorf("approve entries of %s: %w", o, err)
	}
	return approved, nil
}
