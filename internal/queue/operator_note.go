package queue

import (
	"fmt"
	"strings"
	"time"

	"github.com/seqlease/seqlease"
)

// OperatorNote is the one row that a call of an operator has in the audit log. A
// call goes over its selection page by page, each page a transaction: the first that
// changes something writes the row, and each other adds its count to it, in the
// transaction of the change. So the row is there as soon as anything is changed, and
// says how much was, also of a call that came to an end midway.
// A call that changed nothing leaves none.
type OperatorNote struct {
	By     string
	Detail string // what was meant and why
	// Number is that of the row; 0: there is none yet. The store sets it when the
	// transaction is committed.
	Number int64
}

// maxNoteDetail bounds the text of a row of the audit log, in bytes.
const maxNoteDetail = 1000

// noteOf begins the row of a call by an operator on what is described.
func noteOf(by, target, reason string) *OperatorNote {
	detail := target
	if reason = CleanReason(reason); reason != "" {
		detail += ": " + reason
	}
	return &OperatorNote{By: by, Detail: cleanText(detail, maxNoteDetail)}
}

// target describes the selection for people.
func (s Selection) target() string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if s.Entries != nil {
		add("%d named entries", len(s.Entries))
	}
	if s.ErrorContains != "" {
		add("errors that contain %q", shorten(s.ErrorContains, 200))
	}
	if s.WorkerID != "" {
		add("worker %q", s.WorkerID)
	}
	if !s.SubmittedFrom.IsZero() {
		add("submitted from %s", s.SubmittedFrom.UTC().Format(time.RFC3339))
	}
	if !s.SubmittedTo.IsZero() {
		add("submitted before %s", s.SubmittedTo.UTC().Format(time.RFC3339))
	}
	if len(parts) == 0 {
		add("all entries")
	}
	if s.PipelineVersion != 0 {
		add("pipeline version %d", s.PipelineVersion)
	}
	return strings.Join(parts, ", ")
}

// target describes the leases for people.
func (f FreeLeases) target() string {
	var parts []string
	if f.AttemptIDs != nil {
		parts = append(parts, fmt.Sprintf("%d named attempts", len(f.AttemptIDs)))
	}
	if f.WorkerID != "" {
		parts = append(parts, fmt.Sprintf("worker %q", f.WorkerID))
	}
	if f.Entries != nil {
		parts = append(parts, fmt.Sprintf("%d named entries", len(f.Entries)))
	}
	return strings.Join(parts, ", ")
}

// pauseTarget describes a pipeline version, 0 being every one.
func pauseTarget(version seqlease.PipelineVersion) string {
	if version == 0 {
		return "every pipeline version"
	}
	return fmt.Sprintf("pipeline version %d", version)
}
