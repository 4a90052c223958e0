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
// in the compressed form of storage, and of every accession, refused ones included,
// what is beyond usualAccession. A genome close to its reference takes a few hundred bytes of it,
// incompressible text all its length.
const MaxPackedBytes = 16 << 20

// usualAccession is how many bytes of an accession go with its line, of which there
// are at most [MaxResultLines].
const usualAccession = 32

// manyLines is from how many lines on a submission takes much memory: a kilobyte
// or so for each, beside its document.
const manyLines = 5_000

// Up to these a submission is a small one. A line takes a few hundred bytes beside its
// document, a refused one up to some kilobytes.
const (
	fewLines   = 1000
	fewRefused = 50
	fewBytes   = 256 << 10
)

// keptDocument is how much memory is kept from one document to the next.
const keptDocument = 128 << 10

// Every refused line is named, but where there are more than manyRefused,
// nobody reads each one's whole detail.
const (
	manyRefused = 1000
	shortDetail = 120 // bytes
)

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
	kept       int    // bytes, as [MaxPackedBytes] counts them
	document   []byte // of the last line, to be written over
	// attempts are those that lines name: whether any line of theirs was good, or
	// refused otherwise than as invalid.
	attempts map[seqlease.AttemptID]bool
	// unruly are the lines that break a rule of the organism, if it is theirs.
	unruly []unrulyLine
}

// unrulyLine is a refusal for breaking a rule of the organism.
type unrulyLine struct {
	place     int // in [Submission.Invalid]
	attemptID seqlease.AttemptID
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
		lineOf:     map[seqlease.AccessionVersion]int{}, attempts: map[seqlease.AttemptID]bool{},
	}, nil
}

// Add takes in the result of a line (number from 1) and brings it into the
// normal form of storage: r is changed. A line that breaks a rule is kept as a
// refusal that [Acceptance.Commit] reports together with all others; that is no
// error here. The rules, in this order:
//
//   - the accession must be one ([seqlease.Accession.Fault]);
//   - the attempt id must be given;
//   - no text anywhere may be unstorable ([seqlease.IsStorable], L18);
//   - an entry may occur once in a submission: any further line for it is
//     refused as a duplicate, equal or not, and names both lines;
//   - no attachments, as no organism takes any;
//   - a result without errors keeps the rules of the organism
//     ([organism.Organism.CheckProcessed]); one with errors may hold anything. That the
//     entry is of another organism is told before that ([Acceptance.Commit]).
//
// The error is [seqlease.ErrTooLarge] beyond [MaxResultLines] or
// [MaxPackedBytes], or the store's.
func (a *Acceptance) Add(number int, r *seqlease.Result) error {
	if fault := r.Accession.Fault(); fault != "" {
		problem := seqlease.Problem{Field: "accession", Message: fault + ": copy it unchanged from the entry's line"}
		return a.Refuse(number, r.AccessionVersion, problem.String())
	}
	if r.AttemptID.IsZero() {
		return a.Refuse(number, r.AccessionVersion, MissingAttemptID)
	}
	if !a.attempts[r.AttemptID] {
		a.attempts[r.AttemptID] = false
	}
	// A result that keeps the rules as it came is the usual one. Its sequences are of the
	// letters of their alphabets, so that nothing more is to be looked for in them.
	plain := len(r.Errors) == 0 && a.keepsRules(&r.Data)
	if problems, more := unstorableTexts(r, plain); len(problems) > 0 {
		return a.Refuse(number, r.AccessionVersion, describe(problems, more))
	}
	if first, twice := a.lineOf[r.AccessionVersion]; twice {
		a.attempts[r.AttemptID] = true
		return a.refuse(RefuseDuplicate(r.AccessionVersion, number, first))
	}
	a.lineOf[r.AccessionVersion] = number
	if problems, more := checkFiles(r.Data.Files, a.organism.FileCategories); len(problems) > 0 {
		return a.Refuse(number, r.AccessionVersion, describe(problems, more))
	}
	if len(r.Errors) == 0 && !plain {
		upperCase(&r.Data)
		if problems, more := a.organism.CheckProcessed(&r.Data); len(problems) > 0 {
			a.unruly = append(a.unruly, unrulyLine{len(a.submission.Invalid), r.AttemptID})
			return a.Refuse(number, r.AccessionVersion, describe(problems, more))
		}
	}
	return a.keep(number, r, plain)
}

func (a *Acceptance) keepsRules(d *seqlease.ProcessedData) bool {
	problems, _ := a.organism.CheckProcessed(d)
	return len(problems) == 0
}

// keep packs a good line.
func (a *Acceptance) keep(number int, r *seqlease.Result, plain bool) error {
	document, err := encode(a.document[:0], r, plain)
	if err != nil {
		return fmt.Errorf("line %d, %s: %w", number, r.AccessionVersion, err)
	}
	a.document = nil
	if cap(document) <= keptDocument {
		a.document = document
	}
	packed, err := a.store.Pack(a.submission.Organism, document)
	if err != nil {
		return fmt.Errorf("line %d, %s: pack: %w", number, r.AccessionVersion, err)
	}
	if err := a.count(number, r.Accession, len(packed.Bytes)); err != nil {
		return err
	}
	a.attempts[r.AttemptID] = true
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
// does an accession that is none ([seqlease.Accession.Fault]). Where many lines are
// refused, details are cut. The error is [seqlease.ErrTooLarge] beyond
// [MaxResultLines] or [MaxPackedBytes].
func (a *Acceptance) Refuse(number int, entry seqlease.AccessionVersion, detail string) error {
	if entry.Accession.Fault() != "" {
		entry.Accession = ""
	}
	return a.refuse(seqlease.Refusal{
		AccessionVersion: entry, Line: number, Reason: seqlease.RefusedInvalid, Detail: CleanReason(detail),
	})
}

func (a *Acceptance) refuse(r seqlease.Refusal) error {
	if err := a.count(r.Line, r.Accession, 0); err != nil {
		return err
	}
	if len(a.submission.Invalid) >= manyRefused && len(r.Detail) > shortDetail {
		r.Detail = shorten(r.Detail, shortDetail)
	}
	a.submission.Invalid = append(a.submission.Invalid, r)
	return nil
}

// count counts a line and what is kept of it: its accession and packed bytes.
func (a *Acceptance) count(number int, accession seqlease.Accession, packed int) error {
	if a.lines++; a.lines > MaxResultLines {
		return seqlease.Explain(seqlease.ErrTooLarge, "a submission of results has at most %d lines: send the rest in another", MaxResultLines)
	}
	if a.kept += packed + max(0, len(accession)-usualAccession); a.kept > MaxPackedBytes {
		return seqlease.Explain(seqlease.ErrTooLarge, "line %d: the results up to here take more than %d MiB compressed: send fewer entries in a submission",
			number, MaxPackedBytes>>20)
	}
	return nil
}

// IsSmall says that what is kept so far takes some hundred kilobytes, so that many
// such submissions may be in memory at once.
func (a *Acceptance) IsSmall() bool {
	return a.lines <= fewLines && len(a.submission.Invalid) <= fewRefused && a.kept <= fewBytes
}

// IsLarge says that the submission has so many lines that only one such should be
// in memory at once.
func (a *Acceptance) IsLarge() bool { return a.lines > manyLines }

// Commit stores the results, or nothing (L3, L5, L6). The error is a
// [*seqlease.RefusedError] with every refused line in line order, or the store's.
// With Skip the good lines are stored, the refused ones are in the answer, and
// that there are any is no error. A submission without lines changes nothing.
// Call it once.
func (a *Acceptance) Commit(ctx context.Context) (Accepted, error) {
	if a.lines == 0 {
		return Accepted{}, nil
	}
	a.lineOf, a.document = nil, nil // no more lines come, and the store needs memory, too
	if err := a.findMisdirected(ctx); err != nil {
		return Accepted{}, fmt.Errorf("accept results for %s: %w", a.submission.Organism, err)
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

// organismsAtOnce is of how many entries the organism is looked up together.
const organismsAtOnce = 10_000

// findMisdirected refuses lines that break a rule of the organism for what is wrong first,
// if it is so: that the entry is of another one (protocol §6.2). No entry ever changes its
// organism.
func (a *Acceptance) findMisdirected(ctx context.Context) error {
	for some := range slices.Chunk(a.unruly, organismsAtOnce) {
		entries := make([]seqlease.AccessionVersion, len(some))
		for i, l := range some {
			entries[i] = a.submission.Invalid[l.place].AccessionVersion
		}
		organisms, err := a.store.OrganismsOf(ctx, entries)
		if err != nil {
			return err
		}
		for i, l := range some {
			refusal := &a.submission.Invalid[l.place]
			if of, exists := organisms[entries[i]]; exists && of != a.submission.Organism {
				*refusal = RefuseWrongOrganism(Line{AccessionVersion: entries[i], Number: refusal.Line}, a.submission.Organism, of)
				a.attempts[l.attemptID] = true
			}
		}
	}
	a.unruly = nil
	return nil
}

// judge tells whether workers get anything done (L9): of each attempt in the
// submission by its own lines.
func (a *Acceptance) judge(accepted Accepted, err error) {
	var refused *seqlease.RefusedError
	if err != nil && !errors.As(err, &refused) {
		return
	}
	var failed, succeeded []seqlease.AttemptID
	for id, fair := range a.attempts {
		if !fair {
			failed = append(failed, id)
		}
	}
	if err == nil {
		succeeded = storedAttempts(a.submission.Lines, accepted.Refused)
	}
	a.failing.judged(a.submission.ClaimedBy, failed, succeeded)
}

// storedAttempts returns the attempts of the lines that weren't refused; both lists
// are in line order.
func storedAttempts(lines []Line, refused []seqlease.Refusal) []seqlease.AttemptID {
	var list []seqlease.AttemptID
	seen := map[seqlease.AttemptID]bool{}
	for _, l := range lines {
		for len(refused) > 0 && refused[0].Line < l.Number {
			refused = refused[1:]
		}
		if isRefused := len(refused) > 0 && refused[0].Line == l.Number; isRefused || seen[l.AttemptID] {
			continue
		}
		seen[l.AttemptID] = true
		list = append(list, l.AttemptID)
	}
	return list
}
