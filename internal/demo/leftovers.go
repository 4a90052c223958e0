package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
)

// institution marks the groups that demos make.
const institution = "seqlease demo"

// drainPause is how often it is looked whether the leftovers are done. Leases of
// the demo that was interrupted may still run.
const drainPause = 250 * time.Millisecond

// leftovers are the entries of the organism that wait or are in processing.
type leftovers struct{ ofDemos, ofOthers int }

// lookForLeftovers counts what is waiting in the store.
func lookForLeftovers(ctx context.Context, operator *client.Client) (leftovers, error) {
	listing, err := operator.ListEntries(ctx, organism, client.ListFilter{Statuses: []seqlease.Status{seqlease.Received, seqlease.InProcessing}})
	if err != nil || len(listing.Entries) == 0 {
		return leftovers{}, err
	}
	groups, err := operator.UserGroups(ctx)
	if err != nil {
		return leftovers{}, err
	}
	isDemo := map[int64]bool{}
	for _, g := range groups {
		isDemo[g.GroupID] = g.Institution == institution
	}
	var found leftovers
	for _, e := range listing.Entries {
		if isDemo[e.GroupID] {
			found.ofDemos++
		} else {
			found.ofOthers++
		}
	}
	return found, nil
}

// finishEarlier processes what a demo that was interrupted left in the store. The
// work of others is left alone: the error says what to do with it.
func (d *stage) finishEarlier(ctx context.Context, operator *client.Client) error {
	found, err := lookForLeftovers(ctx, operator)
	if err != nil {
		return err
	}
	if found.ofOthers > 0 {
		return fmt.Errorf("%s of organism %q that no demo submitted %s in this store, and the demo's workers would take them: "+
			"give the demo a store of its own, or let a worker finish them first (seqlease work --until-empty)",
			count(found.ofOthers, "entry", "entries"), organism, map[bool]string{true: "is waiting", false: "are waiting"}[found.ofOthers == 1])
	}
	if found.ofDemos == 0 {
		return nil
	}
	d.tell("%s of a demo that was interrupted: a worker finishes them first", count(found.ofDemos, "entry is left", "entries are left"))
	c := newCrew(d.Dir)
	defer c.close()
	p, err := c.start(d.WorkerCommand(ctx, WorkerOrder{
		Config: d.config, Server: d.servers[0].URL(), Token: d.tokens.pipeline,
		Organism: organism, PipelineVersion: 1, Batch: len(d.material.genomes), Lease: Lease,
	}))
	if err != nil {
		return err
	}
	again := time.NewTicker(drainPause)
	defer again.Stop()
	for {
		select {
		case e := <-c.events:
			if e.ended {
				return fmt.Errorf("the worker that finishes an earlier demo ended early (%w); its log is %s", e.err, p.log)
			}
		case <-again.C:
			if found, err = lookForLeftovers(ctx, operator); err != nil {
				return err
			}
			if found.ofDemos == 0 {
				return nil
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
