package httpapi

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"io"
	"net/http"

	json "github.com/go-json-experiment/json"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/ndjson"
	"github.com/seqlease/seqlease/internal/submission"
)

// externalOperation is the operation that takes external metadata.
const externalOperation = "POST /{organism}/submit-external-metadata"

// externalBody names its body in errors.
const externalBody = "body of external metadata"

// Limits of external metadata, after decompression.
const (
	maxExternalBody = 64 << 20
	maxExternalLine = 1 << 20
)

// externalLine is a line of external metadata as it comes in. A nil member is missing
// or null.
type externalLine struct {
	Accession *string                       `json:"accession"`
	Version   *int64                        `json:"version"`
	Metadata  map[string]stdjson.RawMessage `json:"externalMetadata"`
}

// missing names the first required member that is missing or null.
func (l *externalLine) missing() string {
	switch {
	case l.Accession == nil:
		return "accession"
	case l.Version == nil:
		return "version"
	case l.Metadata == nil:
		return "externalMetadata"
	default:
		return ""
	}
}

// SubmitExternalMetadata takes in what an updater says of released entries, line by
// line, and stores all of it or nothing.
func (s *server) SubmitExternalMetadata(w http.ResponseWriter, r *http.Request, o Organism, params SubmitExternalMetadataParams) {
	if mediaType(r) != "application/x-ndjson" {
		s.fail(w, r, unsupportedMediaType("send the metadata as Content-Type: application/x-ndjson"))
		return
	}
	person, _ := personOf(r.Context())
	external, err := s.submissions.NewExternalMetadata(person, o, params.ExternalMetadataUpdater)
	if err == nil {
		err = s.takeInExternal(r.Context(), bodyOf(r), external)
	}
	if err == nil {
		err = external.Commit(r.Context())
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// takeInExternal reads the lines of a body. What is wrong with them is told at the end.
func (s *server) takeInExternal(ctx context.Context, body *requestBody, external *submission.ExternalMetadata) error {
	if err := body.fetch(); err != nil {
		return err
	}
	if err := body.hold(ctx, s.budget.json); err != nil {
		return err
	}
	lines := ndjson.NewReader(limited(body, maxExternalBody, externalBody), maxExternalLine)
	for {
		text, err := lines.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return lineError(err, externalBody)
		}
		if err := addExternal(external, lines.Line(), text); err != nil {
			return err
		}
		if external.Memory() > mediumJSON {
			if err := body.holdLarge(ctx); err != nil {
				return err
			}
		}
	}
}

func addExternal(external *submission.ExternalMetadata, number int, text []byte) error {
	var line externalLine
	if err := json.Unmarshal(text, &line, lenient); err != nil {
		external.Refuse(number, invalidJSON(number, err))
		return nil
	}
	if missing := line.missing(); missing != "" {
		external.Refuse(number, atLine(number, missingInLine(missing)))
		return nil
	}
	entry := seqlease.AccessionVersion{Accession: seqlease.Accession(*line.Accession), Version: seqlease.Version(*line.Version)}
	return external.Add(number, entry, line.Metadata)
}
