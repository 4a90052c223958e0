package client

import (
	"context"
	"fmt"

	"github.com/seqlease/seqlease"
)

// LeaseReturn says what is given back.
type LeaseReturn struct {
	AttemptID seqlease.AttemptID          `json:"processingAttemptId"`
	Entries   []seqlease.AccessionVersion `json:"accessionVersions,omitzero"` // nil: all that the lease holds
	Reason    string                      `json:"reason,omitzero"`            // for people; the server cuts it
	// CountsAsAttempt is true where the entries are at fault: then they are
	// quarantined some day, instead of coming back for ever.
	CountsAsAttempt bool `json:"countsAsAttempt,omitzero"`
}

// ReturnLease gives claimed entries back, which wait again at once, and returns
// how many they were; entries that the lease doesn't hold are passed over. The
// error is [seqlease.ErrLeaseLost] as that of [Client.RenewLease].
func (c *Client) ReturnLease(ctx context.Context, o seqlease.Organism, r LeaseReturn) (int, error) {
	var answer struct {
		Returned int `json:"returned"`
	}
	if err := c.post(ctx, organismPath(o, "return-lease"), r, &answer); err != nil {
		return 0, fmt.Errorf("give back entries of attempt %s: %w", r.AttemptID, err)
	}
	return answer.Returned, nil
}
