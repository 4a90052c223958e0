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
	// Renewed: the lease of the batch was extended.
	Renewed EventKind = "renewed"
	// Submitted: the server accepted the results of Entries.
	Submitted EventKind = "submitted"
	// Refused: the server refused the results of Entries for what Refused says, and
	// stored nothing of them.
	Refused EventKind = "refused"
	// GivenBack: the worker gave Entries back, for Error or because it was told to
	// stop.
	GivenBack EventKind = "given-back"
	// Dropped: the worker gave up Entries for Error, because their lease is lost or
	// the server gave no answer.
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

func eventEntries(entries []seqlease.Entry) []EventEntry {
	list := make([]EventEntry, len(entries))
	for i, e := range entries {
		list[i] = EventEntry{AccessionVersion: e.AccessionVersion, Attempt: e.Attempt}
	}
	return list
}

func messages(annotations []seqlease.Annotation) []string {
	list := make([]string, len(annotations))
	for i, a := range annotations {
		list[i] = a.Message
	}
	return list
}
