package seqlease

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
)

// PipelineVersion numbers the versions of an organism's preprocessing pipeline
// from 1. The current version decides what is shown and released.
type PipelineVersion int64

// AttemptID names one claim: every entry of the claimed batch shares it. It is
// a random (version 4) UUID with 122 random bits, so that it can't be guessed.
// The zero value names no claim.
type AttemptID [16]byte

// NewAttemptID draws a new attempt id. It can't fail: the system's random
// source ends the program rather than return less than it was asked for.
func NewAttemptID() AttemptID {
	var id AttemptID
	_, _ = rand.Read(id[:]) // never returns an error since Go 1.24
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}

// ParseAttemptID reads the 36-character form, in either case.
func ParseAttemptID(s string) (AttemptID, error) {
	var id AttemptID
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return id, fmt.Errorf("%q is not an attempt id: it has 36 characters, such as 0b7e4c3a-96d1-4f0e-8a53-2f6f0c1d9e77", s)
	}
	if _, err := hex.Decode(id[:], []byte(s[0:8]+s[9:13]+s[14:18]+s[19:23]+s[24:36])); err != nil {
		return AttemptID{}, fmt.Errorf("%q is not an attempt id: %w", s, err)
	}
	return id, nil
}

// IsZero says whether the id names no claim.
func (id AttemptID) IsZero() bool { return id == AttemptID{} }

// String returns the 36-character form in lower case.
func (id AttemptID) String() string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[0:4], id[4:6], id[6:8], id[8:10], id[10:16])
}

// MarshalText writes the form of [AttemptID.String].
func (id AttemptID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads what [ParseAttemptID] reads.
func (id *AttemptID) UnmarshalText(text []byte) error {
	parsed, err := ParseAttemptID(string(text))
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}
