package queue

import (
	"cmp"
	"slices"
	"time"

	"github.com/seqlease/seqlease"
)

// EventKind is a kind of thing that happens to an entry.
type EventKind string

// The kinds of events, in the order in which those of one instant are told.
const (
	EventSubmitted        EventKind = "submitted"
	EventRevised          EventKind = "revised" // as a newer version of its accession
	EventRevoked          EventKind = "revoked" // it is the version that says so
	EventEdited           EventKind = "edited"
	EventClaimed          EventKind = "claimed"
	EventFailed           EventKind = "failed"    // an attempt; Detail begins with the [FailureKind]
	EventProcessed        EventKind = "processed" // a result that is kept; Detail begins with its outcome
	EventQuarantined      EventKind = "quarantined"
	EventApproved         EventKind = "approved"
	EventTermsChanged     EventKind = "terms-changed"
	EventExternalMetadata EventKind = "external-metadata" // Detail is the updater
	EventSuperseded       EventKind = "superseded"        // Detail names the later version
)

// eventOrder are the kinds in the order of those of one instant.
var eventOrder = []EventKind{
	EventSubmitted, EventRevised, EventRevoked, EventEdited, EventClaimed, EventFailed, EventProcessed, EventQuarantined,
	EventApproved, EventTermsChanged, EventExternalMetadata, EventSuperseded,
}

// Event is one step of an entry's journey. What doesn't apply is zero.
type Event struct {
	At              time.Time
	Kind            EventKind
	By              string // user
	WorkerID        string
	PipelineVersion seqlease.PipelineVersion
	AttemptID       seqlease.AttemptID
	Detail          string
}

// Events tells the entry's journey in order of time: what happened to it, and its
// claims, failures and quarantine.
func (h History) Events() []Event {
	events := slices.Clone(h.Happened)
	claims := make(map[seqlease.AttemptID]ClaimRecord, len(h.Claims))
	for _, c := range h.Claims {
		claims[c.AttemptID] = c
		events = append(events, Event{
			At: c.ClaimedAt, Kind: EventClaimed, By: c.ClaimedBy, WorkerID: c.WorkerID, PipelineVersion: c.PipelineVersion, AttemptID: c.AttemptID,
		})
	}
	for i := range h.Happened { // a result is its worker's
		if e := &events[i]; e.Kind == EventProcessed {
			e.By, e.WorkerID = claims[e.AttemptID].ClaimedBy, claims[e.AttemptID].WorkerID
		}
	}
	for _, f := range h.Failures {
		detail := string(f.Kind)
		if f.Reason != "" {
			detail += ": " + f.Reason
		}
		events = append(events, Event{
			At: f.At, Kind: EventFailed, By: f.ClaimedBy, WorkerID: f.WorkerID, PipelineVersion: f.PipelineVersion, AttemptID: f.AttemptID, Detail: detail,
		})
	}
	for _, q := range h.Quarantine {
		events = append(events, Event{At: q.At, Kind: EventQuarantined, By: q.By, PipelineVersion: q.PipelineVersion, Detail: q.Reason})
	}
	slices.SortStableFunc(events, func(a, b Event) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(slices.Index(eventOrder, a.Kind), slices.Index(eventOrder, b.Kind)))
	})
	return events
}

// Omitted counts the events that are left out since there are newer ones.
func (h History) Omitted() int64 { return h.OmittedClaims + h.OmittedFailures + h.OmittedEvents }
