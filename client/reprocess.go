package client

import (
	"context"

	"github.com/seqlease/seqlease"
)

// Reprocess has processed entries processed again and returns how many wait
// again. It takes a super user.
func (c *Client) Reprocess(ctx context.Context, o seqlease.Organism, s Selection) (int, error) {
	return c.requeue(ctx, o, "reprocess", s)
}
