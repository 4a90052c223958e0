package submission

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/seqlease/seqlease"
)

const (
	// MaxRevoked is how many accessions one call revokes at most: as many as one
	// claim has entries.
	MaxRevoked = 100_000
	// MaxVersionComment is the most characters of a version comment, which is stored
	// with each of the revocations.
	MaxVersionComment = 10_000
)

// versionCommentField is the metadata field that says why there is a version.
const versionCommentField = "versionComment"

// RevokeRequest says which accessions to revoke and why.
type RevokeRequest struct {
	Organism       seqlease.Organism
	Accessions     []seqlease.Accession // at most [MaxRevoked]; what is named twice counts once
	VersionComment *string              // at most [MaxVersionComment] characters; nil: none
}

// RevokeStore stores revocations.
type RevokeStore interface {
	// Revoke adds to each accession a revocation as its next version, with the group
	// and submission id of the highest one, and returns them by accession. All or
	// nothing: under the entries' locks each highest version must be released and of
	// the organism, else the error is a [*StateError]. Nothing waits for processing,
	// and what is released stays as it is. The audit log gets one row.
	Revoke(ctx context.Context, r Revocation) ([]seqlease.SubmissionIDMapping, error)
}

// Revocation is a checked request to revoke.
type Revocation struct {
	Organism   seqlease.Organism
	User       string
	Accessions []seqlease.Accession // in order, each once
	Data       []byte               // JSON document of a [seqlease.SubmittedData] for each of them
}

// Revoke adds a revocation to each accession, which has no data and waits for its
// approval, and returns them by accession. The order of checks is the protocol's:
// organism ([seqlease.ErrUnknownOrganism]), the accessions exist ([*StateError]), the
// person may act for their groups ([seqlease.ErrForbidden]), their highest versions
// are released and of the organism ([*StateError]).
func (s *Submissions) Revoke(ctx context.Context, p seqlease.Person, r RevokeRequest) ([]seqlease.SubmissionIDMapping, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if _, err := s.organisms.Get(r.Organism); err != nil {
		return nil, err
	}
	accessions := slices.Compact(slices.Sorted(slices.Values(r.Accessions)))
	if len(accessions) == 0 {
		return []seqlease.SubmissionIDMapping{}, nil
	}
	found, err := s.store.NewestStandings(ctx, accessions)
	if err != nil {
		return nil, fmt.Errorf("where %d accessions stand: %w", len(accessions), err)
	}
	if unknown := unknownOf(accessions, found); len(unknown) > 0 {
		return nil, &StateError{Unknown: unknown}
	}
	if err := s.mayChangeFound(ctx, p, r.Organism, found, seqlease.ApprovedForRelease); err != nil {
		return nil, err
	}
	document := submittedDocument{Metadata: map[string]string{}}
	if r.VersionComment != nil {
		document.Metadata[versionCommentField] = *r.VersionComment
	}
	data, err := document.encode()
	if err != nil {
		return nil, err
	}
	made, err := s.store.Revoke(ctx, Revocation{Organism: r.Organism, User: p.Name, Accessions: accessions, Data: data})
	if err != nil {
		return nil, fmt.Errorf("revoke in %s: %w", r.Organism, err)
	}
	return made, nil
}

func (r RevokeRequest) check() error {
	if len(r.Accessions) > MaxRevoked {
		return seqlease.InvalidParameter("accessions", fmt.Sprintf("accessions may name at most %d, not %d: send several requests", MaxRevoked, len(r.Accessions)))
	}
	for i, accession := range r.Accessions {
		if fault := accession.Fault(); fault != "" {
			name := "accessions[" + strconv.Itoa(i) + "]"
			return seqlease.InvalidParameter(name, name+" "+fault+": send that of the entry")
		}
	}
	switch comment := r.VersionComment; {
	case comment == nil:
		return nil
	case !seqlease.IsStorable(*comment):
		return seqlease.Invalid(seqlease.Problem{Field: versionCommentField, Message: versionCommentField + " has a NUL character or broken UTF-8 in it, which can't be stored"})
	case utf8.RuneCountInString(*comment) > MaxVersionComment:
		return seqlease.InvalidParameter(versionCommentField, versionCommentField+" may have at most "+strconv.Itoa(MaxVersionComment)+" characters")
	default:
		return nil
	}
}
