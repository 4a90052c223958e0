package worker

import (
	"time"

	"github.com/seqlease/seqlease"
)

// EventKind says what happened in a worker.
type EventKind string

// The kinds of events, in the order of a batch's life.
const (
	// Claimed: a batch came; Entries says of what.
	Claimed EventKind = "claimed"
	// EntryStarted: the entry's processing begins.
	EntryStarted EventKind = "entry-started"
	// EntryDone: the entry has a result; Errors and Warnings are its messages.
	EntryDone EventKind = "entry-done"
	// Submitted: the server accepted the results of Entries.
	Submitted EventKind = "submitted"
	// Refused: the server refused the batch for what Refused says. Nothing of it
	// was stored and the worker dropped it.
	Refused EventKind = "refused"
	// Dropped: the worker gave up a batch without an answer of the server, for
	// Error or because it was told to stop.
	Dropped EventKind = "dropped"
	// Waiting: a call went wrong for Error and is tried again after a pause.
	Waiting EventKind = "waiting"
)

// Event is something that happened, for whoever watches a worker. Fields that
// don't apply are empty. Its JSON form is a line of `seqlease work --events`.
type Event struct {
	Kind      EventKind          `json:"event"`
	At        time.Time          `json:"at"` // by the worker's clock, for people
	WorkerID  string             `json:"workerId,omitempty"`
	AttemptID seqlease.AttemptID `json:"processingAttemptId,omitzero"`
	Entries   []EventEntry       `json:"entries,omitempty"`
	Errors    []string           `json:"errors,omitempty"`
	Warnings  []string           `json:"warnings,omitempty"`
	Refused   []seqlease.Refusal `json:"refused,omitempty"`
	Error     string             `json:"error,omitempty"`
}

// EventEntry is an entry that an [Event] is about.
type EventEntry struct {
	seqlease.AccessionVersion
	Attempt int `json:"attempt"` // from 1
}
