package client

import (
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

// Selection says which entries an operator means. All conditions must hold;
// without any, All must be true.
type Selection struct {
	Entries         []seqlease.AccessionVersion `json:"accessionVersions,omitzero"`
	ErrorContains   string                      `json:"errorContains,omitzero"`
	WorkerID        string                      `json:"workerId,omitzero"`
	PipelineVersion seqlease.PipelineVersion    `json:"pipelineVersion,omitzero"`
	SubmittedFrom   time.Time                   `json:"submittedFrom,omitzero"` // inclusive
	SubmittedTo     time.Time                   `json:"submittedTo,omitzero"`   // exclusive
	All             bool                        `json:"all,omitzero"`
	Reason          string                      `json:"reason,omitzero"`
}
