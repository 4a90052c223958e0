package sqlite

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/seqcodec"
)

// dictionaries are kept in memory: there are a few per organism at most, and
// one that has an id never changes.
type dictionaries struct {
	of   map[seqlease.Organism]seqcodec.Dictionary // what is compressed against now
	byID map[int64]seqcodec.Dictionary
}

// firstPipelineVersion is current in an organism that is registered for the
// first time.
const firstPipelineVersion = 1

// Register makes organisms known, with their present dictionaries, pipeline
// version 1 and its change counters. It is idempotent.
func (s *Store) Register(ctx context.Context, organisms []*organism.Organism) error {
	for _, o := range organisms {
		err := s.write(ctx, func(ctx context.Context, t *tx) error { return register(ctx, t, o) })
		if err != nil {
			return fmt.Errorf("register organism %s: %w", o.Key, err)
		}
	}
	return s.loadDictionaries(ctx)
}

func register(ctx context.Context, t *tx, o *organism.Organism) error {
	var dictionaryID int64 // 0: none
	if dictionary := o.Dictionary(); len(dictionary) > 0 {
		digest := sha256.Sum256(dictionary)
		err := t.row(ctx, "register_dictionary", named("digest", digest[:], "bytes", dictionary), &dictionaryID)
		if err != nil {
			return err
		}
	}
	var id, current int64
	err := t.row(ctx, "register_organism", named("organism", string(o.Key), "dictionary_id", dictionaryID), &id, &current)
	if err != nil {
		return err
	}
	first := named("organism_id", id, "pipeline_version", firstPipelineVersion)
	if current == firstPipelineVersion {
		if _, err := t.exec(ctx, "register_pipeline_version", first...); err != nil {
			return err
		}
	}
	_, err = t.exec(ctx, "register_changes", first...)
	return err
}

// loadDictionaries reads all dictionaries, and which of them the organisms use.
func (s *Store) loadDictionaries(ctx context.Context) error {
	loaded := dictionaries{of: map[seqlease.Organism]seqcodec.Dictionary{}, byID: map[int64]seqcodec.Dictionary{0: {}}}
	err := s.read(ctx, func(t *tx) error {
		err := t.rows(ctx, "dictionaries", nil, func(scan func(...any) error) error {
			var d seqcodec.Dictionary
			err := scan(&d.ID, &d.Bytes)
			loaded.byID[d.ID] = d
			return err
		})
		if err != nil {
			return err
		}
		return t.rows(ctx, "organism_dictionaries", nil, func(scan func(...any) error) error {
			var key seqlease.Organism
			var id int64
			err := scan(&key, &id)
			loaded.of[key] = loaded.byID[id]
			return err
		})
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dictionaries = loaded
	return nil
}

// Pack compresses a document against the organism's present reference. The
// error is [seqlease.ErrUnknownOrganism] for one that isn't registered.
func (s *Store) Pack(o seqlease.Organism, document []byte) (seqlease.Packed, error) {
	s.mu.RLock()
	d, known := s.dictionaries.of[o]
	s.mu.RUnlock()
	if !known {
		return seqlease.Packed{}, queue.UnknownOrganism(o)
	}
	packed, err := s.codec.Encode(d, document)
	if err != nil {
		return seqlease.Packed{}, fmt.Errorf("pack a document of %s: %w", o, err)
	}
	return seqlease.Packed{Dictionary: d.ID, Bytes: packed}, nil
}

// unpack returns the document.
func (s *Store) unpack(p seqlease.Packed) ([]byte, error) {
	s.mu.RLock()
	d, known := s.dictionaries.byID[p.Dictionary]
	s.mu.RUnlock()
	if !known {
		return nil, fmt.Errorf("%w: the dictionary %d is missing", queue.ErrDamaged, p.Dictionary)
	}
	document, err := s.codec.Decode(d, p.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", queue.ErrDamaged, err)
	}
	return document, nil
}

// Unpack returns the document, as [queue.Store] says.
func (s *Store) Unpack(_ context.Context, p seqlease.Packed) ([]byte, error) { return s.unpack(p) }
