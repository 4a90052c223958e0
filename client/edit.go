package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/seqlease/seqlease"
)

// EditableEntry is what an entry has, to edit it.
type EditableEntry struct {
	seqlease.AccessionVersion
	Status       seqlease.Status        `json:"status"`
	GroupID      int64                  `json:"groupId"`
	SubmissionID string                 `json:"submissionId"`
	Submitted    seqlease.SubmittedData `json:"submittedData"`
	// Processed is of the current pipeline version.
	Processed seqlease.ProcessedData `json:"processedData"`
	Errors    []seqlease.Annotation  `json:"errors"`
	Warnings  []seqlease.Annotation  `json:"warnings"`
}

// GetDataToEdit returns the data of an entry that has been processed. The error is
// [seqlease.ErrState] for any other, and for revocations.
func (c *Client) GetDataToEdit(ctx context.Context, o seqlease.Organism, av seqlease.AccessionVersion) (EditableEntry, error) {
	var entry EditableEntry
	path := organismPath(o, "get-data-to-edit/"+url.PathEscape(string(av.Accession))+"/"+strconv.FormatInt(int64(av.Version), 10))
	if err := c.document(ctx, call{method: http.MethodGet, path: path}, &entry); err != nil {
		return EditableEntry{}, fmt.Errorf("data of %s: %w", av, err)
	}
	return entry, nil
}

// SubmitEditedData replaces the data of a processed entry, which then is processed
// anew. Files must be empty. The error is [seqlease.ErrState] if it isn't processed.
func (c *Client) SubmitEditedData(ctx context.Context, o seqlease.Organism, av seqlease.AccessionVersion, data seqlease.SubmittedData) error {
	k, err := jsonCall(organismPath(o, "submit-edited-data"), struct {
		seqlease.AccessionVersion
		Data seqlease.SubmittedData `json:"data"`
	}{av, data})
	if err != nil {
		return fmt.Errorf("edit %s: %w", av, err)
	}
	answer, err := c.send(ctx, k)
	if err != nil {
		return fmt.Errorf("edit %s: %w", av, err)
	}
	answer.close()
	return nil
}
