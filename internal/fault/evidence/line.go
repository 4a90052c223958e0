package evidence

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strconv"
	"strings"

	"github.com/seqlease/seqlease"
)

// The calls that workers write down, by the last part of their path.
const (
	CallClaim    = "extract-unprocessed-data"
	CallSubmit   = "submit-processed-data"
	CallGiveBack = "return-lease"
	CallRenew    = "renew-lease"
	// CallSubmitting is written when the sending of results begins, without entries.
	CallSubmitting = "submitting"
)

// Line is a line of a worker's log: one call and what came of it. It is written
// before the worker acts on the answer.
type Line struct {
	Call   string `json:"call"`
	Worker string `json:"worker"`
	// Sent and Got are when the call began and ended, in seconds since the machine
	// started: a clock that all processes share and nobody sets.
	Sent float64 `json:"sent"`
	Got  float64 `json:"got"`
	// Clock is the end of the call by the worker's own clock, in Unix seconds. Only
	// what shows that the clock is wrong looks at it.
	Clock int64 `json:"clock"`
	// Status is 0 if no answer came. Whole says that the answer's body came to its end.
	Status int    `json:"status"`
	Whole  bool   `json:"whole"`
	Error  string `json:"error,omitempty"`
	// Entries came with a claim, also with one that was cut, or were sent as results.
	// What is given back or renewed as a whole is one without an accession.
	Entries []Held             `json:"entries,omitempty"`
	Refused []seqlease.Refusal `json:"refused,omitempty"`
}

// Held is an entry under an attempt.
type Held struct {
	seqlease.AccessionVersion
	AttemptID    seqlease.AttemptID `json:"processingAttemptId"`
	LeaseSeconds int64              `json:"leaseSeconds,omitempty"`
}

// Accepted says whether the server answered that results are stored.
//
// An answer with a body that was cut may have named more refusals: it says nothing.
func (l *Line) Accepted() bool {
	return l.Call == CallSubmit && (l.Status == 204 || l.Status/100 == 2 && l.Whole)
}

// refuses says whether the answer names the entry as refused.
func (l *Line) refuses(h Held) bool {
	for _, r := range l.Refused {
		if r.AccessionVersion == h.AccessionVersion {
			return true
		}
	}
	return false
}

// Poison is the place of an entry on which every worker dies, with ExitPoisoned.
const (
	Poison       = "poison"
	ExitPoisoned = 66
)

// Proof is a part of a result that follows from the entry and the attempt that
// made it, so that a stored result can't pass for another's.
func Proof(av seqlease.AccessionVersion, attempt seqlease.AttemptID) string {
	sum := sha256.Sum256([]byte(av.String() + " " + attempt.String()))
	return hex.EncodeToString(sum[:8])
}

// Uptime is the present by the clock of [Line], to a hundredth of a second.
func Uptime() float64 {
	content, err := os.ReadFile("/proc/uptime")
	if err == nil {
		first, _, _ := strings.Cut(string(content), " ")
		var seconds float64
		if seconds, err = strconv.ParseFloat(first, 64); err == nil {
			return seconds
		}
	}
	panic("read /proc/uptime, which every Linux has: " + err.Error())
}
