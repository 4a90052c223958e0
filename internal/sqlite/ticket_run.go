package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
)

// How many runs are looked at, and how many tickets that come before them or
// between: beyond these a claim goes by tickets alone.
const (
	runsSeen  = 64
	headsSeen = 64
)

// ticketRun is a run of entries whose tickets aren't written out yet.
type ticketRun struct {
	rank    int64 // of the first
	first   int64 // entry id
	entries int64
}

// last is the rank of the run's last ticket.
func (r ticketRun) last() int64 { return r.rank + r.entries - 1 }

// fairOrder is what comes first in fair order, each in order of rank: as many runs
// and tickets as are looked at.
type fairOrder struct {
	runs  []ticketRun
	heads []int64 // ranks of tickets that are written out
	all   bool    // there are no other tickets
}

func readFairOrder(ctx context.Context, t *tx, args claimArgs) (f fairOrder, err error) {
	if f.runs, err = ticketRuns(ctx, t, args); err != nil || len(f.runs) == 0 {
		return f, err
	}
	f.heads, err = ticketHeads(ctx, t, args)
	f.all = len(f.heads) < headsSeen
	return f, err
}

// takeFromRuns takes the first tickets in fair order, if tickets that aren't
// written out are among them: these never need to be. It takes all tickets of a
// rank or none, so it may take a few less than the claim wants. It returns also
// what comes next.
func takeFromRuns(ctx context.Context, t *tx, args claimArgs) (step took, next fairOrder, err error) {
	f, err := readFairOrder(ctx, t, args)
	if err != nil || len(f.runs) == 0 {
		return took{}, f, err
	}
	reach := reachWithin(f.runs, f.heads, int64(args.entries))
	tickets := ranksTo(f.heads, reach)
	if reached := runsTo(f.runs, reach); len(reached) == 0 {
		return took{}, f, nil
	} else if r := reached[0]; len(reached) == 1 && tickets == 0 {
		step, err = takeRun(ctx, t, args, r, min(reach, r.last()))
	} else {
		step, err = takeRuns(ctx, t, args, reach, tickets > 0)
	}
	if err != nil {
		return took{}, f, err
	}
	if err = passRuns(ctx, t, args, f.runs, reach); err != nil {
		return took{}, f, err
	}
	if len(f.runs) < runsSeen {
		return step, f.behind(reach), nil
	}
	next, err = readFairOrder(ctx, t, args) // runs come up that weren't looked at
	return step, next, err
}

// behind returns what is left when everything up to a rank was taken.
func (f fairOrder) behind(reach int64) fairOrder {
	left := fairOrder{heads: f.heads[ranksTo(f.heads, reach):], all: f.all}
	for _, r := range f.runs {
		if passed := reach + 1 - r.rank; passed > 0 {
			r = ticketRun{rank: reach + 1, first: r.first + passed, entries: r.entries - passed}
		}
		if r.entries > 0 {
			left.runs = append(left.runs, r)
		}
	}
	return left
}

// takeRun takes the entries of a run up to a rank.
func takeRun(ctx context.Context, t *tx, args claimArgs, r ticketRun, reach int64) (took, error) {
	bounds := named("first_entry_id", r.first, "last_entry_id", r.first+reach-r.rank)
	var untouched bool
	err := t.row(ctx, "claim_run_untouched", append(args.named("pipeline_version"), bounds...), &untouched)
	if err != nil {
		return took{}, err
	}
	statement := "claim_take_run"
	if untouched {
		statement = "claim_take_untouched"
	}
	n, err := t.exec(ctx, statement, append(args.named("attempt_id", "pipeline_version", "taken"), bounds...)...)
	if err == nil && n == reach-r.rank+1 {
		return took{entries: int(n), first: r.first}, nil
	}
	if err == nil && n > 0 {
		_, err = t.exec(ctx, "claim_close_gaps", args.named("attempt_id", "taken")...)
	}
	return took{entries: int(n)}, err
}

// takeRuns takes what has a rank up to reach, tickets that are written out included.
func takeRuns(ctx context.Context, t *tx, args claimArgs, reach int64, tickets bool) (took, error) {
	n, err := t.exec(ctx, "claim_take_runs", append(args.named("attempt_id", "organism_id", "pipeline_version", "taken"),
		sql.Named("last_rank", reach))...)
	if err == nil && tickets {
		_, err = t.exec(ctx, "claim_cut_tickets", args.named("attempt_id", "pipeline_version", "taken")...)
	}
	return took{entries: int(n)}, err
}

// passRuns lets the runs begin behind a rank. There may be more than were looked at.
func passRuns(ctx context.Context, t *tx, args claimArgs, runs []ticketRun, reach int64) error {
	to := append(args.named("organism_id", "pipeline_version"), sql.Named("last_rank", reach))
	reached, all := runsTo(runs, reach), len(runs) < runsSeen
	if !all || slices.ContainsFunc(reached, func(r ticketRun) bool { return r.last() <= reach }) {
		if _, err := t.exec(ctx, "end_runs", to...); err != nil {
			return err
		}
	}
	if !all || slices.ContainsFunc(reached, func(r ticketRun) bool { return r.last() > reach }) {
		if _, err := t.exec(ctx, "shorten_runs", to...); err != nil {
			return err
		}
	}
	return nil
}

// reachWithin returns up to which rank runs and written tickets, both in order of
// rank, have no more than so many tickets: less than the first rank of the runs if
// none. It doesn't reach beyond what was looked at.
func reachWithin(runs []ticketRun, heads []int64, tickets int64) int64 {
	low, high := runs[0].rank-1, int64(0)
	for _, r := range runs {
		high = max(high, r.last())
	}
	if len(runs) == runsSeen {
		high = min(high, runs[len(runs)-1].rank-1)
	}
	if len(heads) == headsSeen {
		high = min(high, heads[len(heads)-1]-1)
	}
	if low >= high || int64(ranksTo(heads, low)) > tickets {
		return low
	}
	for low < high { // the tickets up to low are few enough
		middle := low + (high-low+1)/2
		if ticketsTo(runs, middle)+int64(ranksTo(heads, middle)) <= tickets {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}

// runsTo returns the runs that begin up to a rank.
func runsTo(runs []ticketRun, rank int64) []ticketRun {
	end, _ := slices.BinarySearchFunc(runs, rank+1, func(r ticketRun, rank int64) int { return cmp.Compare(r.rank, rank) })
	return runs[:end]
}

// ranksTo counts the ranks up to a rank.
func ranksTo(ranks []int64, rank int64) int {
	end, _ := slices.BinarySearch(ranks, rank+1)
	return end
}

func ticketHeads(ctx context.Context, t *tx, args claimArgs) ([]int64, error) {
	var ranks []int64
	list := append(args.named("organism_id", "pipeline_version"), sql.Named("heads", int64(headsSeen)))
	err := t.rows(ctx, "ticket_heads", list, func(scan func(...any) error) error {
		var rank int64
		err := scan(&rank)
		ranks = append(ranks, rank)
		return err
	})
	return ranks, err
}

// writeOutTickets sees to it that the first tickets in fair order that a claim
// needs are written out (see ticket_run in the schema). Runs of deleted entries
// have none, so it goes on until there are enough or no runs are left; more says
// that this needs another transaction.
func writeOutTickets(ctx context.Context, t *tx, args claimArgs, f fairOrder) (more bool, err error) {
	for round := range maxRounds {
		if round > 0 {
			if f, err = readFairOrder(ctx, t, args); err != nil {
				return false, err
			}
		}
		if len(f.runs) == 0 {
			return false, nil
		}
		reach, enough, err := f.nthTicket(ctx, t, args)
		if err != nil || enough && reach < f.runs[0].rank {
			return false, err
		}
		last := reachOf(f.runs, int64(args.entries))
		written, err := t.exec(ctx, "write_out_tickets", append(args.named("organism_id", "pipeline_version"), sql.Named("last_rank", last))...)
		if err != nil {
			return false, err
		}
		if err := passRuns(ctx, t, args, f.runs, last); err != nil {
			return false, err
		}
		if written >= int64(args.entries) { // these alone are enough
			return false, nil
		}
	}
	return true, nil
}

// nthTicket returns the rank of the last ticket that the claim needs, if so many
// are written out.
func (f fairOrder) nthTicket(ctx context.Context, t *tx, args claimArgs) (rank int64, enough bool, err error) {
	if args.entries <= len(f.heads) {
		return f.heads[args.entries-1], true, nil
	}
	if f.all {
		return 0, false, nil
	}
	err = t.row(ctx, "claim_nth_rank", args.named("organism_id", "pipeline_version", "entries"), &rank)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return rank, err == nil, err
}

// maxRounds bounds how often a claim writes out tickets in one transaction.
const maxRounds = 20

func ticketRuns(ctx context.Context, t *tx, args claimArgs) ([]ticketRun, error) {
	var runs []ticketRun
	list := append(args.named("organism_id", "pipeline_version"), sql.Named("runs", int64(runsSeen)))
	err := t.rows(ctx, "ticket_runs", list, func(scan func(...any) error) error {
		var r ticketRun
		err := scan(&r.rank, &r.first, &r.entries)
		r.entries -= r.first - 1 // it was the last entry id
		runs = append(runs, r)
		return err
	})
	return runs, err
}

// reachOf returns up to which rank the runs, in order of rank, have about so many
// tickets: at least one, and no more than one more from each run. It doesn't
// reach beyond the last run that was looked at, if there may be others behind it.
func reachOf(runs []ticketRun, tickets int64) int64 {
	low, high := runs[0].rank, runs[0].rank
	for _, r := range runs {
		high = max(high, r.last())
	}
	if len(runs) == runsSeen {
		high = runs[len(runs)-1].rank
	}
	for low < high { // the tickets up to low are too few, or low is the first rank
		middle := low + (high-low)/2
		if ticketsTo(runs, middle) >= tickets {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// ticketsTo counts the tickets of the runs up to a rank.
func ticketsTo(runs []ticketRun, rank int64) (n int64) {
	for _, r := range runsTo(runs, rank) {
		n += min(r.entries, rank-r.rank+1)
	}
	return n
}
