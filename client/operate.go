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

// Page says which part of a list is wanted.
type Page struct {
	After string // Next of the page before; empty: the first page
	Limit int    // at most 1,000; 0: the server's default
}

func (p Page) query() url.Values {
	query := url.Values{}
	if p.After != "" {
		query.Set("after", p.After)
	}
	if p.Limit > 0 {
		query.Set("limit", strconv.Itoa(p.Limit))
	}
	return query
}

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

// QuarantinedEntry is an entry in quarantine.
type QuarantinedEntry struct {
	seqlease.AccessionVersion
	PipelineVersion seqlease.PipelineVersion `json:"pipelineVersion"`
	At              time.Time                `json:"quarantinedAt"`
	By              string                   `json:"quarantinedBy"` // operator; empty: its attempts were used up
	Attempts        int                      `json:"attempts"`
	HandOuts        int                      `json:"handOuts"`
	Reason          string                   `json:"reason"`
	Failures        []Failure                `json:"failures"` // the last ones, newest first, at most 10
}

// QuarantinePage is a page of quarantined entries.
type QuarantinePage struct {
	Entries []QuarantinedEntry `json:"entries"`
	Next    string             `json:"next"` // empty: this is the last
}

// Quarantined lists what is in quarantine. It takes a super user.
func (c *Client) Quarantined(ctx context.Context, o seqlease.Organism, p Page) (QuarantinePage, error) {
	var page QuarantinePage
	err := c.document(ctx, call{method: http.MethodGet, path: organismPath(o, "quarantine"), query: p.query()}, &page)
	if err != nil {
		return QuarantinePage{}, fmt.Errorf("list the quarantine of %s: %w", o, err)
	}
	return page, nil
}

// Selection says which entries an operator means. All conditions must hold;
// without any, All must be true.
type Selection struct {
	Entries         []seqlease.AccessionVersion `json:"accessionVersions,omitzero"`
	ErrorContains   string                      `json:"errorContains,omitzero"`
	WorkerID        string                      `json:"workerId,omitzero"`
	PipelineVersion seqlease.PipelineVersion    `json:"pipelineVersion,omitzero"`
	// SubmittedFrom (inclusive) and SubmittedTo (exclusive) are only for Reprocess.
	SubmittedFrom time.Time `json:"submittedFrom,omitzero"`
	SubmittedTo   time.Time `json:"submittedTo,omitzero"`
	All           bool      `json:"all,omitzero"`
	Reason        string    `json:"reason,omitzero"`
}

// Quarantine puts entries that wait or are in processing into quarantine and
// returns how many they were. It takes a super user.
func (c *Client) Quarantine(ctx context.Context, o seqlease.Organism, s Selection) (int, error) {
	var answer struct {
		Quarantined int `json:"quarantined"`
	}
	if err := c.post(ctx, organismPath(o, "quarantine"), s, &answer); err != nil {
		return 0, fmt.Errorf("quarantine entries of %s: %w", o, err)
	}
	return answer.Quarantined, nil
}

// Requeue takes entries out of quarantine and returns how many wait again. It
// takes a super user.
func (c *Client) Requeue(ctx context.Context, o seqlease.Organism, s Selection) (int, error) {
	return c.requeue(ctx, o, "quarantine/requeue", s)
}

// Reprocess has processed entries processed again and returns how many wait
// again. It takes a super user.
func (c *Client) Reprocess(ctx context.Context, o seqlease.Organism, s Selection) (int, error) {
	return c.requeue(ctx, o, "reprocess", s)
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

// PauseState is what is paused of an organism.
type PauseState struct {
	Paused           bool                       `json:"paused"` // the whole organism is
	PipelineVersions []seqlease.PipelineVersion `json:"pausedPipelineVersions"`
}

// SetPaused has claims of the organism find nothing, or find entries again. It
// takes a super user.
func (c *Client) SetPaused(ctx context.Context, o seqlease.Organism, paused bool, reason string) (PauseState, error) {
	var state PauseState
	if err := c.post(ctx, organismPath(o, pauseVerb(paused)), operatorNote{reason}, &state); err != nil {
		return PauseState{}, fmt.Errorf("%s %s: %w", pauseVerb(paused), o, err)
	}
	return state, nil
}

// SetPipelinePaused does the same for one pipeline version. The error is
// [seqlease.ErrPipelineUnknown] if it isn't registered.
func (c *Client) SetPipelinePaused(ctx context.Context, o seqlease.Organism, v seqlease.PipelineVersion, paused bool, reason string) error {
	path := organismPath(o, "pipelines/"+strconv.FormatInt(int64(v), 10)+"/"+pauseVerb(paused))
	var state struct{}
	if err := c.post(ctx, path, operatorNote{reason}, &state); err != nil {
		return fmt.Errorf("%s %s v%d: %w", pauseVerb(paused), o, v, err)
	}
	return nil
}

type operatorNote struct {
	Reason string `json:"reason,omitzero"`
}

func pauseVerb(paused bool) string {
	if paused {
		return "pause"
	}
	return "resume"
}
