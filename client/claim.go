package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/ndjson"
)

// ClaimRequest asks for work.
type ClaimRequest struct {
	Organism        seqlease.Organism
	PipelineVersion seqlease.PipelineVersion
	Entries         int           // how many at most; 0 only returns the tag
	Lease           time.Duration // whole seconds, 10 s to 24 h; 0: the server's default
	WorkerID        string        // a label for people, at most 200 characters
	// Wait is how long the server may hold the answer back while nothing is
	// waiting: whole seconds, at most 30 s; 0: not at all.
	Wait time.Duration
	// IfNoneMatch is the ETag of an earlier empty answer: while nothing was added
	// since, the answer is NotModified.
	IfNoneMatch string
}

// Claimed is a claimed batch, possibly empty.
type Claimed struct {
	// Began is when the answer began, by this machine's monotonic clock: the lease
	// runs from shortly before.
	Began       time.Time
	Entries     []seqlease.Entry // under one attempt id and lease
	ETag        string
	NotModified bool          // nothing is waiting, as when the tag was given out
	RetryAfter  time.Duration // how long the server asks to wait before the next claim
}

// Claim claims a batch. Without an error the batch came whole: a cut stream is
// an error, and then the server gives the batch back or its lease runs out.
// Errors: [seqlease.ErrPipelineOutdated], [seqlease.ErrUnknownOrganism] and
// others of [ProblemError].
func (c *Client) Claim(ctx context.Context, r ClaimRequest) (Claimed, error) {
	claimed, err := c.claim(ctx, r)
	if err != nil {
		return Claimed{}, fmt.Errorf("claim %s v%d: %w", r.Organism, r.PipelineVersion, err)
	}
	return claimed, nil
}

func (c *Client) claim(ctx context.Context, r ClaimRequest) (Claimed, error) {
	form := url.Values{
		"numberOfSequenceEntries": {strconv.Itoa(r.Entries)},
		"pipelineVersion":         {strconv.FormatInt(int64(r.PipelineVersion), 10)},
	}
	if r.Lease > 0 {
		form.Set("leaseSeconds", strconv.FormatInt(int64(r.Lease/time.Second), 10))
	}
	if r.Wait > 0 {
		form.Set("waitSeconds", strconv.FormatInt(int64(r.Wait/time.Second), 10))
	}
	if r.WorkerID != "" {
		form.Set("workerId", r.WorkerID)
	}
	answer, err := c.send(ctx, call{
		method: http.MethodPost, path: organismPath(r.Organism, "extract-unprocessed-data"),
		contentType: "application/x-www-form-urlencoded", body: strings.NewReader(form.Encode()),
		ifNoneMatch: r.IfNoneMatch, patience: r.Wait,
	})
	if err != nil {
		return Claimed{}, err
	}
	defer answer.close()
	claimed := Claimed{
		Began:       time.Now(),
		ETag:        answer.header.Get("ETag"),
		NotModified: answer.status == http.StatusNotModified,
		RetryAfter:  retryAfter(answer.header),
	}
	if claimed.NotModified {
		return claimed, nil
	}
	if err := expectType(answer, "application/x-ndjson"); err != nil {
		return Claimed{}, err
	}
	lines := ndjson.NewReader(answer.body, maxLine)
	for {
		line, err := lines.Next()
		if err != nil {
			return claimed, endOf(err)
		}
		var entry seqlease.Entry
		if err := json.Unmarshal(line, &entry); err != nil {
			return Claimed{}, fmt.Errorf("line %d of the answer: %w", lines.Line(), err)
		}
		claimed.Entries = append(claimed.Entries, entry)
	}
}
