package queue

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
)

// MaxResultLines is how many lines a submission of results may have: as many as
// a claim has entries.
const MaxResultLines = MaxEntries

// MaxPackedBytes bounds what a submission of results keeps in memory: its lines
// in the compressed form of storage. A genome close to its reference takes a few
// hundred bytes of it, incompressible text all its length.
const MaxPackedBytes = 16 << 20

// AcceptanceRequest opens a submission of results.
type AcceptanceRequest struct {
	Organism        seqlease.Organism
	PipelineVersion seqlease.PipelineVersion
	SubmittedBy     string // user of the token
	Skip            bool   // store the good lines though others are refused (L5)
}

// Acceptance takes in a submission of results line by line and keeps only the
// compressed form of each, so that a body may be far larger than memory. It is
// for one goroutine. Nothing is stored before [Acceptance.Commit].
type Acceptance struct {
	store      Store
	failing    *failingWorkers
	organism   *organism.Organism
	submission Submission
	lineOf     map[seqlease.AccessionVersion]int // first line of each entry
	lines      int
	packed     int                // bytes
	attempt    seqlease.AttemptID // of the first line that names one
}

// NewAcceptance begins a submission of results. Errors:
// [seqlease.ErrUnknownOrganism].
func (q *Queue) NewAcceptance(_ context.Context, r AcceptanceRequest) (*Acceptance, error) {
	o, err := q.organisms.Get(r.Organism)
	if err != nil {
		return nil, err
	}
	return &Acceptance{
		store: q.store, failing: q.failing, organism: o,
		submission: Submission{Organism: r.Organism, PipelineVersion: r.PipelineVersion, ClaimedBy: r.SubmittedBy, Skip: r.Skip},
		lineOf:     map[seqlease.AccessionVersion]int{},
	}, nil
}

// Add takes in the result of a line (number from 1) and brings it into the
// normal form of storage: r is changed. A line that breaks a rule is kept as a
// refusal that [Acceptance.Commit] reports together with all others; that is no
// error here. The rules, in this order:
//
//   - the attempt id must be given;
//   - no text anywhere may be unstorable ([seqlease.IsStorable], L18);
//   - an entry may occur once in a submission: any further line for it is
//     refused as a duplicate, equal or not, and names both lines;
//   - no attachments, as no organism takes any;
//   - a result without errors keeps the rules of the organism
//     ([organism.Organism.CheckProcessed]); one with errors may hold anything.
//
// The error is [seqlease.ErrTooLarge] beyond [MaxResultLines] or
// [MaxPackedBytes], or the store's.
func (a *Acceptance) Add(number int, r *seqlease.Result) error {
	if r.AttemptID.IsZero() {
		return a.Refuse(number, r.AccessionVersion, MissingAttemptID)
	}
	if a.attempt.IsZero() {
		a.attempt = r.AttemptID
	}
	if problems := unstorableTexts(r); len(problems) > 0 {
		return a.Refuse(number, r.AccessionVersion, seqlease.Invalid(problems...).Error())
	}
	if first, twice := a.lineOf[r.AccessionVersion]; twice {
		return a.refuse(RefuseDuplicate(r.AccessionVersion, number, first))
	}
	a.lineOf[r.AccessionVersion] = number
	problems := checkFiles(r.Data.Files)
	if len(r.Errors) == 0 {
		upperCase(&r.Data)
		problems = append(problems, a.organism.CheckProcessed(&r.Data)...)
	}
	if len(problems) > 0 {
		return a.Refuse(number, r.AccessionVersion, seqlease.Invalid(problems...).Error())
	}
	return a.keep(number, r)
}

// keep packs a good line.
func (a *Acceptance) keep(number int, r *seqlease.Result) error {
	if err := a.count(); err != nil {
		return err
	}
	document, err := encode(r)
	if err != nil {
		return fmt.Errorf("line %d, %s: %w", number, r.AccessionVersion, err)
	}
	packed, err := a.store.Pack(a.submission.Organism, document)
	if err != nil {
		return fmt.Errorf("line %d, %s: pack: %w", number, r.AccessionVersion, err)
	}
	if a.packed += len(packed.Bytes); a.packed > MaxPackedBytes {
		return seqlease.Explain(seqlease.ErrTooLarge, "line %d: the results up to here take more than %d MiB compressed: send fewer entries in a submission",
			number, MaxPackedBytes>>20)
	}
	digest := sha256.Sum256(document)
	a.submission.Lines = append(a.submission.Lines, Line{
		AccessionVersion: r.AccessionVersion, Number: number, AttemptID: r.AttemptID,
		Result: r.ProcessingResult(), Digest: [16]byte(digest[:16]), Packed: packed,
	})
	return nil
}

// MissingAttemptID is what a pipeline is told that doesn't send the attempt id.
const MissingAttemptID = "processingAttemptId is missing: copy the member processingAttemptId of the claimed entry's line " +
	"(extract-unprocessed-data) unchanged to the entry's result line"

// Refuse notes a line that the caller found invalid, such as one that can't be
// decoded. Parts of the accession version that are unknown stay empty, and so
// does an accession that can't be stored. The error is [seqlease.ErrTooLarge]
// beyond [MaxResultLines].
func (a *Acceptance) Refuse(number int, entry seqlease.AccessionVersion, detail string) error {
	if !seqlease.IsStorable(string(entry.Accession)) {
		entry.Accession = ""
	}
	return a.refuse(seqlease.Refusal{
		AccessionVersion: entry, Line: number, Reason: seqlease.RefusedInvalid, Detail: CleanReason(detail),
	})
}

func (a *Acceptance) refuse(r seqlease.Refusal) error {
	if err := a.count(); err != nil {
		return err
	}
	a.submission.Invalid = append(a.submission.Invalid, r)
	return nil
}

func (a *Acceptance) count() error {
	if a.lines++; a.lines > MaxResultLines {
		return seqlease.Explain(seqlease.ErrTooLarge, "a submission of results has at most %d lines: send the rest in another", MaxResultLines)
	}
	return nil
}

// Commit stores the results, or nothing (L3, L5, L6). The error is a
// [*seqlease.RefusedError] with every refused line in line order, or the store's.
// With Skip the good lines are stored, the refused ones are in the answer, and
// that there are any is no error. A submission without lines changes nothing.
// Call it once.
func (a *Acceptance) Commit(ctx context.Context) (Accepted, error) {
	if a.lines == 0 {
		return Accepted{}, nil
	}
	slices.SortStableFunc(a.submission.Invalid, func(x, y seqlease.Refusal) int { return cmp.Compare(x.Line, y.Line) })
	accepted, err := a.store.AcceptResults(ctx, a.submission)
	a.judge(accepted, err)
	if err != nil {
		return Accepted{}, fmt.Errorf("accept results for %s, pipeline version %d: %w",
			a.submission.Organism, a.submission.PipelineVersion, err)
	}
	return accepted, nil
}

// judge tells whether the worker gets anything done (L9).
func (a *Acceptance) judge(accepted Accepted, err error) {
	var refused *seqlease.RefusedError
	switch {
	case err == nil && len(accepted.Refused) < a.lines:
		a.failing.attemptSucceeded(a.attempt)
	case err == nil || errors.As(err, &refused):
		otherwise := func(r seqlease.Refusal) bool { return r.Reason != seqlease.RefusedInvalid }
		if len(a.submission.Invalid) == a.lines && !slices.ContainsFunc(a.submission.Invalid, otherwise) {
			a.failing.attemptFailed(a.attempt)
		}
	}
}
