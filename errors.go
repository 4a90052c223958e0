package seqlease

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The sentinels: what went wrong, without the particulars. Rooms wrap them with
// what was being done; only the HTTP door knows status codes.
var (
	// ErrNotFound: what the request names doesn't exist (groups, users, paths).
	ErrNotFound = errors.New("not found")
	// ErrForbidden: the person may not act for the group concerned.
	ErrForbidden = errors.New("forbidden")
	// ErrConflict: the change contradicts what is there already.
	ErrConflict = errors.New("conflict")
	// ErrUnknownOrganism: the organism is not configured.
	ErrUnknownOrganism = errors.New("unknown organism")
	// ErrPipelineOutdated: a newer pipeline version is current.
	ErrPipelineOutdated = errors.New("pipeline version is outdated")
	// ErrPipelineUnknown: the pipeline version isn't registered.
	ErrPipelineUnknown = errors.New("pipeline version is not registered")
	// ErrLeaseLost: the attempt doesn't hold what it acts on, or its lease has ended.
	ErrLeaseLost = errors.New("lease lost")
	// ErrState: an entry is not in the state that the action needs, doesn't
	// exist, or is of another organism.
	ErrState = errors.New("entry state does not allow this")
	// ErrTooLarge: an input is over a stated limit.
	ErrTooLarge = errors.New("too large")
	// ErrBusy: the store could not serve the request in time; it may be tried again.
	ErrBusy = errors.New("busy")
	// ErrStorageFull: what the store lies on has no room left. Nothing was stored.
	ErrStorageFull = errors.New("storage full")
)

// Problem is one fault of an input: where it is and what is wrong. Empty parts
// don't apply.
type Problem struct {
	File    string // "metadata file", "sequence file", or what else holds it
	Line    int    // 1-based line of the file or body, 0 if none
	Record  string // id of the record or entry, such as a submission id, FASTA id or ACC.1
	Field   string // column, JSON member, segment or gene
	Value   string // the offending value, cut to a readable length
	Message string // what is wrong and what to do
}

// String returns "file, line 3, record "x", field "y": message". A message that
// begins with the field's name isn't told it twice.
func (p Problem) String() string {
	var where []string
	if p.File != "" {
		where = append(where, p.File)
	}
	if p.Line > 0 {
		where = append(where, "line "+strconv.Itoa(p.Line))
	}
	if p.Record != "" {
		where = append(where, fmt.Sprintf("record %q", p.Record))
	}
	if p.Field != "" && !strings.HasPrefix(p.Message, p.Field+" ") {
		where = append(where, fmt.Sprintf("field %q", p.Field))
	}
	if len(where) == 0 {
		return p.Message
	}
	return strings.Join(where, ", ") + ": " + p.Message
}

// InvalidKind says at which level an input is invalid; the door makes a status of it.
type InvalidKind int

const (
	// InvalidContent says that the input is well-formed, but its content breaks a rule.
	InvalidContent InvalidKind = iota
	// InvalidRequest says that a parameter, part or body can't be read at all.
	InvalidRequest
)

// MaxListedProblems is how many problems an [InvalidError] spells out.
const MaxListedProblems = 20

// InvalidError lists the problems of an input. Nothing of the input was stored.
type InvalidError struct {
	Kind     InvalidKind
	Problems []Problem // at most MaxListedProblems
	More     int       // how many further problems there are
}

// Invalid returns an error about content with the given problems.
func Invalid(problems ...Problem) *InvalidError {
	e := &InvalidError{}
	for _, p := range problems {
		e.Add(p)
	}
	return e
}

// InvalidParameter returns an error about a request parameter, header or part.
func InvalidParameter(name, message string) *InvalidError {
	return &InvalidError{Kind: InvalidRequest, Problems: []Problem{{Field: name, Message: message}}}
}

// Add notes one more problem.
func (e *InvalidError) Add(p Problem) {
	if len(e.Problems) < MaxListedProblems {
		e.Problems = append(e.Problems, p)
		return
	}
	e.More++
}

// OrNil returns e as an error if it holds a problem, else nil.
func (e *InvalidError) OrNil() error {
	if len(e.Problems) == 0 {
		return nil
	}
	return e
}

// Error lists the problems, separated by semicolons.
func (e *InvalidError) Error() string {
	parts := make([]string, 0, len(e.Problems)+1)
	for _, p := range e.Problems {
		parts = append(parts, p.String())
	}
	if e.More > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", e.More))
	}
	return strings.Join(parts, "; ")
}

// RefusalReason says why a result line was refused.
type RefusalReason string

// The refusal reasons of submit-processed-data.
const (
	RefusedLeaseLost        RefusalReason = "lease-lost"
	RefusedNotFound         RefusalReason = "not-found"
	RefusedEdited           RefusalReason = "edited"
	RefusedDuplicate        RefusalReason = "duplicate"
	RefusedDifferentResults RefusalReason = "different-results"
	RefusedInvalid          RefusalReason = "invalid"
	RefusedWrongOrganism    RefusalReason = "wrong-organism"
)

// Refusal is one refused result line.
type Refusal struct {
	AccessionVersion
	Line   int           `json:"line"` // 1-based line of the body
	Reason RefusalReason `json:"reason"`
	Detail string        `json:"detail"` // for people: what is wrong and what to do
}

// RefusedError lists every refused line of a submission of results, in line
// order. Nothing of the submission was stored. It is [ErrLeaseLost] to
// [errors.Is] if any line was refused for a lost lease.
type RefusedError struct {
	Refused []Refusal
}

// Error names the first refused line and how many there are.
func (e *RefusedError) Error() string {
	if len(e.Refused) == 0 {
		return "results refused"
	}
	first := e.Refused[0]
	where := fmt.Sprintf("line %d", first.Line)
	if first.Accession != "" {
		where += fmt.Sprintf(" (%s)", first.AccessionVersion)
	}
	head := "1 result line was refused and nothing was stored"
	if n := len(e.Refused); n > 1 {
		head = fmt.Sprintf("%d result lines were refused and nothing was stored; the first", n)
	}
	return fmt.Sprintf("%s: %s: %s: %s", head, where, first.Reason, first.Detail)
}

// Is reports a lost lease among the refusals.
func (e *RefusedError) Is(target error) bool {
	if target != ErrLeaseLost {
		return false
	}
	for _, r := range e.Refused {
		if r.Reason == RefusedLeaseLost {
			return true
		}
	}
	return false
}
