package evidence

import (
	"fmt"

	"github.com/seqlease/seqlease"
)

// Evidence is everything that is known of a run.
type Evidence struct {
	Lines    []Line
	Uploads  []Upload
	Listed   map[seqlease.AccessionVersion]seqlease.Status // by get-sequences
	Released []Released
	Stored   []Stored
	// Jumps are instants, by the clock of [Line], at which the database's clock was
	// put forward: every lease ended then.
	Jumps []float64
	// Crashes are times in which the database died without a word: what it had
	// committed last, and not yet written to disk, may be lost.
	Crashes []Span
	// Repeats says that the network repeats requests, also when they were answered.
	Repeats bool
	Operated
}

// Upload is a submission of entries.
type Upload struct {
	SubmissionIDs []string
	// Stored are the accessions that the server answered with; nil if it didn't.
	Stored map[string]seqlease.AccessionVersion
	// Refused says that the server answered that nothing was stored.
	Refused bool
	// Poisoned is the submission id of an entry on which every worker dies; empty: none.
	Poisoned string
}

// Released is what a line of the released data says of its result.
type Released struct {
	seqlease.AccessionVersion
	Attempt, Proof string
}

// Stored is what the database holds of an entry, for one pipeline version.
type Stored struct {
	seqlease.AccessionVersion
	SubmissionID string
	Tickets      int
	Leases       []seqlease.AttemptID
	Result       seqlease.AttemptID // of the present revision; zero: none
	Quarantined  bool
}

// Kind names a kind of violation.
type Kind string

// The kinds of violations.
const (
	Lost          Kind = "accepted result lost"
	Twice         Kind = "accepted from two attempts"
	Unclaimed     Kind = "stored result of an attempt that didn't claim the entry"
	StoredRefused Kind = "refused result stored"
	HeldAtOnce    Kind = "held by two at once"
	Late          Kind = "result accepted after the lease end"
	PausedClaim   Kind = "handed out while paused"
	TwoPlaces     Kind = "in two places"
	TwoLeases     Kind = "in two leases"
	NoPlace       Kind = "in no place"
	Unfinished    Kind = "not finished"
	Disagreement  Kind = "server and database disagree"
	UploadLost    Kind = "accepted upload lost"
	UploadTorn    Kind = "upload stored in part"
	UploadTwice   Kind = "upload stored twice"
	Spared        Kind = "poisoned entry not quarantined"
	Ended         Kind = "a process ended by itself"
)

// Violation is a promise that was broken.
type Violation struct {
	Kind   Kind   `json:"kind"`
	Detail string `json:"detail"`
}

// String returns the kind and the detail.
func (v Violation) String() string { return string(v.Kind) + ": " + v.Detail }

// findings collects violations.
type findings []Violation

func (f *findings) add(kind Kind, format string, args ...any) {
	*f = append(*f, Violation{kind, fmt.Sprintf(format, args...)})
}

// Check checks a run that is over: nothing waits, and nobody works.
func Check(e Evidence) []Violation {
	var f findings
	b := newBook(e)
	b.checkStored(&f)
	b.checkSubmissions(&f)
	b.checkHolders(&f)
	b.checkLeaseEnds(&f)
	b.checkPauses(&f)
	b.checkReadings(&f)
	b.checkUploads(&f)
	return append(f, CheckPlaces(e.Stored, nil)...)
}

// CheckPlaces checks a snapshot of the database, which may be taken at any time:
// each entry is in exactly one place. The old result of an entry that may be
// processed again stays beside the other place (V9).
func CheckPlaces(stored []Stored, reprocessed map[seqlease.AccessionVersion]int) []Violation {
	var f findings
	for _, s := range stored {
		places := s.Tickets + len(s.Leases)
		if !s.Result.IsZero() && (places == 0 || reprocessed[s.AccessionVersion] == 0) {
			places++
		}
		switch {
		case len(s.Leases) > 1:
			f.add(TwoLeases, "%s is held by %v", s.AccessionVersion, s.Leases)
		case places > 1:
			f.add(TwoPlaces, "%s has %d tickets, leases %v, result of %s", s.AccessionVersion, s.Tickets, s.Leases, s.Result)
		case places == 0:
			f.add(NoPlace, "%s has no ticket, lease or result", s.AccessionVersion)
		}
	}
	return f
}
