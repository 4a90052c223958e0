package postgres

import (
	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease/internal/queue"
)

// AcceptStatements are those that store results, by name.
var AcceptStatements = map[string]string{"accept_results": acceptResultsSQL, "accept_first": acceptFirstSQL}

// AcceptArguments are those of one of them.
func AcceptArguments(name string, organismID int32, r queue.Submission) pgx.StrictNamedArgs {
	arguments := acceptArguments(organismID, r, r.Lines, attemptsOf(r.Lines))
	if name == "accept_results" {
		arguments["whole"] = true
	}
	return arguments
}
