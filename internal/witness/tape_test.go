package witness_test

import (
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/witness"
)

// Hand-made histories: every instant is in milliseconds, and the database's
// clock shows exactly the recorder's beside a constant.

const epoch = int64(1_800_000_000_000_000) // µs

var (
	entry   = seqlease.AccessionVersion{Accession: "A_1", Version: 1}
	another = seqlease.AccessionVersion{Accession: "A_2", Version: 1}

	first  = seqlease.AttemptID{1}
	second = seqlease.AttemptID{2}
	third  = seqlease.AttemptID{3}
)

const (
	ann = "ann"
	bob = "bob"
)

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }
func at(n int) time.Time     { return time.UnixMicro(epoch + int64(n)*1000) }

// call is an event of entry under version 1 that began and ended then.
func call(kind witness.Kind, from, to int, parts ...witness.Part) witness.Event {
	for i := range parts {
		if parts[i].Accession == "" {
			parts[i].AccessionVersion = entry
		}
	}
	return witness.Event{Kind: kind, Call: ms(from), Return: ms(to), Pipeline: 1, User: ann, Parts: parts}
}

func create(from, to int) witness.Event {
	return call(witness.Create, from, to, witness.Part{Tag: "d0"})
}

// claim is answered at once, so that its lease of length begins at from.
func claim(from, to int, id seqlease.AttemptID, try, length int) witness.Event {
	e := call(witness.Claim, from, to, witness.Part{Tag: "d0", Try: try})
	e.Attempt, e.Asked, e.Until, e.Lease = id, 10, at(from+length), ms(length)
	return e
}

func submit(from, to int, id seqlease.AttemptID, tag string, answer witness.Answer) witness.Event {
	return call(witness.Submit, from, to, witness.Part{Attempt: id, Tag: tag, Answer: answer})
}

func renew(from, to int, id seqlease.AttemptID, length int) witness.Event {
	e := call(witness.Renew, from, to)
	e.Attempt, e.Until, e.Lease, e.Count = id, at(from+length), ms(length), 1
	return e
}

func giveBack(from, to int, id seqlease.AttemptID, count int) witness.Event {
	e := call(witness.GiveBack, from, to)
	e.Attempt, e.Count = id, count
	return e
}

func shorten(from, to int, id seqlease.AttemptID, until int) witness.Event {
	e := call(witness.Shorten, from, to, witness.Part{})
	e.Attempt, e.Until = id, at(until)
	return e
}

func free(from, to int, id seqlease.AttemptID, count int) witness.Event {
	e := call(witness.Free, from, to)
	e.Attempt, e.Count = id, count
	return e
}

func requeue(from, to int) witness.Event {
	e := call(witness.Requeue, from, to, witness.Part{})
	e.Count = 1
	return e
}

func refusedRequeue(from, to int) witness.Event {
	return call(witness.Requeue, from, to, witness.Part{})
}

func quarantine(from, to, count int) witness.Event {
	return with(call(witness.Quarantine, from, to, witness.Part{}), func(e *witness.Event) { e.Count = count })
}

func reprocess(from, to, count int) witness.Event {
	return with(call(witness.Reprocess, from, to, witness.Part{}), func(e *witness.Event) { e.Count = count })
}

func edit(from, to int, tag string) witness.Event {
	return call(witness.Edit, from, to, witness.Part{Tag: tag})
}

func remove(from, to int) witness.Event { return call(witness.Delete, from, to, witness.Part{}) }

func read(from, to int, status seqlease.Status) witness.Event {
	if status == "" {
		return call(witness.Read, from, to)
	}
	return call(witness.Read, from, to, witness.Part{Status: status})
}

func results(from, to int, id seqlease.AttemptID) witness.Event {
	if id.IsZero() {
		return call(witness.Results, from, to)
	}
	return call(witness.Results, from, to, witness.Part{Attempt: id})
}

func refused(e witness.Event) witness.Event { e.Refused = true; return e }

func unanswered(e witness.Event) witness.Event { e.Unanswered = true; return e }

func byBob(e witness.Event) witness.Event { e.User = bob; return e }

func counted(e witness.Event) witness.Event { e.Counted = true; return e }

func with(e witness.Event, change func(*witness.Event)) witness.Event { change(&e); return e }

// lostIn has the answer name the entry as lost.
func lostIn(e witness.Event) witness.Event {
	e.Parts, e.Count = []witness.Part{{AccessionVersion: entry}}, 0
	return e
}

const (
	leaseLost = witness.Answer(seqlease.RefusedLeaseLost)
	different = witness.Answer(seqlease.RefusedDifferentResults)
	edited    = witness.Answer(seqlease.RefusedEdited)
	notFound  = witness.Answer(seqlease.RefusedNotFound)
)

// judge holds the events against the rules.
func judge(o witness.Options, events []witness.Event) (orders, facts []string) {
	recorder := witness.NewRecorder(func() time.Duration { return 0 })
	for _, e := range events {
		recorder.Add(e)
	}
	h := recorder.History()
	h.Early, h.Late = epoch, epoch
	return witness.Check(h, o), witness.Facts(h, o)
}
