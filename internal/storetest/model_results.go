package storetest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// modelLine is a result line and what it must become.
type modelLine struct {
	queue.Line
	entry   *modelEntry
	lease   *modelLease // nil: an attempt that was never claimed
	variant int
}

// fate is what becomes of a line: it is stored, or repeats, or is refused for one
// of the reasons.
type fate struct {
	stored, repeats bool
	reasons         []seqlease.RefusalReason
}

// fate judges a line that the user sends (L3, L6, L10).
func (w *world) fate(l modelLine, user string) fate {
	e := l.entry
	mine := l.lease != nil && l.lease.user == user
	switch {
	case e.gone:
		return fate{reasons: []seqlease.RefusalReason{seqlease.RefusedNotFound}}
	case mine && e.holder == l.lease:
		return fate{stored: true}
	case mine && e.result != nil && e.result.lease == l.lease && e.result.variant == l.variant:
		return fate{repeats: true}
	case mine && e.result != nil && e.result.lease == l.lease:
		return fate{reasons: []seqlease.RefusalReason{seqlease.RefusedDifferentResults}}
	}
	lost := fate{reasons: []seqlease.RefusalReason{seqlease.RefusedLeaseLost}}
	if l.lease != nil {
		if c, was := e.claimOf(l.lease); was && c.revision < e.revision { // which is told first doesn't matter
			lost.reasons = append(lost.reasons, seqlease.RefusedEdited)
		}
	}
	return lost
}

// judgements are the variants of results.
var judgements = []seqlease.ProcessingResult{seqlease.NoIssues, seqlease.HasWarnings, seqlease.HasErrors}

// line makes a result line of a variant, always the same for an entry.
func (w *world) line(r *rapid.T, s Store, number int, e *modelEntry, l *modelLease) modelLine {
	variant := rapid.IntRange(0, len(judgements)-1).Draw(r, "variant")
	doc := processed(fmt.Sprintf("result %d of %s", variant, e.av), judgements[variant])
	packed, err := s.Pack(WestNile, doc)
	w.must(r, "pack", err)
	id := seqlease.NewAttemptID()
	if l != nil {
		id = l.id
	}
	digest := sha256.Sum256(doc)
	return modelLine{entry: e, lease: l, variant: variant, Line: queue.Line{
		AccessionVersion: e.av, Number: number, AttemptID: id,
		Result: judgements[variant], Digest: [16]byte(digest[:16]), Packed: packed,
	}}
}

// lines draws results of some of what the lease had, and of what it never had.
func (w *world) lines(r *rapid.T, s Store) []modelLine {
	var lines []modelLine
	add := func(e *modelEntry, l *modelLease) {
		if !slices.ContainsFunc(lines, func(other modelLine) bool { return other.entry == e }) {
			lines = append(lines, w.line(r, s, len(lines)+1, e, l))
		}
	}
	for range rapid.IntRange(1, 2).Draw(r, "attempts") {
		l := w.lease(r)
		for _, e := range pick(r, l.entries, "answered") {
			add(e, l)
		}
		if rapid.IntRange(0, 9).Draw(r, "foreign") == 0 {
			add(one(r, w.entries, "foreign entry"), l)
		}
	}
	if rapid.IntRange(0, 19).Draw(r, "unclaimed") == 0 {
		add(one(r, w.entries, "entry"), nil)
	}
	return lines
}

// lease draws one of the last leases, or one that has ended and that nobody has
// taken apart.
func (w *world) lease(r *rapid.T) *modelLease {
	if len(w.leases) == 0 {
		r.Skip("nothing was claimed yet")
	}
	if ended := w.endedLeases(); len(ended) > 0 && rapid.IntRange(0, 2).Draw(r, "ended") == 2 {
		return rapid.SampledFrom(ended).Draw(r, "ended lease")
	}
	back := rapid.IntRange(0, min(len(w.leases), 8)-1).Draw(r, "lease from the last")
	return w.leases[len(w.leases)-1-back]
}

func (w *world) results(r *rapid.T) {
	if len(w.leases) == 0 {
		r.Skip("nothing was claimed yet")
	}
	s := w.server(r)
	lines := w.lines(r, s)
	sub := results()
	sub.Skip = rapid.Bool().Draw(r, "skip")
	sub.ClaimedBy = w.user(r)
	if len(lines) > 0 && rapid.IntRange(0, 9).Draw(r, "right user") > 0 && lines[0].lease != nil {
		sub.ClaimedBy = lines[0].lease.user
	}
	if rapid.IntRange(0, 7).Draw(r, "invalid") == 0 {
		sub.Invalid = append(sub.Invalid, seqlease.Refusal{
			AccessionVersion: one(r, w.entries, "invalid").av, Line: len(lines) + 1, Reason: seqlease.RefusedInvalid, Detail: "unknown field",
		})
	}
	w.send(r, s, sub, lines)
}

// send submits the lines and checks what becomes of them.
func (w *world) send(r *rapid.T, s Store, sub queue.Submission, lines []modelLine) {
	var want []seqlease.Refusal
	fates := make([]fate, len(lines))
	stored := 0
	for i, l := range lines {
		sub.Lines = append(sub.Lines, l.Line)
		fates[i] = w.fate(l, sub.ClaimedBy)
		if fates[i].reasons == nil {
			stored++
			continue
		}
		want = append(want, seqlease.Refusal{AccessionVersion: l.AccessionVersion, Line: l.Number, Reason: fates[i].reasons[0]})
	}
	want = append(want, sub.Invalid...)
	accepted, err := s.AcceptResults(w.ctx, sub)
	refusals := accepted.Refused
	if !sub.Skip && len(want) > 0 {
		var refusal *seqlease.RefusedError
		if !errors.As(err, &refusal) {
			r.Fatalf("got error %v, want refusals %v", err, want)
		}
		w.checkRefusals(r, refusal.Refused, want, fates)
		w.tally["refusals"] += len(want)
		return
	}
	w.must(r, "accept results", err)
	same(r, "lines stored", accepted.Stored, stored)
	w.checkRefusals(r, refusals, want, fates)
	w.tally["refusals"] += len(refusals)
	for i, l := range lines {
		if fates[i].stored {
			w.tally["results"]++
			l.entry.rest()
			l.entry.quarantined = false
			l.entry.result = &modelResult{lease: l.lease, variant: l.variant, judged: l.Result}
		}
	}
}

// checkRefusals compares refusals, of which some may have either of two reasons.
func (w *world) checkRefusals(r *rapid.T, got, want []seqlease.Refusal, fates []fate) {
	got, want = slices.Clone(got), slices.Clone(want)
	for i := range want {
		want[i].Detail = ""
	}
	for i := range got {
		if got[i].Detail == "" {
			r.Fatalf("the refusal of line %d has no detail", got[i].Line)
		}
		got[i].Detail = ""
		if n := got[i].Line - 1; n >= 0 && n < len(fates) && slices.Contains(fates[n].reasons, got[i].Reason) {
			got[i].Reason = fates[n].reasons[0]
		}
	}
	same(r, "refusals", got, want)
}

func (w *world) renew(r *rapid.T) {
	l := w.lease(r)
	ask := queue.Renew{Organism: WestNile, AttemptID: l.id, ClaimedBy: w.user(r)}
	if rapid.IntRange(0, 3).Draw(r, "right user") > 0 {
		ask.ClaimedBy = l.user
	}
	ask.Lease = rapid.SampledFrom([]time.Duration{0, time.Minute, 10 * time.Minute, 2 * hour}).Draw(r, "lease")
	w.renewOf(r, l, ask)
}

// renewOf renews the lease and checks the answer (L7).
func (w *world) renewOf(r *rapid.T, l *modelLease, ask queue.Renew) {
	renewed, err := w.server(r).Renew(w.ctx, ask)
	held := l.held()
	if len(held) == 0 || ask.ClaimedBy != l.user {
		wantIs(r, "renew", err, seqlease.ErrLeaseLost)
		w.tally["renewals refused"]++
		return
	}
	w.must(r, "renew", err)
	want := ask.Lease
	if want == 0 {
		want = l.asClaimed
	}
	w.tally["renewals"]++
	same(r, "lease", renewed.Lease, want)
	same(r, "held", renewed.Held, len(held))
	lost := slices.Clone(l.lost)
	slices.SortFunc(lost, seqlease.AccessionVersion.Compare)
	slices.SortFunc(renewed.Lost, seqlease.AccessionVersion.Compare)
	same(r, "lost", renewed.Lost, lost)
	w.tally["told as lost"] += len(lost)
	l.until = w.now + want
}

func (w *world) giveBack(r *rapid.T) {
	l := w.lease(r)
	g := queue.GiveBack{AttemptID: l.id, Organism: WestNile, ClaimedBy: w.user(r), Reason: "because"}
	if rapid.IntRange(0, 3).Draw(r, "right user") > 0 {
		g.ClaimedBy = l.user
	}
	g.CountsAsAttempt = rapid.Bool().Draw(r, "counts")
	by := rapid.SampledFrom([]string{"user", "user", "undelivered", "damaged"}).Draw(r, "by")
	if by == "undelivered" && w.now >= l.until && l.stirred {
		by = "user" // what is left of the lease isn't known
	}
	g.Undelivered, g.Damaged = by == "undelivered", by == "damaged"
	if !g.Undelivered && rapid.Bool().Draw(r, "some") {
		g.Entries = named(pick(r, l.entries, "given back"))
	}
	w.giveBackOf(r, l, g, by)
}

// giveBackOf gives back of the lease and checks the answer (L8).
func (w *world) giveBackOf(r *rapid.T, l *modelLease, g queue.GiveBack, by string) {
	from := l.held()
	if g.Undelivered {
		g.CountsAsAttempt = false
		if w.now >= l.until {
			from = l.left()
			l.stirred = true
		}
	}
	n, err := w.server(r).GiveBack(w.ctx, g)
	if by == "user" && (len(from) == 0 || g.ClaimedBy != l.user) {
		wantIs(r, "give back", err, seqlease.ErrLeaseLost)
		return
	}
	w.must(r, "give back", err)
	back := slices.DeleteFunc(from, func(e *modelEntry) bool { return g.Entries != nil && !slices.Contains(g.Entries, e.av) })
	same(r, "entries given back", n, len(back))
	w.tally["given back by "+by] += n
	for _, e := range back {
		attempts := e.attempts
		if !g.CountsAsAttempt {
			attempts--
		}
		w.wait(e, attempts, e.handOuts)
	}
}
