package evidence

import (
	"slices"

	"github.com/seqlease/seqlease"
)

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
			if at, crashed := b.crashAfter(first); crashed && !b.survived(first.attempt, at) {
				until = min(until, at)
			}
			for _, e := range b.Endings {
				if e.ends(av, first.attempt) && (e.Until == 0 || e.Until > first.from) {
					until = min(until, e.From)
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

// volatile is how long before a crash a claim may have been answered that is lost
// in it. Claims commit asynchronously: the WAL writer makes them durable within
// three times wal_writer_delay, 0.6 s by default (PostgreSQL's manual, Asynchronous
// Commit). The rest is for a WAL writer that gets no processor on a small machine.
const volatile = 2.0

// crashAfter is when the database crashed just after a claim, or during it.
func (b *book) crashAfter(h holding) (at float64, crashed bool) {
	for _, c := range b.Crashes {
		if h.from < c.Until && h.got > c.From-volatile {
			return c.From, true
		}
	}
	return 0, false
}

// survived says whether something shows that the attempt's claim was not lost in
// the crash: whatever it sent afterwards was accepted.
func (b *book) survived(attempt seqlease.AttemptID, crash float64) bool {
	for i := range b.Lines {
		l := &b.Lines[i]
		proves := l.Call == CallRenew && l.Status == 200 || l.Call == CallSubmit && l.Accepted()
		if !proves || l.Sent < crash {
			continue
		}
		for _, h := range l.Entries {
			if h.AttemptID == attempt && !l.refuses(h) {
				return true
			}
		}
	}
	return false
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

// checkLeaseEnds checks that no result counts that was sent when its lease surely
// had ended (L3): who is late is refused, also where nobody else has the entry.
func (b *book) checkLeaseEnds(f *findings) {
	sent := b.firstSent()
	for av := range b.claims {
		attempts := b.accepted[av]
		if stored := b.stored[av].Result; !slices.Contains(attempts, stored) {
			attempts = append(slices.Clone(attempts), stored)
		}
		for _, attempt := range attempts {
			at, found := sent[Held{AccessionVersion: av, AttemptID: attempt}]
			until, claimed := b.latestEnd(av, attempt)
			if found && claimed && at > until+clockSlack {
				f.add(Late, "%s of %s, sent first at %.2f, when its lease had ended at %.2f at the latest", av, attempt, at, until)
			}
		}
	}
}

// firstSent is when each result was sent first: of a repetition nobody knows
// which one was stored.
func (b *book) firstSent() map[Held]float64 {
	sent := map[Held]float64{}
	for i := range b.Lines {
		l := &b.Lines[i]
		if l.Call != CallSubmit {
			continue
		}
		for _, h := range l.Entries {
			h.LeaseSeconds = 0
			if at, found := sent[h]; !found || l.Sent < at {
				sent[h] = l.Sent
			}
		}
	}
	return sent
}

// latestEnd is when an attempt's hold of an entry had ended at the latest: by its
// claim and its renewals, unless something ended it sooner.
func (b *book) latestEnd(av seqlease.AccessionVersion, attempt seqlease.AttemptID) (until float64, claimed bool) {
	var got, lease float64
	for _, h := range b.claims[av] {
		if h.attempt == attempt {
			got, lease, claimed = h.got, h.until-h.from, true
		}
	}
	until = got + lease
	last := got // the last answer that may tell of a lease
	for _, l := range b.renewals[attempt] {
		seconds := max(lease, float64(l.Entries[0].LeaseSeconds))
		switch {
		case l.Status == 200 && l.Whole:
			until, last = max(until, l.Got+seconds), max(last, l.Got)
		case l.Status/100 != 4: // it may reach the server at any time while the lease runs
			until, last = until+seconds, max(last, l.Got)
		}
	}
	if b.Repeats && len(b.renewals[attempt]) > 0 {
		until += lease
	}
	for _, at := range b.Jumps {
		if at > last {
			until = min(until, at)
		}
	}
	for _, e := range b.Endings {
		if e.Until > 0 && e.From > got && e.ends(av, attempt) {
			until = min(until, e.Until)
		}
	}
	return until, claimed
}
