package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// PlanSettingsSQL are the settings with which those statements run.
var PlanSettingsSQL = planSettingsSQL

// ListStatement is a statement that takes a list of entries.
type ListStatement struct {
	SQL       string
	Arguments pgx.StrictNamedArgs
}

// ListStatements are those that look for listed entries in leases, by name.
func ListStatements(s *Store, attempt seqlease.AttemptID, list []seqlease.AccessionVersion) map[string]ListStatement {
	const organismID = 2
	ids := make([]int64, len(list))
	for i := range ids {
		ids[i] = int64(i + 1)
	}
	giveBack, err := s.giveBackArguments(context.Background(), queue.GiveBack{AttemptID: attempt, Entries: list, Undelivered: true})
	if err != nil {
		panic(err) // an undelivered batch's organism isn't looked up
	}
	cut := pgx.StrictNamedArgs{"organism": organismID, "version": 1, "ids": ids}
	return map[string]ListStatement{
		"give_back":   {giveBackSQL, giveBack},
		"free_leases": {freeLeasesSQL, s.freeArguments(organismID, queue.FreeLeases{Entries: list}, 1000)},
		"cut_leases":  {cutLeasesSQL, cut},
		"queued":      {queuedSQL, cut},
		"reprocess": {reprocessSQL, pgx.StrictNamedArgs{
			"organism": organismID, "version": 1, "ids": ids, "after_rank": 0, "after_id": 0,
		}},
		"find_gaps": {findGapsSQL, pgx.StrictNamedArgs{"after": 0, "limit": 2000}},
		"fill_gaps": {fillGapsSQL, pgx.StrictNamedArgs{"ids": ids}},
	}
}

// CountEntriesSQL and ClaimsOfSQL are the statements of those names.
var (
	CountEntriesSQL = countEntriesSQL
	ClaimsOfSQL     = claimsOfSQL
)
