package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/bench/genome"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/seqcodec"
)

// codecStore is a store that keeps nothing: what it hands out was packed
// beforehand, and it takes every result. What it doesn't answer is never asked.
type codecStore struct {
	queue.Store
	codec      *seqcodec.Codec
	dictionary seqcodec.Dictionary
	packed     []seqlease.Packed
	// taken gets the lines of a submission; nil: they are dropped.
	taken func([]queue.Line)
}

func newCodecStore(o *organism.Organism, samples []genome.Sample) (*codecStore, error) {
	s := &codecStore{codec: seqcodec.New(), dictionary: seqcodec.Dictionary{ID: 1, Bytes: o.Dictionary()}}
	for i := range samples {
		document, err := json.Marshal(seqlease.SubmittedData{
			Metadata: samples[i].Metadata, UnalignedNucleotideSequences: map[string]string{idPrefix + strconv.Itoa(i): samples[i].Sequence},
		})
		if err != nil {
			return nil, err
		}
		packed, err := s.Pack(o.Key, document)
		if err != nil {
			return nil, err
		}
		s.packed = append(s.packed, packed)
	}
	return s, nil
}

// Pack compresses as both stores do.
func (s *codecStore) Pack(_ seqlease.Organism, document []byte) (seqlease.Packed, error) {
	frame, err := s.codec.Encode(s.dictionary, document)
	return seqlease.Packed{Dictionary: s.dictionary.ID, Bytes: frame}, err
}

// Unpack decompresses as both stores do.
func (s *codecStore) Unpack(_ context.Context, p seqlease.Packed) ([]byte, error) {
	return s.codec.Decode(s.dictionary, p.Bytes)
}

// Claim hands out the samples in turn.
func (s *codecStore) Claim(_ context.Context, c queue.Claim) (queue.Lease, error) {
	lease := queue.Lease{AttemptID: c.AttemptID, Until: time.Now().Add(c.Lease), Lease: c.Lease, Mark: "x"}
	for i := range c.Entries {
		lease.Entries = append(lease.Entries, queue.ClaimedEntry{
			AccessionVersion: seqlease.AccessionVersion{Accession: seqlease.NewAccession("BENCH_", int64(i)), Version: 1},
			Place:            i, Packed: s.packed[i%len(s.packed)], SubmissionID: idPrefix + strconv.Itoa(i), Submitter: "submitter", GroupID: 1, Attempt: 1,
		})
	}
	return lease, nil
}

// AcceptResults takes everything.
func (s *codecStore) AcceptResults(_ context.Context, submission queue.Submission) (queue.Accepted, error) {
	if len(submission.Invalid) > 0 {
		return queue.Accepted{}, fmt.Errorf("an invalid result: %s", submission.Invalid[0].Detail)
	}
	if s.taken != nil {
		s.taken(submission.Lines)
	}
	return queue.Accepted{Stored: len(submission.Lines)}, nil
}

// PackedEntries are the uploaded documents of the samples as the server stores them.
func PackedEntries(o *organism.Organism, samples []genome.Sample) ([][]byte, error) {
	store, err := newCodecStore(o, samples)
	if err != nil {
		return nil, err
	}
	packed := make([][]byte, len(store.packed))
	for i, p := range store.packed {
		packed[i] = p.Bytes
	}
	return packed, nil
}

// packedResults are the results of the samples as the server stores them.
func packedResults(ctx context.Context, o *organism.Organism, samples []genome.Sample) (packed [][]byte, err error) {
	store, err := newCodecStore(o, nil)
	if err != nil {
		return nil, err
	}
	catalog, err := organism.NewCatalog(o)
	if err != nil {
		return nil, err
	}
	acceptance, err := queue.New(store, catalog).NewAcceptance(ctx, queue.AcceptanceRequest{Organism: o.Key, PipelineVersion: 1})
	if err != nil {
		return nil, err
	}
	store.taken = func(lines []queue.Line) {
		for _, l := range lines {
			packed = append(packed, l.Packed.Bytes)
		}
	}
	attempt := seqlease.NewAttemptID()
	for i, s := range samples {
		r := s.Result
		r.AccessionVersion = seqlease.AccessionVersion{Accession: seqlease.NewAccession("BENCH_", int64(i)), Version: 1}
		r.AttemptID = attempt
		if err := acceptance.Add(i+1, &r); err != nil {
			return nil, err
		}
	}
	_, err = acceptance.Commit(ctx)
	return packed, err
}
