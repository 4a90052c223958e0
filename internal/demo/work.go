package demo

import (
	"context"
	"fmt"
	"slices"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/worker"
)

// mishapAt is the entry of its batch at which a worker meets its fate: the batch
// is half done, and there is time left before its results are sent.
const mishapAt = 3

// incident is what was done to the workers, for the checks.
type incident struct {
	killed, frozen seqlease.AttemptID // the claims that they held
}

// director brings the mishaps about and sees the work through.
type director struct {
	*stage
	crew     *crew
	fates    []string
	incident incident
	victim   *process // to be killed
	sleeper  *process // to be stopped and continued
	thawed   bool
	retaken  map[seqlease.AttemptID]bool // told that others get its entries
	refused  bool                        // the sleeper's late results were
	alive    int
}

// work lets worker processes do the work. The first worker is killed and the
// second one stopped, each in the middle of its first batch; the others start
// when both have happened, and get those batches when the leases have ended.
// Then the stopped one is continued, and sends its results too late: it is a
// pipeline of the old kind, as one that renews would ask first and drop them.
func (d *stage) work(ctx context.Context) (fates []string, what incident, err error) {
	x := &director{stage: d, crew: newCrew(d.Dir), retaken: map[seqlease.AttemptID]bool{}}
	defer x.crew.close()
	if x.victim, err = x.hire(ctx, true); err != nil {
		return nil, incident{}, err
	}
	if x.sleeper, err = x.hire(ctx, false); err != nil {
		return nil, incident{}, err
	}
	for !x.finished() {
		e, err := x.crew.next(ctx)
		if err != nil {
			return nil, incident{}, fmt.Errorf("%w; by then results of %d of %d entries were accepted, and the next demo on the same store finishes the others first",
				err, len(d.ledger.accepted), len(d.entries))
		}
		if err := x.handle(ctx, e); err != nil {
			return nil, incident{}, err
		}
	}
	if err := x.dismiss(ctx); err != nil {
		return nil, incident{}, err
	}
	return x.fates, x.incident, nil
}

// hire starts the next worker, which renews its leases or doesn't.
func (x *director) hire(ctx context.Context, renews bool) (*process, error) {
	server := x.servers[len(x.crew.all)%len(x.servers)]
	p, err := x.crew.start(x.WorkerCommand(ctx, WorkerOrder{
		Config: x.config, Server: server.URL(), Token: x.tokens.pipeline,
		Organism: organism, PipelineVersion: 1, Batch: Batch, Lease: Lease, Pace: Pace, NoRenewal: !renews,
	}))
	if err != nil {
		return nil, err
	}
	x.alive++
	x.fates = append(x.fates, "worked to the end")
	return p, nil
}

// finished says whether every entry is done and the sleeper has woken up.
func (x *director) finished() bool { return len(x.ledger.accepted) == len(x.entries) && x.refused }

func (x *director) handle(ctx context.Context, e processEvent) error {
	if e.ended {
		x.alive--
		if e.process == x.victim && x.victim.killed {
			return nil
		}
		if e.err == nil {
			return fmt.Errorf("worker %d ended early, though nobody told it to; its log is %s", e.process.number, e.process.log)
		}
		return fmt.Errorf("worker %d ended early: %w; its log is %s", e.process.number, e.err, e.process.log)
	}
	c := x.ledger.note(e.process.number, e.Event)
	if c == nil {
		return nil
	}
	switch e.Kind {
	case worker.Claimed:
		return x.afterClaim(e)
	case worker.EntryStarted:
		return x.afterStart(ctx, e, c)
	case worker.Submitted:
		x.Accepted(len(x.ledger.accepted), len(x.entries))
	case worker.Refused:
		x.tell("worker %d sent %s too late: refused (%s)", e.process.number, count(len(e.Refused), "result", "results"), e.Refused[0].Reason)
		x.refused = x.refused || e.process == x.sleeper
	case worker.EntryDone, worker.Renewed, worker.GivenBack, worker.Dropped, worker.Waiting:
	}
	return nil
}

// afterStart brings about a mishap at its moment.
func (x *director) afterStart(ctx context.Context, e processEvent, c *claim) error {
	if c.started != mishapAt {
		return nil
	}
	switch {
	case e.process == x.victim && !x.victim.killed:
		if err := x.victim.command.Process.Kill(); err != nil {
			return fmt.Errorf("kill worker %d: %w", x.victim.number, err)
		}
		x.victim.killed, x.incident.killed = true, e.AttemptID
		x.fates[x.victim.number-1] = "killed in mid-batch"
		x.tell("worker %d killed (SIGKILL) at entry %d of %d of its batch", x.victim.number, c.started, len(c.entries))
	case e.process == x.sleeper && x.incident.frozen.IsZero():
		if err := freeze(x.sleeper.command.Process); err != nil {
			return fmt.Errorf("stop worker %d: %w", x.sleeper.number, err)
		}
		x.incident.frozen = e.AttemptID
		x.fates[x.sleeper.number-1] = "stopped past its lease"
		x.tell("worker %d stopped (SIGSTOP) at entry %d of %d of its batch", x.sleeper.number, c.started, len(c.entries))
	default:
		return nil
	}
	if !x.victim.killed || x.incident.frozen.IsZero() {
		return nil
	}
	for len(x.crew.all) < x.Workers {
		if _, err := x.hire(ctx, true); err != nil {
			return err
		}
	}
	x.tell("%s on with what is left; the two leases still run", count(x.Workers-2, "more worker goes", "more workers go"))
	return nil
}

// afterClaim continues the sleeper once others have its whole batch.
func (x *director) afterClaim(e processEvent) error {
	for _, held := range []struct {
		by      *process
		attempt seqlease.AttemptID
	}{{x.victim, x.incident.killed}, {x.sleeper, x.incident.frozen}} {
		if held.attempt.IsZero() || x.retaken[held.attempt] {
			continue
		}
		if slices.ContainsFunc(e.Entries, func(entry worker.EventEntry) bool { return x.ledger.claims[held.attempt].holds(entry.AccessionVersion) }) {
			x.retaken[held.attempt] = true
			x.tell("worker %d claimed %s of worker %d, whose lease has ended; what cost an attempt goes out in small batches",
				e.process.number, count(len(e.Entries), "entry", "entries"), held.by.number)
		}
	}
	if x.thawed || x.incident.frozen.IsZero() || !x.ledger.allRetaken(x.incident.frozen) {
		return nil
	}
	if err := thaw(x.sleeper.command.Process); err != nil {
		return fmt.Errorf("continue worker %d: %w", x.sleeper.number, err)
	}
	x.thawed = true
	x.tell("worker %d continued (SIGCONT): it renews no leases, and doesn't know that its own has ended", x.sleeper.number)
	return nil
}

// dismiss asks the workers to stop and waits for them; each must end well.
func (x *director) dismiss(ctx context.Context) error {
	for _, p := range x.crew.all {
		if !p.killed {
			_ = terminate(p.command.Process) // an error says that it has ended, which is told below
		}
	}
	for x.alive > 0 {
		e, err := x.crew.next(ctx)
		if err != nil {
			return err
		}
		if !e.ended {
			x.ledger.note(e.process.number, e.Event) // a late event counts
			continue
		}
		x.alive--
		if e.err != nil && !e.process.killed {
			return fmt.Errorf("worker %d didn't stop when it was told to (%w); its log is %s", e.process.number, e.err, e.process.log)
		}
	}
	return nil
}
