package demo

import (
	"regexp"
	"slices"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/worker"
)

// ledger is the account of a run, kept from what the workers report.
type ledger struct {
	claims   map[seqlease.AttemptID]*claim
	order    []seqlease.AttemptID
	accepted map[seqlease.AccessionVersion][]seqlease.AttemptID
	messages map[string]*message // by severity and pattern
}

// claim is a batch that a worker claimed and what became of it.
type claim struct {
	worker  int
	entries []worker.EventEntry
	refused []seqlease.Refusal
	// annotated are the results with errors or warnings.
	annotated []worker.Event
	started   int              // entries whose processing began
	accepted  int              // entries whose results were accepted
	outcome   worker.EventKind // empty while it is worked on
	retaken   bool             // an entry of it was claimed again later
}

// message is an error or warning of the pipeline and how many entries have it.
// Where they have it with different values, Text says so by "…".
type message struct {
	Severity string `json:"severity"`
	Text     string `json:"text"`
	Entries  int    `json:"entries"`
}

func newLedger() *ledger {
	return &ledger{
		claims:   map[seqlease.AttemptID]*claim{},
		accepted: map[seqlease.AccessionVersion][]seqlease.AttemptID{},
		messages: map[string]*message{},
	}
}

// note books an event and returns the claim that it is about, or nil.
func (l *ledger) note(worked int, e worker.Event) *claim {
	if e.Kind == worker.Claimed {
		l.claimed(worked, e)
	}
	c := l.claims[e.AttemptID]
	if c == nil {
		return nil
	}
	switch e.Kind {
	case worker.EntryStarted:
		c.started++
	case worker.EntryDone:
		c.annotated = append(c.annotated, e)
	case worker.Submitted:
		c.outcome = e.Kind
		c.accepted += len(e.Entries)
		for _, entry := range e.Entries {
			l.accepted[entry.AccessionVersion] = append(l.accepted[entry.AccessionVersion], e.AttemptID)
			for _, result := range c.annotated {
				if result.Entries[0].AccessionVersion == entry.AccessionVersion {
					l.annotate(result)
				}
			}
		}
	case worker.Refused:
		c.outcome, c.refused = e.Kind, e.Refused
	case worker.Dropped, worker.GivenBack:
		c.outcome = e.Kind
	case worker.Claimed, worker.Renewed, worker.Waiting:
	}
	return c
}

// claimed books a new claim. Nothing but the end of a lease makes an entry
// claimable again while the workers work, so that a claim whose entry comes back
// has run out.
func (l *ledger) claimed(worked int, e worker.Event) {
	for _, entry := range e.Entries {
		for _, earlier := range l.claims {
			if earlier.holds(entry.AccessionVersion) {
				earlier.retaken = true
			}
		}
	}
	l.claims[e.AttemptID] = &claim{worker: worked, entries: e.Entries}
	l.order = append(l.order, e.AttemptID)
}

func (c *claim) holds(av seqlease.AccessionVersion) bool {
	return slices.ContainsFunc(c.entries, func(e worker.EventEntry) bool { return e.AccessionVersion == av })
}

// retakenBy returns the claim that got the entry after the given one, if any.
func (l *ledger) retakenBy(attempt seqlease.AttemptID, av seqlease.AccessionVersion) (*claim, bool) {
	after := false
	for _, id := range l.order {
		if after && l.claims[id].holds(av) {
			return l.claims[id], true
		}
		after = after || id == attempt
	}
	return nil, false
}

// allRetaken says whether every entry of the claim was claimed again.
func (l *ledger) allRetaken(attempt seqlease.AttemptID) bool {
	for _, e := range l.claims[attempt].entries {
		if _, again := l.retakenBy(attempt, e.AccessionVersion); !again {
			return false
		}
	}
	return true
}

// annotate counts the messages of an accepted result.
func (l *ledger) annotate(e worker.Event) {
	for severity, texts := range map[string][]string{"error": e.Errors, "warning": e.Warnings} {
		for _, text := range texts {
			key := severity + " " + pattern(text)
			m := l.messages[key]
			if m == nil {
				m = &message{Severity: severity, Text: text}
				l.messages[key] = m
			}
			if m.Text != text {
				m.Text = pattern(text)
			}
			m.Entries++
		}
	}
}

var (
	givenValue      = regexp.MustCompile(`(value )"(?:[^"\\]|\\.)*"`)
	quotedOrNumeric = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\d+(?:\.\d+)?`)
)

// pattern is the sentence without the values in it that differ from entry to
// entry: numbers, and what was given for a field. Names in quotes stay.
func pattern(text string) string {
	text = givenValue.ReplaceAllString(text, `$1"…"`)
	return quotedOrNumeric.ReplaceAllStringFunc(text, func(found string) string {
		if found[0] == '"' {
			return found
		}
		return "…"
	})
}

// acceptedTwice counts entries of which results were accepted more than once.
func (l *ledger) acceptedTwice() int {
	n := 0
	for _, attempts := range l.accepted {
		if distinct(attempts) > 1 || len(attempts) > 1 {
			n++
		}
	}
	return n
}
