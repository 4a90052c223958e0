package wire

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/bench/genome"
	"github.com/seqlease/seqlease/client"
)

// official is a worker that uses the product's client as any pipeline in Go does:
// it decodes every entry and encodes every result.
type official struct {
	client   *client.Client
	organism seqlease.Organism
	samples  []genome.Sample
	workerID string
}

func newOfficial(s *Site, number int, samples []genome.Sample, transport *http.Transport) (*official, error) {
	c, err := client.New(s.Servers[number%len(s.Servers)].URL, s.settings.pipeline, client.WithHTTP(&http.Client{Transport: transport}))
	return &official{client: c, organism: s.Organism.Key, samples: samples, workerID: "bench-" + strconv.Itoa(number)}, err
}

func (w *official) claim(ctx context.Context, entries, waitSeconds int) ([]claimed, error) {
	answer, err := w.client.Claim(ctx, client.ClaimRequest{
		Organism: w.organism, PipelineVersion: 1, Entries: entries, WorkerID: w.workerID, Wait: time.Duration(waitSeconds) * time.Second,
	})
	if err != nil {
		return nil, err
	}
	batch := make([]claimed, len(answer.Entries))
	for i, e := range answer.Entries {
		number, err := strconv.Atoi(strings.TrimPrefix(e.SubmissionID, idPrefix))
		if err != nil {
			return nil, fmt.Errorf("submission id %q: %w", e.SubmissionID, err)
		}
		batch[i] = claimed{number, string(e.Accession), strconv.FormatInt(int64(e.Version), 10), e.AttemptID.String()}
	}
	return batch, nil
}

func (w *official) submit(ctx context.Context, batch []claimed) (refused int, err error) {
	var faults []error
	results := func(yield func(seqlease.Result) bool) {
		for _, e := range batch {
			r := w.samples[e.number%len(w.samples)].Result
			version, err := strconv.ParseInt(e.version, 10, 64)
			attempt, err2 := seqlease.ParseAttemptID(e.attempt)
			if err = errors.Join(err, err2); err != nil {
				faults = append(faults, err)
				return
			}
			r.AccessionVersion = seqlease.AccessionVersion{Accession: seqlease.Accession(e.accession), Version: seqlease.Version(version)}
			r.AttemptID = attempt
			if !yield(r) {
				return
			}
		}
	}
	err = w.client.SubmitResults(ctx, w.organism, 1, results)
	var lines *seqlease.RefusedError
	if errors.As(err, &lines) {
		return len(lines.Refused), errors.Join(faults...)
	}
	return 0, errors.Join(append(faults, err)...)
}
