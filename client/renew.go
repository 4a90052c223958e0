package client

import (
	"context"
	"fmt"
	"time"

	"github.com/seqlease/seqlease"
)

// RenewedLease is a lease after its renewal.
type RenewedLease struct {
	Until   time.Time                   // by the database's clock, for people
	Lease   time.Duration               // how long it runs from the renewal
	Entries int                         // that it holds
	Lost    []seqlease.AccessionVersion // taken from it since the claim: drop them
}

// RenewLease extends a lease to the given duration from the server's present:
// whole seconds, 10 s to 24 h; 0: as claimed. The error is
// [seqlease.ErrLeaseLost] if the lease has ended, holds nothing, or isn't of the
// token's user.
func (c *Client) RenewLease(ctx context.Context, o seqlease.Organism, id seqlease.AttemptID, lease time.Duration) (RenewedLease, error) {
	var renewed struct {
		LeaseUntil   time.Time                   `json:"leaseUntil"`
		LeaseSeconds int64                       `json:"leaseSeconds"`
		Held         int                         `json:"held"`
		Lost         []seqlease.AccessionVersion `json:"lost"`
	}
	err := c.post(ctx, organismPath(o, "renew-lease"), struct {
		AttemptID    seqlease.AttemptID `json:"processingAttemptId"`
		LeaseSeconds int64              `json:"leaseSeconds,omitzero"`
	}{id, int64(lease / time.Second)}, &renewed)
	if err != nil {
		return RenewedLease{}, fmt.Errorf("renew the lease of attempt %s: %w", id, err)
	}
	return RenewedLease{
		Until: renewed.LeaseUntil, Lease: time.Duration(renewed.LeaseSeconds) * time.Second,
		Entries: renewed.Held, Lost: renewed.Lost,
	}, nil
}
