package postgres

import (
	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease/internal/queue"
)

// AcceptStatements are those that store results, by name.
var AcceptStatements = map[string]string{"accept_results": acceptResultsSQL, "accept_first": acceptFirstSQL}

// AcceptArguments are theirs.
func AcceptArguments(organismID int32, r queue.Submission) pgx.StrictNamedArgs {
	return acceptArguments(organismID, r, r.Lines, attemptsOf(r.Lines), true)
}
