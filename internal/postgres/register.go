package postgres

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/seqcodec"
)

//go:embed sql/register_organism.sql
var registerOrganismSQL string

//go:embed sql/register_version.sql
var registerVersionSQL string

//go:embed sql/dictionary.sql
var dictionarySQL string

//go:embed sql/find_dictionary.sql
var findDictionarySQL string

//go:embed sql/dictionaries.sql
var dictionariesSQL string

// Register makes the organisms known with pipeline version 1 and lets this
// process compress with their present references. What is there already stays
// as it is. It is safe beside running servers.
func (s *Store) Register(ctx context.Context, organisms []*organism.Organism) error {
	sorted := slices.SortedFunc(slices.Values(organisms), func(a, b *organism.Organism) int { return cmp.Compare(a.Key, b.Key) })
	known := map[seqlease.Organism]knownOrganism{}
	err := s.retry(ctx, func() error {
		return s.transaction(ctx, pgx.TxOptions{}, func(tx pgx.Tx) error {
			for _, o := range sorted {
				k, err := register(ctx, tx, o)
				if err != nil {
					return fmt.Errorf("organism %s: %w", o.Key, err)
				}
				known[o.Key] = k
			}
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("register organisms: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, k := range known {
		s.organisms[key] = k
		s.dictionaries[k.dictionary.ID] = k.dictionary.Bytes
	}
	return nil
}

func register(ctx context.Context, tx pgx.Tx, o *organism.Organism) (knownOrganism, error) {
	k := knownOrganism{registered: true}
	if _, err := tx.Exec(ctx, registerOrganismSQL, pgx.StrictNamedArgs{"key": string(o.Key)}); err != nil {
		return k, err
	}
	reference := bytes.Clone(o.Dictionary())
	digest := sha256.Sum256(reference)
	_, err := tx.Exec(ctx, registerVersionSQL, pgx.StrictNamedArgs{"key": string(o.Key), "digest": digest[:], "bytes": reference})
	if err != nil {
		return k, err
	}
	err = tx.QueryRow(ctx, findDictionarySQL, pgx.StrictNamedArgs{"key": string(o.Key), "digest": digest[:]}).Scan(&k.id, &k.dictionary.ID)
	if k.dictionary.ID != 0 {
		k.dictionary.Bytes = reference
	}
	return k, err
}

// Pack compresses a document against the organism's present reference. The
// organism must have been registered by this process, else the error is
// [seqlease.ErrUnknownOrganism]; a document that could not be read back is
// [seqlease.ErrTooLarge].
func (s *Store) Pack(o seqlease.Organism, document []byte) (seqlease.Packed, error) {
	s.mu.RLock()
	known := s.organisms[o]
	s.mu.RUnlock()
	if !known.registered {
		return seqlease.Packed{}, queue.UnknownOrganism(o)
	}
	if len(document) > seqcodec.MaxDocument {
		return seqlease.Packed{}, seqlease.Explain(seqlease.ErrTooLarge, "a document of %d bytes can't be stored: at most %d can", len(document), seqcodec.MaxDocument)
	}
	packed, err := s.codec.Encode(known.dictionary, document)
	return seqlease.Packed{Dictionary: known.dictionary.ID, Bytes: packed}, err
}

// unpack returns the document. Its dictionary must be known ([Store.learn]).
func (s *Store) unpack(dictionary int64, packed []byte) ([]byte, error) {
	s.mu.RLock()
	raw, known := s.dictionaries[dictionary]
	s.mu.RUnlock()
	if !known {
		return nil, fmt.Errorf("%w: dictionary %d is not in the database", queue.ErrDamaged, dictionary)
	}
	document, err := s.codec.Decode(seqcodec.Dictionary{ID: dictionary, Bytes: raw}, packed)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", queue.ErrDamaged, err)
	}
	return document, nil
}

// Unpack returns the document, as [queue.Store] says.
func (s *Store) Unpack(ctx context.Context, p seqlease.Packed) ([]byte, error) {
	if err := s.learnOne(ctx, p.Dictionary); err != nil {
		return nil, fmt.Errorf("read dictionary %d: %w", p.Dictionary, err)
	}
	return s.unpack(p.Dictionary, p.Bytes)
}

// queryer is what a connection and a transaction have in common.
type queryer interface {
	Query(ctx context.Context, sql string, arguments ...any) (pgx.Rows, error)
}

// learn reads the organism's dictionaries that this process doesn't know, such
// as of an earlier reference or one that another server registered.
func (s *Store) learn(ctx context.Context, q queryer, organismID int32) error {
	s.mu.RLock()
	known := slices.Collect(maps.Keys(s.dictionaries))
	s.mu.RUnlock()
	rows, err := q.Query(ctx, dictionariesSQL, pgx.StrictNamedArgs{"organism": organismID, "known": known})
	if err != nil {
		return err
	}
	var id int64
	var raw []byte
	_, err = pgx.ForEachRow(rows, []any{&id, &raw}, func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.dictionaries[id] = bytes.Clone(raw)
		return nil
	})
	return err
}

// learnOne reads a dictionary that this process doesn't know, if it is there.
func (s *Store) learnOne(ctx context.Context, id int64) error {
	s.mu.RLock()
	_, known := s.dictionaries[id]
	s.mu.RUnlock()
	if known {
		return nil
	}
	var raw []byte
	err := s.repeat(ctx, func() error {
		return s.with(ctx, func(c *pgxpool.Conn) error {
			return c.QueryRow(ctx, dictionarySQL, pgx.StrictNamedArgs{"id": id}).Scan(&raw)
		})
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dictionaries[id] = raw
	return nil
}
