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
		Evidence: e, claims: map[seqlease.AccessionVersion][]holding{},
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
		switch {
		case len(attempts) > 1:
			f.add(Twice, "%s: %v", av, attempts)
		case !there || s.Result != attempts[0]:
			f.add(Lost, "%s: that of %s was accepted, that of %s is stored", av, attempts[0], s.Result)
		}
	}
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

// checkHolders checks that nobody got an entry while another surely held it.
func (b *book) checkHolders(f *findings) {
	ended := b.endings()
	for av, holdings := range b.claims {
		slices.SortFunc(holdings, func(x, y holding) int {
			if x.got < y.got {
				return -1
			}
			return 1
		})
		for i, first := range holdings {
			until := first.until - clockSlack
			for _, held := range []Held{{AccessionVersion: av, AttemptID: first.attempt}, {AttemptID: first.attempt}} {
				if at, early := ended[held]; early {
					until = min(until, at)
				}
			}
			for _, at := range b.Jumps {
				if at > first.from {
					until = min(until, at)
				}
			}
			if !first.whole { // the server may have noticed, and given it back
				continue
			}
			for _, second := range holdings[i+1:] {
				if second.attempt != first.attempt && second.got < until {
					f.add(HeldAtOnce, "%s by %s from %.2f to %.2f at least as %s, and by %s from %.2f as %s",
						av, first.worker, first.got, until, first.attempt, second.worker, second.got, second.attempt)
				}
			}
		}
	}
}

// endings are when attempts ended their hold of an entry themselves, at the
// earliest: they sent the result or gave it back. Without an accession it is all
// that the attempt held.
func (b *book) endings() map[Held]float64 {
	ended := map[Held]float64{}
	for i := range b.Lines {
		l := &b.Lines[i]
		if l.Call != CallSubmit && l.Call != CallGiveBack {
			continue
		}
		for _, h := range l.Entries {
			h.LeaseSeconds = 0
			if at, found := ended[h]; !found || l.Sent < at {
				ended[h] = l.Sent
			}
		}
	}
	return ended
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
