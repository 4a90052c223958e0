package witness

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seqlease/seqlease"
)

// Place is what a history is checked for: an entry under one pipeline version.
type Place struct {
	seqlease.AccessionVersion
	Pipeline seqlease.PipelineVersion
}

// Kind says what was called.
type Kind string

// The kinds of calls.
const (
	Create   Kind = "create"    // an upload; Parts with tags
	Claim    Kind = "claim"     // Parts with tag and try
	Submit   Kind = "submit"    // Parts with attempt, tag and answer
	Renew    Kind = "renew"     // Parts: what was answered as lost
	GiveBack Kind = "give-back" // Parts: what was named; none: all that the lease holds
	Edit     Kind = "edit"      // one part, with the tag of the new data
	Delete   Kind = "delete"    // one part
	Free     Kind = "free"      // an operator ends the lease; Count entries
	Requeue  Kind = "requeue"   // an operator takes one entry out of quarantine; Count 0 or 1
	// Quarantine: an operator puts one entry that waits or is held into quarantine,
	// and Reprocess makes one that has a result wait beside it; Count 0 or 1.
	Quarantine Kind = "quarantine"
	Reprocess  Kind = "reprocess"
	// Pause and Resume are of the version, or with Pipeline 0 of all. They don't overlap.
	Pause    Kind = "pause"
	Resume   Kind = "resume"
	Read     Kind = "read"     // Parts with status: all entries there are, in one snapshot
	Results  Kind = "results"  // Parts with attempt: all present results of the version, in one snapshot
	Released Kind = "released" // Parts with tag: all released results of the version, in one snapshot
	// Shorten is what only tests do: they move the end of a running lease to an
	// earlier instant that hasn't passed, so that leases run out often. Parts: what
	// the lease held then.
	Shorten Kind = "shorten"
)

// Answer is what became of a result line.
type Answer string

// The answers beside the reasons of refusals ([seqlease.RefusalReason]).
const (
	Stored  Answer = "stored"
	Aborted Answer = "aborted" // good, but another line was refused
)

// Event is one call.
type Event struct {
	Kind   Kind
	Client string // for people
	// Call and Return are on one monotonic clock.
	Call, Return time.Duration
	// Unanswered says that no answer came: the call may have had its effect at any
	// time since Call, or not at all.
	Unanswered bool
	// Refused says that the answer was that it can't be done: the lease is lost, or
	// the entry's state forbids it.
	Refused  bool
	Pipeline seqlease.PipelineVersion
	Attempt  seqlease.AttemptID
	User     string
	Asked    int           // Claim: how many entries at most
	Until    time.Time     // Claim, Renew, Shorten: lease end by the database's clock
	Lease    time.Duration // Claim, Renew: how long; Until - Lease is the database's instant of the call
	Counted  bool          // GiveBack
	Count    int           // GiveBack and operators: of how many entries; Renew: how many are held
	Parts    []Part
}

// Part is what a call said about one entry.
type Part struct {
	seqlease.AccessionVersion
	Attempt seqlease.AttemptID // Submit: of the line; Results: whose result it is
	Tag     string             // tells data and results apart
	Try     int                // Claim: the entry's attempt, from 1
	Answer  Answer             // Submit
	Status  seqlease.Status    // Read
	// Flawed lines were made so that they are refused whoever holds the entry.
	Flawed bool
}

// String describes the call on one line.
func (e *Event) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s %s] %s %s v%d %s by %s", e.Call, e.Return, e.Client, e.Kind, e.Pipeline, short(e.Attempt), e.User)
	if !e.Until.IsZero() {
		fmt.Fprintf(&b, " until %s of %s", e.Until.Format("15:04:05.000000"), e.Lease)
	}
	if e.Kind == GiveBack || e.Kind == Renew || e.byOperator() {
		fmt.Fprintf(&b, " count %d counted %t", e.Count, e.Counted)
	}
	if e.Refused {
		b.WriteString(" refused")
	}
	if e.Unanswered {
		b.WriteString(" unanswered")
	}
	return b.String()
}

// byOperator says that Count is of how many entries an operator's call was.
func (e *Event) byOperator() bool {
	return e.Kind == Free || e.Kind == Requeue || e.Kind == Quarantine || e.Kind == Reprocess
}

func short(id seqlease.AttemptID) string {
	if id.IsZero() {
		return "-"
	}
	return id.String()[:8]
}

// Record is what the database's own history says of a claim that brought something.
type Record struct {
	Attempt  seqlease.AttemptID
	Pipeline seqlease.PipelineVersion
	User     string
	At       time.Time
	Lease    time.Duration
	Parts    []Part // with tries
}

// History is what was recorded.
type History struct {
	Events []Event // by Call
	// Records are all claims that were made, if Recorded. Without them a claim that
	// got no answer may have brought anything, which hides some faults.
	Records  []Record
	Recorded bool
	// Early and Late bound what is added to an instant of the recorder's clock to
	// get the database's, in microseconds since 1970.
	Early, Late int64
}

// Recorder collects calls. It may be used concurrently.
type Recorder struct {
	clock func() time.Duration

	mu          sync.Mutex
	events      []Event
	records     []Record
	recorded    bool
	calibrated  bool
	early, late int64
}

// NewRecorder records on the given monotonic clock.
func NewRecorder(clock func() time.Duration) *Recorder { return &Recorder{clock: clock} }

// Now is the instant of the recorder's clock, for Call and Return.
func (r *Recorder) Now() time.Duration { return r.clock() }

// Add records a call.
func (r *Recorder) Add(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// Record notes all claims that the database knows of.
func (r *Recorder) Record(all []Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.records, r.recorded = all, true
}

// Calibrate notes that the database's clock showed now at some instant between
// the two of the recorder's. The narrowest observation counts.
func (r *Recorder) Calibrate(call time.Duration, now time.Time, returned time.Duration) {
	early, late := now.UnixMicro()-returned.Microseconds()-1, now.UnixMicro()-call.Microseconds()+1
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.calibrated || late-early < r.late-r.early {
		r.calibrated, r.early, r.late = true, early, late
	}
}

// History returns what was recorded so far.
func (r *Recorder) History() History {
	r.mu.Lock()
	defer r.mu.Unlock()
	events := slices.Clone(r.events)
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.Call, b.Call) })
	return History{Events: events, Records: slices.Clone(r.records), Recorded: r.recorded, Early: r.early, Late: r.late}
}
