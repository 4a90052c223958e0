package client

import (
	"context"
	"fmt"

	"github.com/seqlease/seqlease"
)

// Requeue takes entries out of quarantine and returns how many wait again. It
// takes a super user.
func (c *Client) Requeue(ctx context.Context, o seqlease.Organism, s Selection) (int, error) {
	return c.requeue(ctx, o, "quarantine/requeue", s)
}

func (c *Client) requeue(ctx context.Context, o seqlease.Organism, name string, s Selection) (int, error) {
	var answer struct {
		Requeued int `json:"requeued"`
	}
	if err := c.post(ctx, organismPath(o, name), s, &answer); err != nil {
		return 0, fmt.Errorf("%s of %s: %w", name, o, err)
	}
	return answer.Requeued, nil
}
