package queue

import (
	"fmt"
	"time"

	"github.com/seqlease/seqlease"
)

// The functions here are the one place that says why a store refuses something,
// so that people read the same words whatever the store.

// RefuseNotFound refuses a result of an entry that isn't there.
func RefuseNotFound(l Line) seqlease.Refusal {
	return l.refuse(seqlease.RefusedNotFound, "%s doesn't exist, or was deleted: drop the result", l.name())
}

// RefuseWrongOrganism refuses a result that was sent to asked, of an entry of another organism.
func RefuseWrongOrganism(l Line, asked, of seqlease.Organism) seqlease.Refusal {
	return l.refuse(seqlease.RefusedWrongOrganism, "%s is of organism %s, not %s: send its result there", l.name(), of, asked)
}

// RefuseDifferent refuses a result that isn't the one that the attempt sent before.
func RefuseDifferent(l Line) seqlease.Refusal {
	return l.refuse(seqlease.RefusedDifferentResults,
		"another result of %s was accepted from this attempt and stays: drop this one", l.name())
}

// RefuseEdited refuses a result of data that is no longer the entry's.
func RefuseEdited(l Line) seqlease.Refusal {
	return l.refuse(seqlease.RefusedEdited,
		"%s was edited after it was claimed: drop the result; the entry is handed out again", l.name())
}

// RefuseDuplicate refuses a further line for an entry; first is the number of the first.
func RefuseDuplicate(av seqlease.AccessionVersion, number, first int) seqlease.Refusal {
	l := Line{AccessionVersion: av, Number: number}
	return l.refuse(seqlease.RefusedDuplicate,
		"lines %d and %d both hold a result of %s: send one result for each entry", first, number, l.name())
}

// LostLease is what a store knows of a lease that doesn't hold a line's entry.
type LostLease struct {
	// EndedAt is when the lease of this user ended that holds the entry; zero: unknown.
	EndedAt time.Time
	// ClaimedVersion is the pipeline version that this user claimed the entry for
	// under the attempt, if it isn't the one asked for; else 0.
	ClaimedVersion seqlease.PipelineVersion
}

// RefuseLost refuses a result of an entry that the attempt doesn't hold.
func RefuseLost(l Line, asked seqlease.PipelineVersion, known LostLease) seqlease.Refusal {
	switch {
	case !known.EndedAt.IsZero():
		return l.refuse(seqlease.RefusedLeaseLost,
			"the lease of attempt %s ended at %s: drop the result; %s is handed out again, ask for a longer lease if it takes longer",
			l.AttemptID, known.EndedAt.UTC().Format(time.RFC3339), l.name())
	case known.ClaimedVersion != 0:
		return l.refuse(seqlease.RefusedLeaseLost, "attempt %s claimed %s for pipeline version %d, not %d: send the result with that version",
			l.AttemptID, l.name(), known.ClaimedVersion, asked)
	default:
		return l.refuse(seqlease.RefusedLeaseLost, "attempt %s of this user doesn't hold %s any more, or never did: "+
			"drop the result; what isn't processed is handed out again", l.AttemptID, l.name())
	}
}

// name is the entry in a sentence: whole, if its accession is one of ours.
func (l Line) name() string {
	av := l.AccessionVersion
	av.Accession = seqlease.Accession(shorten(string(av.Accession), 64))
	return av.String()
}

func (l Line) refuse(reason seqlease.RefusalReason, format string, args ...any) seqlease.Refusal {
	return seqlease.Refusal{AccessionVersion: l.AccessionVersion, Line: l.Number, Reason: reason, Detail: CleanReason(fmt.Sprintf(format, args...))}
}

// RenewalLost is what a store answers if the attempt and its user hold nothing that
// could be renewed.
func RenewalLost(r Renew) error {
	return seqlease.Explain(seqlease.ErrLeaseLost,
		"attempt %s of this user holds nothing in %s: stop working on its entries; what isn't processed is handed out again",
		r.AttemptID, r.Organism)
}

// GiveBackLost is what a store answers if the attempt and its user hold nothing that
// could be given back.
func GiveBackLost(g GiveBack) error {
	return seqlease.Explain(seqlease.ErrLeaseLost,
		"attempt %s of this user holds nothing in %s: nothing is left to give back; what isn't processed is handed out again",
		g.AttemptID, g.Organism)
}

// CheckLive returns why nothing may be claimed for a pipeline version
// ([seqlease.ErrPipelineOutdated], [seqlease.ErrPipelineUnknown]), or nil.
func CheckLive(o seqlease.Organism, asked, current seqlease.PipelineVersion, registered bool) error {
	switch {
	case asked < current:
		return seqlease.Explain(seqlease.ErrPipelineOutdated,
			"pipeline version %d of %s is outdated, version %d is current: update the pipeline", asked, o, current)
	case !registered:
		return seqlease.Explain(seqlease.ErrPipelineUnknown,
			"pipeline version %d of %s is not registered, version %d is current: claim with that", asked, o, current)
	default:
		return nil
	}
}

// UnknownOrganism is what a store answers for an organism that it has never been
// told of; the configured ones are checked before.
func UnknownOrganism(o seqlease.Organism) error {
	return seqlease.Explain(seqlease.ErrUnknownOrganism,
		"organism %q is not registered in this store: start a server whose configuration names it", o)
}
