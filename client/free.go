package client

import (
	"context"
	"fmt"

	"github.com/seqlease/seqlease"
)

// LeaseSelection says which leases an operator ends. All conditions must hold,
// and one must be given.
type LeaseSelection struct {
	AttemptIDs []seqlease.AttemptID        `json:"processingAttemptIds,omitzero"`
	WorkerID   string                      `json:"workerId,omitzero"`
	Entries    []seqlease.AccessionVersion `json:"accessionVersions,omitzero"` // only these are freed
	Reason     string                      `json:"reason,omitzero"`
}

// FreeLeases ends leases at once and returns how many entries wait again. It
// takes a super user.
func (c *Client) FreeLeases(ctx context.Context, o seqlease.Organism, s LeaseSelection) (int, error) {
	var answer struct {
		Freed int `json:"freed"`
	}
	if err := c.post(ctx, organismPath(o, "leases/free"), s, &answer); err != nil {
		return 0, fmt.Errorf("free leases of %s: %w", o, err)
	}
	return answer.Freed, nil
}
