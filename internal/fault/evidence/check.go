package evidence

import (
	"slices"

	"github.com/seqlease/seqlease"
)

// clockSlack is how exactly [Line] tells instants, with room for a process that
// was held up between reading the clock and writing.
const clockSlack = 0.05

// book is the evidence, by entry.
type book struct {
	Evidence
	claims   map[seqlease.AccessionVersion][]holding
	renewals map[seqlease.AttemptID][]*Line // in the order of the log
	accepted map[seqlease.AccessionVersion][]seqlease.AttemptID
	stored   map[seqlease.AccessionVersion]Stored
}

// holding is a time in which an attempt surely held an entry, if nobody ended its
// lease: the lease began after from and ran as long as it was told.
type holding struct {
	attempt     seqlease.AttemptID
	worker      string
	from, until float64
	got         float64
	whole       bool
}

func newBook(e Evidence) *book {
	b := &book{
		Evidence: e, claims: map[seqlease.AccessionVersion][]holding{}, renewals: map[seqlease.AttemptID][]*Line{},
		accepted: map[seqlease.AccessionVersion][]seqlease.AttemptID{}, stored: map[seqlease.AccessionVersion]Stored{},
	}
	for _, s := range e.Stored {
		b.stored[s.AccessionVersion] = s
	}
	for i := range e.Lines {
		l := &e.Lines[i]
		for _, h := range l.Entries {
			av := h.AccessionVersion
			switch {
			case l.Call == CallRenew:
				b.renewals[h.AttemptID] = append(b.renewals[h.AttemptID], l)
			case l.Call == CallClaim:
				b.claims[av] = append(b.claims[av], holding{
					h.AttemptID, l.Worker, l.Sent, l.Sent + float64(h.LeaseSeconds), l.Got, l.Whole,
				})
			case l.Accepted() && !l.refuses(h):
				if !slices.Contains(b.accepted[av], h.AttemptID) { // a repetition is harmless (L6)
					b.accepted[av] = append(b.accepted[av], h.AttemptID)
				}
			}
		}
	}
	return b
}

// checkStored checks every stored result against who claimed the entry and whose
// result was accepted.
func (b *book) checkStored(f *findings) {
	for _, s := range b.Stored {
		av := s.AccessionVersion
		if s.Quarantined && len(b.accepted[av]) == 0 {
			continue // its result is the system's
		}
		if s.Result.IsZero() {
			f.add(Unfinished, "%s has no result", av)
			continue
		}
		claimed := slices.ContainsFunc(b.claims[av], func(h holding) bool { return h.attempt == s.Result })
		if !claimed {
			f.add(Unclaimed, "%s has a result of %s", av, s.Result)
		}
	}
	for av, attempts := range b.accepted {
		s, there := b.stored[av]
		last := b.latest(av, attempts)
		// Whoever claimed it after an operator had it processed again may have got no answer.
		replaced := b.Reprocessed[av] > 0 && b.latest(av, []seqlease.AttemptID{last, s.Result}) == s.Result
		switch {
		case len(attempts) > 1+b.Reprocessed[av]:
			f.add(Twice, "%s: %v", av, attempts)
		case !there || s.Result != last && !replaced:
			f.add(Lost, "%s: that of %s was accepted, that of %s is stored", av, last, s.Result)
		}
	}
}

// latest is the attempt that claimed the entry last.
func (b *book) latest(av seqlease.AccessionVersion, attempts []seqlease.AttemptID) seqlease.AttemptID {
	last, at := attempts[0], -1.0
	for _, h := range b.claims[av] {
		if h.got > at && slices.Contains(attempts, h.attempt) {
			last, at = h.attempt, h.got
		}
	}
	return last
}

// checkSubmissions checks that what was refused for its lease isn't stored: an
// attempt that has lost an entry never gets it again.
func (b *book) checkSubmissions(f *findings) {
	for i := range b.Lines {
		l := &b.Lines[i]
		if l.Call != CallSubmit {
			continue
		}
		for _, h := range l.Entries {
			for _, r := range l.Refused {
				if r.AccessionVersion != h.AccessionVersion || r.Reason == seqlease.RefusedDifferentResults || r.Reason == seqlease.RefusedDuplicate {
					continue
				}
				if b.stored[h.AccessionVersion].Result == h.AttemptID {
					f.add(StoredRefused, "%s of %s, refused as %s to %s", h.AccessionVersion, h.AttemptID, r.Reason, l.Worker)
				}
			}
		}
	}
}

// checkReadings checks what the server says against what the database holds.
func (b *book) checkReadings(f *findings) {
	for _, s := range b.Stored {
		status, listed := b.Listed[s.AccessionVersion]
		switch {
		case !listed:
			f.add(Disagreement, "%s is stored and not listed", s.AccessionVersion)
		case status != seqlease.Processed && status != seqlease.ApprovedForRelease:
			f.add(Unfinished, "%s is %s", s.AccessionVersion, status)
		}
	}
	for av := range b.Listed {
		if _, there := b.stored[av]; !there {
			f.add(Disagreement, "%s is listed and not stored", av)
		}
	}
	released := map[seqlease.AccessionVersion]bool{}
	for _, r := range b.Released {
		if s := b.stored[r.AccessionVersion]; s.Result.String() != r.Attempt {
			f.add(Disagreement, "%s is released as of %q and stored as of %s", r.AccessionVersion, r.Attempt, s.Result)
		} else if r.Proof != Proof(r.AccessionVersion, s.Result) {
			f.add(Disagreement, "%s is released with the proof %q, not that of its attempt", r.AccessionVersion, r.Proof)
		}
		if released[r.AccessionVersion] {
			f.add(Disagreement, "%s is released twice", r.AccessionVersion)
		}
		released[r.AccessionVersion] = true
	}
	for av, status := range b.Listed {
		if status == seqlease.ApprovedForRelease && !released[av] {
			f.add(Disagreement, "%s is approved and not released", av)
		}
	}
}

// checkUploads checks that uploads are stored as a whole or not at all.
func (b *book) checkUploads(f *findings) {
	entries := map[string][]seqlease.AccessionVersion{} // by submission id
	for _, s := range b.Stored {
		entries[s.SubmissionID] = append(entries[s.SubmissionID], s.AccessionVersion)
	}
	for _, u := range b.Uploads {
		for _, av := range entries[u.Poisoned] {
			if !b.stored[av].Quarantined {
				f.add(Spared, "%s, on which every worker dies", av)
			}
		}
		found := 0
		for _, id := range u.SubmissionIDs {
			found += min(1, len(entries[id]))
			if n := len(entries[id]); n > 1 {
				f.add(UploadTwice, "submission id %s is stored as %v", id, entries[id])
			}
			if av, answered := u.Stored[id]; answered && !slices.Contains(entries[id], av) {
				f.add(UploadLost, "submission id %s was stored as %s", id, av)
			}
		}
		switch first := u.SubmissionIDs[0]; {
		case found > 0 && found < len(u.SubmissionIDs):
			f.add(UploadTorn, "of the upload from %s on, %d of %d entries are stored", first, found, len(u.SubmissionIDs))
		case found > 0 && u.Refused:
			f.add(UploadTorn, "the upload from %s on was refused, and is stored", first)
		}
	}
}
