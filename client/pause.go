package client

import (
	"context"
	"fmt"
	"strconv"

	"github.com/seqlease/seqlease"
)

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
