package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/ndjson"
	"github.com/seqlease/seqlease/internal/queue"
)

// resultsOperation is the operation that takes results.
const resultsOperation = "POST /{organism}/submit-processed-data"

// SubmitProcessedData takes in results line by line; the queue keeps only their
// compressed form and, once all have come, stores all or none, or all good ones (L5).
func (s *server) SubmitProcessedData(w http.ResponseWriter, r *http.Request, o Organism, params SubmitProcessedDataParams) {
	skip, err := skipsRefused(params.OnRefused)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if mediaType(r) != "application/x-ndjson" {
		s.fail(w, r, unsupportedMediaType("send the results as Content-Type: application/x-ndjson"))
		return
	}
	person, _ := personOf(r.Context())
	acceptance, err := s.queue.NewAcceptance(r.Context(), queue.AcceptanceRequest{
		Organism: o, PipelineVersion: params.PipelineVersion, SubmittedBy: person.Name, Skip: skip,
	})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	body := bodyOf(r)
	if !body.stream() {
		if err := body.settle(r.Context()); err != nil {
			s.fail(w, r, err)
			return
		}
	}
	malformed, err := takeIn(r.Context(), body, acceptance, skip)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	body.pause() // the end may have come with the last line
	accepted, err := acceptance.Commit(r.Context())
	if malformed != nil && !skip {
		err = withRefused(malformed, err)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if !skip {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	answer := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		answer := AcceptedResults{Stored: accepted.Stored, Refused: shortened(accepted.Refused)}
		_ = json.MarshalWrite(w, answer, jsontext.AllowInvalidUTF8(true)) // a client that left finds out by itself
	}
	if len(accepted.Refused) > manyRefused {
		s.sendLong(w, answer)
		return
	}
	answer(w)
}

// skipsRefused reads the parameter onRefused. Empty counts as absent.
func skipsRefused(onRefused *string) (bool, error) {
	switch orZero(onRefused) {
	case "", "abort":
		return false, nil
	case "skip":
		return true, nil
	default:
		return false, seqlease.InvalidParameter("onRefused", fmt.Sprintf("onRefused can be abort or skip, not %.40q", *onRefused))
	}
}

// longLine is how large the buffer for lines may be without asking for much
// memory. What is made of a line takes some four times as much.
const longLine = 2 << 20

// takeIn reads the lines of a body. One that can't be decoded is a refused one, and
// malformed says what is wrong with the first of them. Without skip that is also what
// is wrong with a body that can't be taken in to its end.
func takeIn(ctx context.Context, body *requestBody, acceptance *queue.Acceptance, skip bool) (malformed, err error) {
	defer func() {
		if err != nil && malformed != nil && !skip {
			err = malformed
		}
	}()
	lines := ndjson.NewReader(limited(streamedBody{body}, maxResultBody, "result body"), ndjson.DefaultLimit)
	lines.OnResize = func(size int) error {
		if size > streamedLine {
			if err := body.settle(ctx); err != nil {
				return err
			}
		}
		if size > longLine {
			return body.holdLarge(ctx)
		}
		if !acceptance.IsLarge() {
			body.releaseLarge()
		}
		return nil
	}
	var decoder lineDecoder
	for {
		line, err := lines.Next()
		switch {
		case errors.Is(err, io.EOF):
			return malformed, nil
		case err != nil:
			return malformed, lineError(err, "result body")
		}
		if err := body.work(ctx); err != nil {
			return malformed, err
		}
		fault, err := addLine(acceptance, &decoder, lines.Line(), line)
		if malformed == nil {
			malformed = fault
		}
		if err == nil && !acceptance.IsSmall() {
			err = body.settle(ctx)
		}
		if err == nil && acceptance.IsLarge() {
			err = body.holdLarge(ctx)
		}
		if err != nil {
			return malformed, err
		}
	}
}

// addLine says what is wrong with a line that can't be decoded.
func addLine(acceptance *queue.Acceptance, decoder *lineDecoder, number int, line []byte) (malformed, err error) {
	decoded, malformed := decoder.decode(number, line)
	if malformed != nil {
		return malformed, acceptance.Refuse(number, namedEntry(line), malformed.Error())
	}
	result := decoded.result
	if decoded.attemptFault != "" {
		return nil, acceptance.Refuse(number, result.AccessionVersion, decoded.attemptFault)
	}
	return nil, acceptance.Add(number, &result)
}

// malformedBodyError is a body of which lines can't be read: a bad request (protocol
// §6.2), as the first of them says. All lines that are refused are named (L5).
type malformedBodyError struct {
	error
	refused []seqlease.Refusal
}

// withRefused makes the error of a body with malformed lines of what became of it,
// which is nothing whatever the store says.
func withRefused(malformed, err error) error {
	var refused *seqlease.RefusedError
	if !errors.As(err, &refused) {
		return malformed
	}
	return &malformedBodyError{malformed, refused.Refused}
}

// lineError says what a failed read of lines means; what says whose lines they are.
func lineError(err error, what string) error {
	var tooLong *ndjson.LineTooLongError
	if errors.As(err, &tooLong) {
		return seqlease.Explain(seqlease.ErrTooLarge, "the %s is too large: %v", what, tooLong)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return bodyError(err)
}
