package httpapi

import (
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// entryBody is an AccessionVersion as it comes in.
type entryBody struct {
	Accession *string `json:"accession"`
	Version   *int64  `json:"version"`
}

// entriesOf returns the entries of a list called member; nil for one that is
// absent or null, which takes everything.
func entriesOf(member string, list []entryBody) ([]seqlease.AccessionVersion, error) {
	if list == nil {
		return nil, nil
	}
	entries := make([]seqlease.AccessionVersion, len(list))
	for i, entry := range list {
		if entry.Accession == nil || entry.Version == nil {
			return nil, missingMember(member + ".accession or version")
		}
		if fault := seqlease.Accession(*entry.Accession).Fault(); fault != "" {
			name := fmt.Sprintf("%s[%d].accession", member, i)
			return nil, seqlease.InvalidParameter(name, fmt.Sprintf("%s %s: send that of the entry", name, fault))
		}
		entries[i] = seqlease.AccessionVersion{Accession: seqlease.Accession(*entry.Accession), Version: seqlease.Version(*entry.Version)}
	}
	return entries, nil
}

// selectionBody is a selection of entries as it comes in.
type selectionBody struct {
	Entries         []entryBody `json:"accessionVersions"`
	ErrorContains   *string     `json:"errorContains"`
	WorkerID        *string     `json:"workerId"`
	PipelineVersion *int64      `json:"pipelineVersion"`
	SubmittedFrom   *string     `json:"submittedFrom"`
	SubmittedTo     *string     `json:"submittedTo"`
	All             *bool       `json:"all"`
	Reason          *string     `json:"reason"`
}

// readSelection reads a body that selects entries.
func (s *server) readSelection(r *http.Request, o Organism) (selection queue.Selection, reason string, err error) {
	var body selectionBody
	if err := s.readJSON(r, &body, maxJSONBody); err != nil {
		return selection, "", err
	}
	selection = queue.Selection{
		Organism: o, ErrorContains: orZero(body.ErrorContains), WorkerID: orZero(body.WorkerID), All: orZero(body.All),
	}
	if version := body.PipelineVersion; version != nil {
		if *version < 1 {
			return selection, "", seqlease.InvalidParameter("pipelineVersion", fmt.Sprintf("pipelineVersion must be at least 1, not %d", *version))
		}
		selection.PipelineVersion = seqlease.PipelineVersion(*version)
	}
	if selection.Entries, err = entriesOf("accessionVersions", body.Entries); err != nil {
		return selection, "", err
	}
	if selection.SubmittedFrom, err = instant("submittedFrom", body.SubmittedFrom); err != nil {
		return selection, "", err
	}
	selection.SubmittedTo, err = instant("submittedTo", body.SubmittedTo)
	return selection, orZero(body.Reason), err
}

// instant reads an instant; the zero time if it is absent.
func instant(member string, text *string) (time.Time, error) {
	if text == nil {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339Nano, *text)
	if err != nil {
		return at, seqlease.InvalidParameter(member, fmt.Sprintf("%s must be an instant such as 2026-03-04T05:06:07Z, not %.40q", member, *text))
	}
	return at, nil
}

// givenAttemptID reads an attempt id that must be there.
func givenAttemptID(member string, value jsontext.Value) (seqlease.AttemptID, error) {
	id, fault := attemptID(value)
	switch {
	case fault != "":
		return id, seqlease.InvalidParameter(member, fault)
	case id.IsZero():
		return id, missingMember(member)
	default:
		return id, nil
	}
}
