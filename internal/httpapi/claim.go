package httpapi

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/zstd"

	"github.com/seqlease/seqlease/internal/ndjson"
	"github.com/seqlease/seqlease/internal/queue"

	"github.com/seqlease/seqlease"
)

// Lines are gathered until there are sendFrom bytes. Each write becomes a chunk, of which
// net/http sends the first 4 KiB and the rest apart, so that it wakes the client
// twice: the fewer, the better.
const (
	sendFrom   = 192 << 10
	sendBuffer = 256 << 10 // with a line of a usual genome
)

// sendBuffers are for answers under way.
var sendBuffers = sync.Pool{New: func() any {
	b := make([]byte, 0, sendBuffer)
	return &b
}}

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
	if err := bodyOf(r).fetch(); err != nil { // until it was read, nobody notices that a client leaves
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
	h := w.Header()
	if lease.RetryAfter > 0 {
		h.Set("Retry-After", strconv.FormatInt(int64(lease.RetryAfter/time.Second), 10))
	}
	tag := `"` + lease.Mark + `"`
	h.Set("ETag", tag) // on every answer: clients read it without asking whether it is there
	if len(lease.Entries) == 0 && lease.Mark != "" && knownTag(r) == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", ndjsonType)
	if compressed {
		h.Set("Content-Encoding", "zstd")
	}
	s.deliver(w, r, o, lease, compressed)
}

func claimRequest(o Organism, params ExtractUnprocessedDataParams) (queue.ClaimRequest, error) {
	request := queue.ClaimRequest{
		Organism: o, PipelineVersion: params.PipelineVersion, Entries: int(params.NumberOfSequenceEntries),
		WorkerID: orZero(params.WorkerId),
	}
	wait := orZero(params.WaitSeconds)
	if most := int64(queue.MaxWait / time.Second); wait < 0 || wait > most {
		return request, seqlease.InvalidParameter("waitSeconds", fmt.Sprintf("waitSeconds must be from 0 to %d, not %d", most, wait))
	}
	request.Wait = time.Duration(wait) * time.Second
	var err error
	request.LeaseSeconds, err = leaseSeconds(params.LeaseSeconds)
	return request, err
}

// leaseSeconds checks how long a lease is asked for; 0 if nothing is.
func leaseSeconds(asked *int64) (int, error) {
	if asked == nil {
		return 0, nil
	}
	if n := *asked; n < queue.MinLeaseSeconds || n > queue.MaxLeaseSeconds {
		return 0, seqlease.InvalidParameter("leaseSeconds",
			fmt.Sprintf("leaseSeconds must be from %d to %d, not %d", queue.MinLeaseSeconds, queue.MaxLeaseSeconds, n))
	}
	return int(*asked), nil
}

// deliver sends a claimed batch. Once all of it was flushed to a client that is
// still there, it counts as delivered. What can't be read is given back after
// that: a batch that wasn't delivered goes back as a whole.
func (s *server) deliver(w http.ResponseWriter, r *http.Request, o Organism, lease queue.Lease, compressed bool) {
	delivered := false
	defer func() {
		if !delivered && len(lease.Entries) > 0 {
			s.giveBack(r, lease)
		}
	}()
	damaged, err := s.sendLease(r.Context(), w, lease, compressed)
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
	if err := s.queue.Damaged(r.Context(), lease.AttemptID, o, damaged); err != nil {
		s.logger.LogAttrs(r.Context(), slog.LevelError, "damaged entries wait for the lease end", slog.String("request_id", requestID(r.Context())),
			slog.String("attempt_id", lease.AttemptID.String()), slog.Int("rows", len(damaged)), slog.Any("error", err))
	}
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

// sendLease writes the lines of a batch, and returns which entries have none
// because they can't be read.
func (s *server) sendLease(ctx context.Context, w io.Writer, lease queue.Lease, compressed bool) (unreadable []seqlease.AccessionVersion, err error) {
	target := w
	finish := func() error { return nil }
	if compressed {
		encoder, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true),
			zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(sendWindow))
		if err != nil {
			return nil, fmt.Errorf("compress answer: %w", err)
		}
		target, finish = encoder, encoder.Close
	}
	buffer := sendBuffers.Get().(*[]byte)
	defer sendBuffers.Put(buffer)
	lines := (*buffer)[:0]
	damaged := func(av seqlease.AccessionVersion, err error) {
		unreadable = append(unreadable, av)
		s.logger.LogAttrs(ctx, slog.LevelError, "damaged entry left out of a claim", slog.String("request_id", requestID(ctx)),
			slog.String("attempt_id", lease.AttemptID.String()), slog.String("accession_version", av.String()), slog.Any("error", err))
	}
	for entry, err := range s.queue.Entries(ctx, lease, damaged) {
		if err != nil {
			return nil, err
		}
		if lines, err = appendEntry(lines, lease, entry); err != nil {
			return nil, err
		}
		if len(lines) < sendFrom {
			continue
		}
		if _, err := target.Write(lines); err != nil {
			return nil, err
		}
		lines = (*buffer)[:0] // also where longer lines had one of their own
	}
	if len(lines) > 0 {
		if _, err := target.Write(lines); err != nil {
			return nil, err
		}
	}
	return unreadable, finish()
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
