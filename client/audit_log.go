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

// AuditEvent is a call that changed something, or what it did to the entry that is
// named. What doesn't apply is zero.
type AuditEvent struct {
	At        time.Time          `json:"at"`
	User      string             `json:"user"`
	Action    seqlease.Action    `json:"action"`
	Organism  seqlease.Organism  `json:"organism"`
	GroupID   int64              `json:"groupId"`
	Accession seqlease.Accession `json:"accession"`
	Version   seqlease.Version   `json:"version"`
	Entries   int64              `json:"entries"` // changed
	Detail    string             `json:"detail"`  // for people
}

// AuditPage is a page of the audit log, newest first.
type AuditPage struct {
	Events []AuditEvent `json:"events"`
	Next   string       `json:"next"` // empty: this is the last
}

// AuditFilter says which rows of the audit log are meant. All conditions must
// hold; zero values take everything.
type AuditFilter struct {
	Organism  seqlease.Organism
	User      string
	Action    seqlease.Action
	Accession seqlease.Accession // rows that name a version of it
	GroupID   int64
	From, To  time.Time // inclusive and exclusive
}

func (f AuditFilter) into(query url.Values) url.Values {
	for name, value := range map[string]string{
		"organism": string(f.Organism), "user": f.User, "action": string(f.Action), "accession": string(f.Accession),
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if f.GroupID != 0 {
		query.Set("groupId", strconv.FormatInt(f.GroupID, 10))
	}
	for name, at := range map[string]time.Time{"from": f.From, "to": f.To} {
		if !at.IsZero() {
			query.Set(name, at.UTC().Format(time.RFC3339Nano))
		}
	}
	return query
}

// AuditLog lists who changed what, newest first. It takes a super user.
func (c *Client) AuditLog(ctx context.Context, f AuditFilter, p Page) (AuditPage, error) {
	var page AuditPage
	err := c.document(ctx, call{method: http.MethodGet, path: "/admin/audit-log", query: f.into(p.query())}, &page)
	if err != nil {
		return AuditPage{}, fmt.Errorf("read the audit log: %w", err)
	}
	return page, nil
}
