package postgres

import (
	"context"
	_ "embed"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seqlease/seqlease/internal/queue"
)

//go:embed sql/accept_first.sql
var acceptFirstSQL string

var acceptFirstStatement = numbered("accept_first", acceptFirstSQL)

// The same for submissions that go together. None of them is to wait for a lease of
// another one that somebody is changing, nor hold its own meanwhile: then each goes alone.
var (
	acceptFirstTogether   = numbered("accept_first", passingOver(acceptFirstSQL))
	acceptResultsTogether = numbered("accept_results", passingOver(acceptResultsSQL))
)

// passingOver returns the statement so that it passes over leases which are locked, as
// if they were gone.
func passingOver(text string) string {
	const waits = "ORDER BY attempt_id, part FOR UPDATE"
	if strings.Count(text, waits) != 1 {
		panic("a statement that accepts results doesn't lock its leases as it should") // a broken program
	}
	return strings.Replace(text, waits, waits+" SKIP LOCKED", 1)
}

// The bounds of submissions that go together. One of them may be larger by itself.
const (
	linesTogether = 1000
	bytesTogether = 4 << 20 // of results, as stored
)

// acceptKey names those whose submissions may go together.
type acceptKey struct {
	memoryKey

	claimedBy string
}

// acceptance is a submission that is stored as a whole if every line of it is good.
type acceptance struct {
	submission queue.Submission
	lines      []queue.Line
	attempts   []pgtype.UUID
	bytes      int
	whole      bool // it was stored
	apart      bool // it is to go alone
	err        error
}

// acceptWhole stores all lines if every one of them is good, else nothing, in
// one round trip, which other submissions share.
func (s *Store) acceptWhole(ctx context.Context, organismID int32, r queue.Submission, lines []queue.Line) (whole bool, err error) {
	a := &acceptance{submission: r, lines: lines, attempts: attemptsOf(lines), err: errLeftBehind}
	for i := range lines {
		a.bytes += len(lines[i].Packed.Bytes)
	}
	key := acceptKey{memoryKey{organismID, r.PipelineVersion}, r.ClaimedBy}
	if err := s.acceptances.do(ctx, key, a); err != nil {
		return false, err
	}
	if a.apart {
		s.acceptTogether(ctx, key, []*acceptance{a})
	}
	return a.whole, a.err
}

// fitsAcceptances says whether a submission may go with others. Two that name one
// attempt may be the same one twice, of which the second is to find the results of
// the first.
func fitsAcceptances(together []*acceptance, next *acceptance) bool {
	lines, bytes := len(next.lines), next.bytes
	for _, a := range together {
		lines, bytes = lines+len(a.lines), bytes+a.bytes
	}
	return lines <= linesTogether && bytes <= bytesTogether && !slices.ContainsFunc(together, func(a *acceptance) bool {
		return slices.ContainsFunc(next.attempts, func(attempt pgtype.UUID) bool { return slices.Contains(a.attempts, attempt) })
	})
}

// acceptTogether stores submissions in one statement. If that stores nothing, for a
// line that isn't good, a lease that somebody else is changing, or since the server
// refuses it, each goes alone, on its own goroutine: what is wrong with one of them is
// no fault of the others.
func (s *Store) acceptTogether(ctx context.Context, key acceptKey, together []*acceptance) {
	whole, err := s.acceptAll(ctx, key, together)
	if len(together) > 1 && (err == nil && !whole || isRefused(err)) {
		if isConflict(err) {
			s.repetitions.Add(1)
		}
		for _, a := range together {
			a.apart = true
		}
		return
	}
	for _, a := range together {
		a.whole, a.err = whole, err
	}
}

// acceptAll stores all lines of all submissions, or nothing. Nearly always none of the
// entries has a result yet, which costs less to store; that one has one shows as a
// violation of its key, and then it is likely of what comes next, too.
func (s *Store) acceptAll(ctx context.Context, key acceptKey, together []*acceptance) (whole bool, err error) {
	lines, attempts, first, results := together[0].lines, together[0].attempts, acceptFirstStatement, acceptResultsStatement
	if len(together) > 1 {
		first, results = acceptFirstTogether, acceptResultsTogether
		lines, attempts = slices.Clone(lines), slices.Clone(attempts)
		for _, a := range together[1:] {
			lines, attempts = append(lines, a.lines...), append(attempts, a.attempts...)
		}
	}
	arguments := acceptArguments(key.organism, together[0].submission, lines, attempts)
	if !s.remembered(key.organism, key.version).replacing() {
		answer, err := s.accept(ctx, first, arguments)
		if !isResultThere(err) {
			return err == nil && answer.lines == len(lines), err
		}
	}
	arguments["whole"] = true
	answer, err := s.accept(ctx, results, arguments)
	if err == nil && answer.replaced > 0 {
		s.memory(key.organism, key.version).replaced()
	}
	return err == nil && answer.lines == len(lines), err
}
