package client

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/seqlease/seqlease"
)

// HeldLease is a lease as operators see it.
type HeldLease struct {
	AttemptID       seqlease.AttemptID          `json:"processingAttemptId"`
	PipelineVersion seqlease.PipelineVersion    `json:"pipelineVersion"`
	ClaimedBy       string                      `json:"claimedBy"` // user of the token
	WorkerID        string                      `json:"workerId"`
	ClaimedAt       time.Time                   `json:"claimedAt"`
	Until           time.Time                   `json:"leaseUntil"`
	Ended           bool                        `json:"ended"`   // by the database's clock
	Entries         int                         `json:"entries"` // held still
	Claimed         int                         `json:"claimed"` // entries when it was claimed
	First           []seqlease.AccessionVersion `json:"first"`   // of those held, at most 10
}

// FailingWorker is a worker whose batches fail.
type FailingWorker struct {
	WorkerID   string    `json:"workerId"`
	ClaimedBy  string    `json:"claimedBy"`
	Failures   int       `json:"failures"` // entries, in the last hour
	LastAt     time.Time `json:"lastAt"`
	LastKind   string    `json:"lastKind"` // see [Failure]
	LastReason string    `json:"lastReason"`
}

// LeasePage is a page of leases, by start.
type LeasePage struct {
	Leases         []HeldLease     `json:"leases"`
	FailingWorkers []FailingWorker `json:"failingWorkers"` // on the first page, most failures first
	Next           string          `json:"next"`           // empty: this is the last
}

// Leases lists who holds what. It takes a super user.
func (c *Client) Leases(ctx context.Context, o seqlease.Organism, p Page) (LeasePage, error) {
	var page LeasePage
	err := c.document(ctx, call{method: http.MethodGet, path: organismPath(o, "leases"), query: p.query()}, &page)
	if err != nil {
		return LeasePage{}, fmt.Errorf("list leases of %s: %w", o, err)
	}
	return page, nil
}
