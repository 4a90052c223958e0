package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"

	"github.com/go-json-experiment/json"

	"github.com/seqlease/seqlease"
)

// SubmittedFilter says whose submitted metadata is wanted. Nil and empty lists take
// everything.
type SubmittedFilter struct {
	Fields   []string // the keys of the metadata; none: all that were submitted
	Entries  []seqlease.AccessionVersion
	GroupIDs []int64
	Statuses []seqlease.Status
}

// SubmittedMetadata is what was submitted as metadata of one entry version.
type SubmittedMetadata struct {
	seqlease.AccessionVersion
	Submitter    string `json:"submitter"`
	IsRevocation bool   `json:"isRevocation"`
	// Metadata has nil for a field that was asked for but not submitted.
	Metadata map[string]*string `json:"submittedMetadata"`
}

// SubmittedMetadata calls yield for each entry version that the filter takes and the
// token's user may see, by accession and version. An error of yield ends the call and
// is returned. Only without an error did everything come: the lines are counted
// against what the server announced.
func (c *Client) SubmittedMetadata(ctx context.Context, o seqlease.Organism, f SubmittedFilter, yield func(SubmittedMetadata) error) error {
	query := url.Values{}
	setList(query, "fields", f.Fields)
	setList(query, "accessionVersionsFilter", f.Entries)
	setList(query, "groupIdsFilter", f.GroupIDs)
	setList(query, "statusesFilter", f.Statuses)
	err := c.submittedMetadata(ctx, call{method: http.MethodGet, path: organismPath(o, "get-submitted-metadata"), query: query}, yield)
	if err != nil {
		return fmt.Errorf("submitted metadata of %s: %w", o, err)
	}
	return nil
}

func (c *Client) submittedMetadata(ctx context.Context, k call, yield func(SubmittedMetadata) error) error {
	answer, err := c.send(ctx, k)
	if err != nil {
		return err
	}
	defer answer.close()
	_, err = countedLines(answer, func(line []byte) error {
		var m SubmittedMetadata
		if err := json.Unmarshal(line, &m); err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		return yield(m)
	})
	return err
}

// SubmittedData writes a zip file of what was submitted with the group's entries that
// can be revised to w, and returns its name: those of the given accessions, or all if
// there are none. Only without an error is the file whole.
func (c *Client) SubmittedData(ctx context.Context, o seqlease.Organism, groupID int64, accessions []seqlease.Accession, w io.Writer) (name string, err error) {
	name, err = c.submittedData(ctx, o, groupID, accessions, w)
	if err != nil {
		return "", fmt.Errorf("submitted data of %s: %w", o, err)
	}
	return name, nil
}

func (c *Client) submittedData(ctx context.Context, o seqlease.Organism, groupID int64, accessions []seqlease.Accession, w io.Writer) (string, error) {
	k, err := jsonCall(organismPath(o, "get-submitted-data"), struct {
		GroupID    int64                `json:"groupId"`
		Accessions []seqlease.Accession `json:"accessionsFilter"`
	}{groupID, accessions})
	if err != nil {
		return "", err
	}
	answer, err := c.send(ctx, k)
	if err != nil {
		return "", err
	}
	defer answer.close()
	if err := expectType(answer, "application/zip"); err != nil {
		return "", err
	}
	_, parameters, err := mime.ParseMediaType(answer.header.Get("Content-Disposition"))
	if err != nil || parameters["filename"] == "" {
		return "", errors.New("the answer doesn't say what the file is called")
	}
	if _, err := io.Copy(w, answer.body); err != nil {
		return "", endOf(err)
	}
	return parameters["filename"], nil
}
