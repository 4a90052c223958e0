package client

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/seqlease/seqlease"
)

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
