package client

import (
	"context"
	"fmt"
	"net/http"

	"github.com/seqlease/seqlease"
)

// PipelineStatistics counts the processed entries, with errors or without, by
// organism and pipeline version. It takes a super user.
func (c *Client) PipelineStatistics(ctx context.Context) (map[seqlease.Organism]map[seqlease.PipelineVersion]int64, error) {
	var counts map[seqlease.Organism]map[seqlease.PipelineVersion]int64
	if err := c.document(ctx, call{method: http.MethodGet, path: "/admin/pipeline-statistics"}, &counts); err != nil {
		return nil, fmt.Errorf("pipeline statistics: %w", err)
	}
	return counts, nil
}

// CurrentPipelineVersions returns the current version of each organism. It takes a
// super user.
func (c *Client) CurrentPipelineVersions(ctx context.Context) (map[seqlease.Organism]seqlease.PipelineVersion, error) {
	var versions map[seqlease.Organism]seqlease.PipelineVersion
	if err := c.document(ctx, call{method: http.MethodGet, path: "/admin/current-pipeline-versions"}, &versions); err != nil {
		return nil, fmt.Errorf("current pipeline versions: %w", err)
	}
	return versions, nil
}

// DeleteAllSequenceData deletes all entries of a server that is in debug mode; of
// any other the error is [seqlease.ErrNotFound]. It takes a super user.
func (c *Client) DeleteAllSequenceData(ctx context.Context) error {
	answer, err := c.send(ctx, call{method: http.MethodPost, path: "/debug/delete-all-sequence-data"})
	if err != nil {
		return fmt.Errorf("delete all sequence data: %w", err)
	}
	answer.close()
	return nil
}
