package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/seqlease/seqlease"
)

// ListFilter says which entries are listed. Nil lists take everything, empty
// ones nothing.
type ListFilter struct {
	GroupIDs []int64
	Statuses []seqlease.Status
	// Results restricts only entries whose status is processed.
	Results []seqlease.ProcessingResult
	// Page counts from 0 and needs a Size; a Size of 0 lists everything.
	Page, Size int
}

// ListedEntry is one entry version in a [Listing].
type ListedEntry struct {
	seqlease.AccessionVersion
	Status seqlease.Status `json:"status"`
	// Result is nil while the entry is in processing.
	Result       *seqlease.ProcessingResult `json:"processingResult"`
	GroupID      int64                      `json:"groupId"`
	Submitter    string                     `json:"submitter"`
	IsRevocation bool                       `json:"isRevocation"`
	SubmissionID string                     `json:"submissionId"`
}

// Listing holds entries by accession and version. The counts are over
// everything that organism and groups take, whatever the other filters say.
type Listing struct {
	Entries      []ListedEntry                       `json:"sequenceEntries"`
	StatusCounts map[seqlease.Status]int64           `json:"statusCounts"`
	ResultCounts map[seqlease.ProcessingResult]int64 `json:"processingResultCounts"`
}

// ListEntries lists the entries that the token's user may see.
func (c *Client) ListEntries(ctx context.Context, o seqlease.Organism, f ListFilter) (Listing, error) {
	query := url.Values{}
	setList(query, "groupIdsFilter", f.GroupIDs)
	setList(query, "statusesFilter", f.Statuses)
	setList(query, "processingResultFilter", f.Results)
	if f.Size > 0 {
		query.Set("page", strconv.Itoa(f.Page))
		query.Set("size", strconv.Itoa(f.Size))
	}
	var listing Listing
	err := c.document(ctx, call{method: http.MethodGet, path: organismPath(o, "get-sequences"), query: query}, &listing)
	if err != nil {
		return Listing{}, fmt.Errorf("list entries of %s: %w", o, err)
	}
	return listing, nil
}

// setList adds a list parameter; an empty list is "name=", a nil one is absent.
func setList[T any](query url.Values, name string, list []T) {
	if list != nil && len(list) == 0 {
		query.Set(name, "")
	}
	for _, value := range list {
		query.Add(name, fmt.Sprint(value))
	}
}
