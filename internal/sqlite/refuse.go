package sqlite

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// OrganismsOf returns of which organisms the entries are, as [queue.Store] says.
func (s *Store) OrganismsOf(ctx context.Context, entries []seqlease.AccessionVersion) (map[seqlease.AccessionVersion]seqlease.Organism, error) {
	organisms := make(map[seqlease.AccessionVersion]seqlease.Organism, len(entries))
	err := s.readOnce().rows(ctx, "organisms_of", named("entries", jsonEntries(entries)), func(scan func(...any) error) error {
		var av seqlease.AccessionVersion
		var of seqlease.Organism
		err := scan(&av.Accession, &av.Version, &of)
		organisms[av] = of
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("organisms of %d entries: %w", len(entries), storeError(err))
	}
	return organisms, nil
}

// refusedLine is a refusal and the attempt that its line named.
type refusedLine struct {
	seqlease.Refusal
	attemptID seqlease.AttemptID // zero: not known
}

// noteRefusals notes which entries of running leases a submission was refused
// for, in transactions of their own: the submission may have been undone, and its
// answer is known by now. That it failed is logged and changes nothing.
func (s *Store) noteRefusals(ctx context.Context, r queue.Submission, refused []seqlease.Refusal) {
	ctx = context.WithoutCancel(ctx)
	attempts := make(map[int]seqlease.AttemptID, len(r.Lines))
	for _, l := range r.Lines {
		attempts[l.Number] = l.AttemptID
	}
	var lines []refusedLine
	for _, refusal := range queue.NotedRefusals(refused) {
		lines = append(lines, refusedLine{refusal, attempts[refusal.Line]})
	}
	for len(lines) > 0 {
		n := min(len(lines), maxPlaces)
		args := named("lines", jsonRefusals(lines[:n]), "pipeline_version", int64(r.PipelineVersion), "claimed_by", r.ClaimedBy,
			"organism", string(r.Organism), "refusals", int64(queue.RefusalsPerAttempt))
		err := s.write(ctx, func(ctx context.Context, t *tx) error {
			_, err := t.exec(ctx, "note_refusals", args...)
			return err
		})
		if err != nil {
			s.logger.WarnContext(ctx, "refusals not noted", "organism", string(r.Organism), "rows", len(lines), "error", err)
			return
		}
		lines = lines[n:]
	}
}

// jsonRefusals writes [["ACC",version,"attempt id" or null,"reason"],…].
func jsonRefusals(lines []refusedLine) string {
	return jsonList(lines, func(b []byte, l refusedLine) []byte {
		b = appendText(append(b, '['), l.Accession)
		b = strconv.AppendInt(append(b, ','), int64(l.Version), 10)
		if l.attemptID.IsZero() {
			b = append(b, ",null"...)
		} else {
			b = append(hex.AppendEncode(append(b, ',', '"'), l.attemptID[:]), '"')
		}
		return append(appendText(append(b, ','), shorten(l.Detail)), ']')
	})
}

// shorten cuts a reason to what is kept of it, between characters.
func shorten(reason string) string {
	if len(reason) <= queue.MaxReasonBytes {
		return reason
	}
	end := queue.MaxReasonBytes
	for !utf8.RuneStart(reason[end]) {
		end--
	}
	return reason[:end]
}
