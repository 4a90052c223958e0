package align

import (
	"errors"
	"fmt"
)

// ErrCannotAlign is what every [*CannotAlignError] is to [errors.Is].
var ErrCannotAlign = errors.New("could not be aligned")

// Reason says why a query can't be aligned.
type Reason string

// The reasons of a [CannotAlignError].
const (
	// NoBases: it is empty or has nothing but N.
	NoBases Reason = "no-bases"
	// TooShort: it has fewer than [MinBases] bases that are known.
	TooShort Reason = "too-short"
	// TooLong: it is longer than [Index.MaxQuery].
	TooLong Reason = "too-long"
	// TooFewAnchors: it shares too few words of bases, in the same order, with
	// the reference: most likely it is of another organism or segment.
	TooFewAnchors Reason = "too-few-anchors"
	// ReverseComplement: its reverse complement is what resembles the reference.
	ReverseComplement Reason = "reverse-complement"
	// LowIdentity: fewer than [MinIdentity] of its bases equal the reference.
	LowIdentity Reason = "low-identity"
)

// CannotAlignError says why a query can't be aligned.
type CannotAlignError struct {
	Reason Reason
	// Detail is a sentence about the query ("it is …"), for the submitter.
	Detail string
}

// Error returns "could not be aligned: …".
func (e *CannotAlignError) Error() string { return ErrCannotAlign.Error() + ": " + e.Detail }

// Is makes the error match [ErrCannotAlign].
func (e *CannotAlignError) Is(target error) bool { return target == ErrCannotAlign }

func cannotAlign(reason Reason, format string, args ...any) error {
	return &CannotAlignError{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}
