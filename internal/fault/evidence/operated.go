package evidence

import "github.com/seqlease/seqlease"

// Operated is what operators did, each noted before it was asked for.
type Operated struct {
	Endings []Ending
	Pauses  []Span
	// Reprocessed counts how often an entry with a result may have been made to wait again.
	Reprocessed map[seqlease.AccessionVersion]int
}

// Span is a time by the clock of [Line].
type Span struct{ From, Until float64 }

// Ending is an operator's call that ends holds: not before From, and no later than
// Until, which is 0 if there was no answer.
type Ending struct {
	Span
	// Held without an accession means all that the attempt held, and without an
	// attempt whoever held the entry.
	Held
}

func (e *Ending) ends(av seqlease.AccessionVersion, attempt seqlease.AttemptID) bool {
	return (e.Accession == "" || e.AccessionVersion == av) && (e.AttemptID.IsZero() || e.AttemptID == attempt)
}

// checkPauses checks that claims which began after everything was paused, and
// ended before it was resumed, brought nothing (L16).
func (b *book) checkPauses(f *findings) {
	for _, p := range b.Pauses {
		for i := range b.Lines {
			l := &b.Lines[i]
			if l.Call == CallClaim && len(l.Entries) > 0 && l.Sent > p.From+clockSlack && l.Got < p.Until {
				f.add(PausedClaim, "%d entries to %s, which asked at %.2f; paused from %.2f to %.2f", len(l.Entries), l.Worker, l.Sent, p.From, p.Until)
			}
		}
	}
}
