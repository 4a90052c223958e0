package httpapi

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/zstd"

	"github.com/seqlease/seqlease/internal/ndjson"
	"github.com/seqlease/seqlease/internal/queue"

	"github.com/seqlease/seqlease"
)

// maxWaitSeconds is how long a client may ask to wait for work.
const maxWaitSeconds = 30

// sendBuffer gathers short lines.
const sendBuffer = 64 << 10

// sendWindow is how far back the compression of an answer looks: some ten genomes
// of 30 kb. Each answer under way takes three times as much memory.
const sendWindow = 512 << 10

// ExtractUnprocessedData claims entries and sends them. The claim comes first:
// "not modified" only ever replaces an empty answer (L14). What can't be
// delivered is given back (L8) and the answer is cut (L15).
func (s *server) ExtractUnprocessedData(w http.ResponseWriter, r *http.Request, o Organism, params ExtractUnprocessedDataParams) {
	compressed, err := wantsZstd(params.Compression)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	request, err := claimRequest(o, params)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	person, _ := personOf(r.Context())
	request.ClaimedBy = person.Name
	lease, err := s.queue.Claim(r.Context(), request)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	tag := `"` + lease.Mark + `"`
	h := w.Header()
	h.Set("ETag", tag)
	if len(lease.Entries) == 0 && knownTag(r) == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", ndjsonType)
	if compressed {
		h.Set("Content-Encoding", "zstd")
	}
	s.deliver(w, r, lease, compressed)
}

func claimRequest(o Organism, params ExtractUnprocessedDataParams) (queue.ClaimRequest, error) {
	request := queue.ClaimRequest{
		Organism: o, PipelineVersion: params.PipelineVersion, Entries: int(params.NumberOfSequenceEntries),
		WorkerID: orZero(params.WorkerId),
	}
	if wait := orZero(params.WaitSeconds); wait < 0 || wait > maxWaitSeconds {
		return request, seqlease.InvalidParameter("waitSeconds", fmt.Sprintf("waitSeconds must be from 0 to %d, not %d", maxWaitSeconds, wait))
	}
	if params.LeaseSeconds == nil {
		return request, nil
	}
	if n := *params.LeaseSeconds; n < queue.MinLeaseSeconds || n > queue.MaxLeaseSeconds {
		return request, seqlease.InvalidParameter("leaseSeconds",
			fmt.Sprintf("leaseSeconds must be from %d to %d, not %d", queue.MinLeaseSeconds, queue.MaxLeaseSeconds, n))
	}
	request.LeaseSeconds = int(*params.LeaseSeconds)
	return request, nil
}

// deliver sends a claimed batch. Once all of it was flushed to a client that is
// still there, it counts as delivered.
func (s *server) deliver(w http.ResponseWriter, r *http.Request, lease queue.Lease, compressed bool) {
	delivered := false
	defer func() {
		if !delivered && len(lease.Entries) > 0 {
			s.giveBack(r, lease)
		}
	}()
	err := s.sendLease(r.Context(), w, lease, compressed)
	if err == nil {
		err = http.NewResponseController(w).Flush()
	}
	if err == nil {
		err = r.Context().Err()
	}
	if err != nil {
		s.abort(r, err)
	}
	delivered = true
}

func (s *server) giveBack(r *http.Request, lease queue.Lease) {
	attributes := []slog.Attr{
		slog.String("request_id", requestID(r.Context())),
		slog.String("attempt_id", lease.AttemptID.String()), slog.Int("rows", len(lease.Entries)),
	}
	if err := s.queue.GiveBackUndelivered(r.Context(), lease.AttemptID); err != nil {
		s.logger.LogAttrs(r.Context(), slog.LevelError, "undelivered claim waits for its lease end", append(attributes, slog.Any("error", err))...)
		return
	}
	s.logger.LogAttrs(r.Context(), slog.LevelWarn, "undelivered claim given back", attributes...)
}

// sendLease writes the lines of a batch.
func (s *server) sendLease(ctx context.Context, w io.Writer, lease queue.Lease, compressed bool) error {
	target := w
	finish := func() error { return nil }
	if compressed {
		encoder, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true),
			zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(sendWindow))
		if err != nil {
			return fmt.Errorf("compress answer: %w", err)
		}
		target, finish = encoder, encoder.Close
	}
	out := bufio.NewWriterSize(target, sendBuffer)
	var line []byte
	damaged := func(av seqlease.AccessionVersion, err error) {
		s.logger.LogAttrs(ctx, slog.LevelError, "damaged entry left out of a claim; it comes back when the lease ends", slog.String("request_id", requestID(ctx)),
			slog.String("attempt_id", lease.AttemptID.String()), slog.String("accession_version", av.String()), slog.Any("error", err))
	}
	for entry, err := range s.queue.Entries(ctx, lease, damaged) {
		if err != nil {
			return err
		}
		if line, err = appendEntry(line[:0], lease, entry); err != nil {
			return err
		}
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return finish()
}

// leaseUntilFormat is RFC 3339 in UTC.
const leaseUntilFormat = "2006-01-02T15:04:05.000Z"

// appendEntry appends the line of a claimed entry. The submitted data is JSON
// already and goes in as it is.
func appendEntry(dst []byte, lease queue.Lease, e queue.Entry) ([]byte, error) {
	var err error
	text := func(member, value string) {
		var quoted []byte
		dst = append(dst, member...)
		if err == nil {
			quoted, err = jsontext.AppendQuote(nil, value)
		}
		dst = ndjson.AppendEscaped(dst, quoted)
	}
	number := func(member string, value int64) { dst = strconv.AppendInt(append(dst, member...), value, 10) }

	text(`{"accession":`, string(e.Accession))
	number(`,"version":`, int64(e.Version))
	dst = append(dst, `,"data":`...)
	dst = ndjson.AppendEscaped(dst, e.Data)
	text(`,"submissionId":`, e.SubmissionID)
	text(`,"submitter":`, e.Submitter)
	number(`,"groupId":`, e.GroupID)
	number(`,"submittedAt":`, e.SubmittedAt.Unix())
	text(`,"processingAttemptId":`, lease.AttemptID.String())
	text(`,"leaseUntil":`, lease.Until.UTC().Format(leaseUntilFormat))
	number(`,"leaseSeconds":`, int64(lease.Lease.Seconds()))
	number(`,"attempt":`, int64(e.Attempt))
	if err != nil {
		return nil, fmt.Errorf("line of %s: %w", e.AccessionVersion, err)
	}
	return append(dst, "}\n"...), nil
}
