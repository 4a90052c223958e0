package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/seqlease/seqlease"
)

// Failure is one thing that went wrong with an entry.
type Failure struct {
	At              time.Time                `json:"at"`
	PipelineVersion seqlease.PipelineVersion `json:"pipelineVersion"`
	AttemptID       seqlease.AttemptID       `json:"processingAttemptId"`
	// Kind is expired, given-back, undelivered, refused, freed or damaged.
	Kind      string `json:"kind"`
	WorkerID  string `json:"workerId"`
	ClaimedBy string `json:"claimedBy"`
	Counted   bool   `json:"counted"` // cost an attempt
	Reason    string `json:"reason"`
}

// ClaimRecord is one claim that an entry was part of.
type ClaimRecord struct {
	AttemptID       seqlease.AttemptID       `json:"processingAttemptId"`
	PipelineVersion seqlease.PipelineVersion `json:"pipelineVersion"`
	ClaimedBy       string                   `json:"claimedBy"`
	WorkerID        string                   `json:"workerId"`
	ClaimedAt       time.Time                `json:"claimedAt"`
	LeaseSeconds    int64                    `json:"leaseSeconds"` // as claimed
	Attempt         int                      `json:"attempt"`      // of the entry, from 1
	Entries         int                      `json:"entries"`      // of the claim
	// AcceptedAt is nil unless the present result came from this claim.
	AcceptedAt *time.Time `json:"acceptedAt"`
	// Until is nil unless the claim holds the entry.
	Until *time.Time `json:"leaseUntil"`
}

// History is what became of an entry.
type History struct {
	seqlease.AccessionVersion
	Claims   []ClaimRecord `json:"claims"`   // by start
	Failures []Failure     `json:"failures"` // by time
	// Quarantine says where the entry is in quarantine and why, by pipeline version.
	Quarantine []QuarantineRecord `json:"quarantine"`
	// Events is the whole journey, by time; OmittedEvents counts older ones.
	Events        []HistoryEvent `json:"events"`
	OmittedEvents int64          `json:"omittedEvents"`
}

// HistoryEvent is one step of an entry's journey. What doesn't apply is zero.
type HistoryEvent struct {
	At time.Time `json:"at"`
	// Kind is submitted, revised, revoked, edited, claimed, failed, processed,
	// quarantined, approved, terms-changed, external-metadata or superseded.
	Kind            string                   `json:"kind"`
	By              string                   `json:"by"` // user
	WorkerID        string                   `json:"workerId"`
	PipelineVersion seqlease.PipelineVersion `json:"pipelineVersion"`
	AttemptID       seqlease.AttemptID       `json:"processingAttemptId"`
	Detail          string                   `json:"detail"` // for people
}

// QuarantineRecord says why an entry is in quarantine for a pipeline version.
type QuarantineRecord struct {
	PipelineVersion seqlease.PipelineVersion `json:"pipelineVersion"`
	At              time.Time                `json:"at"`
	By              string                   `json:"by"` // an operator; empty: its attempts were used up
	Reason          string                   `json:"reason"`
	Attempts        int                      `json:"attempts"`
	HandOuts        int                      `json:"handOuts"` // attempts included
}

// History returns what became of an entry, for members of its group and super
// users. To others it is unknown: [seqlease.ErrNotFound].
func (c *Client) History(ctx context.Context, o seqlease.Organism, av seqlease.AccessionVersion) (History, error) {
	var history History
	path := organismPath(o, "entries/"+url.PathEscape(string(av.Accession))+"/"+strconv.FormatInt(int64(av.Version), 10)+"/history")
	if err := c.document(ctx, call{method: http.MethodGet, path: path}, &history); err != nil {
		return History{}, fmt.Errorf("history of %s: %w", av, err)
	}
	return history, nil
}
