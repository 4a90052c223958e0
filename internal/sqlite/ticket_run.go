package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"
)

// How many tickets of large uploads are written out at once, if a claim doesn't
// need more, and how many runs are looked at for that.
const (
	writtenOut = 1000
	runsSeen   = 64
)

// ticketRun is a run of entries whose tickets aren't written out yet.
type ticketRun struct {
	rank    int64 // of the first
	entries int64
}

// writeOutTickets sees to it that the first tickets in fair order that a claim
// needs are written out (see ticket_run in the schema). Runs of deleted entries
// have none, so it goes on until there are enough or no runs are left; more says
// that this needs another transaction.
func writeOutTickets(ctx context.Context, t *tx, args claimArgs) (more bool, err error) {
	for range maxRounds {
		runs, err := ticketRuns(ctx, t, args)
		if err != nil || len(runs) == 0 {
			return false, err
		}
		var reach int64 // the rank of the last ticket that the claim needs
		err = t.row(ctx, "claim_nth_rank", args.named("organism_id", "pipeline_version", "entries"), &reach)
		if err == nil && reach < runs[0].rank {
			return false, nil
		}
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return false, err
		}
		last := reachOf(runs, int64(max(args.entries, writtenOut)))
		to := append(args.named("organism_id", "pipeline_version"), sql.Named("last_rank", last))
		written, err := t.exec(ctx, "write_out_tickets", to...)
		if err != nil {
			return false, err
		}
		for _, statement := range []string{"end_runs", "shorten_runs"} {
			if _, err := t.exec(ctx, statement, to...); err != nil {
				return false, err
			}
		}
		if written >= int64(args.entries) { // these alone are enough
			return false, nil
		}
	}
	return true, nil
}

// maxRounds bounds how often a claim writes out tickets in one transaction.
const maxRounds = 20

func ticketRuns(ctx context.Context, t *tx, args claimArgs) ([]ticketRun, error) {
	var runs []ticketRun
	list := append(args.named("organism_id", "pipeline_version"), sql.Named("runs", int64(runsSeen)))
	err := t.rows(ctx, "ticket_runs", list, func(scan func(...any) error) error {
		var r ticketRun
		err := scan(&r.rank, &r.entries)
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
		high = max(high, r.rank+r.entries-1)
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
	end, _ := slices.BinarySearchFunc(runs, rank+1, func(r ticketRun, rank int64) int { return int(r.rank - rank) })
	for _, r := range runs[:end] {
		n += min(r.entries, rank-r.rank+1)
	}
	return n
}
