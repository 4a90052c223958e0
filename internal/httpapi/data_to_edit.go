package httpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/submission"
)

// dataToEdit is an EntryToEdit as it goes out. Lists are never null.
type dataToEdit struct {
	seqlease.AccessionVersion
	Status       seqlease.Status       `json:"status"`
	GroupID      int64                 `json:"groupId"`
	SubmissionID string                `json:"submissionId"`
	Processed    shownData             `json:"processedData"`
	Submitted    jsontext.Value        `json:"submittedData"`
	Errors       []seqlease.Annotation `json:"errors"`
	Warnings     []seqlease.Annotation `json:"warnings"`
}

// shownData is processed data with its metadata in the order of the schema, whose
// files are null where there are none.
type shownData struct {
	seqlease.ProcessedData
	Metadata jsontext.Value  `json:"metadata"`
	Files    *seqlease.Files `json:"files"`
}

// GetDataToEdit returns the data of an entry. The documents of a large one wait for
// memory, and the answer goes out by way of the disk, so that no client that reads
// slowly keeps it.
func (s *server) GetDataToEdit(w http.ResponseWriter, r *http.Request, o Organism, accession Accession, version VersionOfEntry) {
	person, _ := personOf(r.Context())
	isSmall := true
	body := bodyOf(r)
	data, err := s.submissions.DataToEdit(r.Context(), person, submission.DataToEditRequest{
		Organism: o, AccessionVersion: seqlease.AccessionVersion{Accession: accession, Version: version},
		Memory: func(ctx context.Context, bytes int64) error {
			isSmall = bytes <= smallJSON
			switch {
			case isSmall:
				return nil
			case bytes <= mediumJSON:
				return body.hold(ctx, s.budget.json)
			default:
				return body.holdLarge(ctx)
			}
		},
	})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	known, err := s.organisms.Get(o)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if isSmall {
		writeJSON(w, shown(known, &data))
		return
	}
	s.sendLong(w, func(w http.ResponseWriter) { writeJSON(w, shown(known, &data)) })
}

// inOrder writes metadata in the order of the schema: forms show it so.
func inOrder(fields []organism.Field, metadata map[string]json.RawMessage) jsontext.Value {
	text := []byte{'{'}
	for i, field := range fields {
		if i > 0 {
			text = append(text, ',')
		}
		name, _ := jsontext.AppendQuote(nil, field.Name) // no field has a name that isn't UTF-8
		value := metadata[field.Name]
		if len(value) == 0 {
			value = json.RawMessage("null")
		}
		text = append(append(append(text, name...), ':'), value...)
	}
	return append(text, '}')
}

func shown(o *organism.Organism, d *submission.DataToEdit) dataToEdit {
	document := dataToEdit{
		AccessionVersion: d.AccessionVersion, Status: d.Status, GroupID: d.GroupID, SubmissionID: d.SubmissionID,
		Processed: shownData{ProcessedData: d.Processed, Metadata: inOrder(o.Metadata, d.Processed.Metadata)}, Submitted: d.Submitted,
		Errors: orEmpty(d.Errors), Warnings: orEmpty(d.Warnings),
	}
	if len(d.Processed.Files) > 0 {
		document.Processed.Files = &d.Processed.Files
	}
	return document
}
