package postgres

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"hash/crc32"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

//go:embed sql/accept_results.sql
var acceptResultsSQL string

//go:embed sql/accept_settings.sql
var acceptSettingsSQL string

var acceptResultsStatement = numbered("accept_results", acceptResultsSQL)

// linesAtOnce is how many lines go into a statement, which bounds the memory that
// its arguments take.
const linesAtOnce = 10_000

// AcceptResults stores results of entries that the attempts hold, or nothing
// (L3, L5, L6, L10), as [queue.Store] says. In the usual case it is one
// statement, whatever the number of lines and attempts.
func (s *Store) AcceptResults(ctx context.Context, r queue.Submission) (queue.Accepted, error) {
	o, err := s.organism(ctx, r.Organism)
	if err != nil {
		return queue.Accepted{}, err
	}
	lines, duplicates := splitDuplicates(r.Lines)
	refused := append(slices.Clone(r.Invalid), duplicates...)
	if len(lines) == 0 && len(refused) == 0 {
		return queue.Accepted{}, nil
	}
	var more []seqlease.Refusal
	// A repetition is harmless (L6), so a lost answer is asked for again.
	err = s.repeat(ctx, func() error {
		more = nil
		if len(lines) <= linesAtOnce && (len(refused) == 0 || r.Skip && len(lines) > 0) {
			whole, err := s.acceptWhole(ctx, o.id, r, lines)
			if whole || err != nil {
				return err
			}
		}
		more, err = s.acceptLines(ctx, o.id, r, lines, len(refused) == 0)
		return err
	})
	if err != nil {
		return queue.Accepted{}, err
	}
	if refused = append(refused, more...); len(refused) == 0 {
		return queue.Accepted{Stored: len(lines)}, nil
	}
	slices.SortStableFunc(refused, func(a, b seqlease.Refusal) int { return a.Line - b.Line })
	s.noteRefusals(ctx, o.id, r, refused)
	if !r.Skip {
		return queue.Accepted{}, &seqlease.RefusedError{Refused: refused}
	}
	return queue.Accepted{Stored: len(lines) - len(more), Refused: refused}, nil
}

// splitDuplicates refuses every further line for an entry.
func splitDuplicates(all []queue.Line) (lines []queue.Line, duplicates []seqlease.Refusal) {
	first := make(map[seqlease.AccessionVersion]int, len(all))
	for i, line := range all {
		if number, twice := first[line.AccessionVersion]; twice {
			if len(duplicates) == 0 {
				lines = slices.Clone(all[:i]) // all is the caller's
			}
			duplicates = append(duplicates, queue.RefuseDuplicate(line.AccessionVersion, line.Number, number))
			continue
		}
		first[line.AccessionVersion] = line.Number
		if len(duplicates) > 0 {
			lines = append(lines, line)
		}
	}
	if len(duplicates) == 0 {
		return all, nil
	}
	return lines, duplicates
}

// isResultThere says that a result was to be stored for an entry that has one.
func isResultThere(err error) bool {
	const uniqueViolation = "23505"
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == uniqueViolation && refused.ConstraintName == "result_pkey"
}

// acceptAnswer is the row that the statements answer.
type acceptAnswer struct {
	lines    int     // good ones
	good     []int64 // which, counted from 1; nil: all
	replaced int     // results
}

func (s *Store) accept(ctx context.Context, st statement, arguments pgx.StrictNamedArgs) (answer acceptAnswer, err error) {
	err = s.with(ctx, func(c *pgxpool.Conn) error {
		return st.run(ctx, c, acceptSettingsSQL, arguments, func(rows pgx.Rows) (err error) {
			answer, err = readAnswer(rows)
			return err
		})
	})
	return answer, err
}

// errNotStored undoes a transaction whose answer is known.
var errNotStored = errors.New("not stored")

// acceptLines names every refused line, and stores the good ones: with Skip in any
// case, else only if none is refused and nothing was before (pure).
func (s *Store) acceptLines(ctx context.Context, organismID int32, r queue.Submission, lines []queue.Line, pure bool) (refused []seqlease.Refusal, err error) {
	attempts := attemptsOf(lines)
	err = s.change(ctx, func(tx pgx.Tx) error {
		refused = nil
		for some := range slices.Chunk(lines, linesAtOnce) {
			more, err := acceptSome(ctx, tx, organismID, r, some, attempts)
			if err != nil {
				return err
			}
			refused = append(refused, more...)
		}
		if !r.Skip && (len(refused) > 0 || !pure) {
			return errNotStored
		}
		return nil
	})
	if errors.Is(err, errNotStored) {
		err = nil
	}
	return refused, err
}

// acceptSome stores what is good of some lines of a submission, and returns the
// others. The leases of all its attempts are locked, so that every submission locks
// them in the same order.
func acceptSome(ctx context.Context, tx pgx.Tx, organismID int32, r queue.Submission, lines []queue.Line, attempts []pgtype.UUID) ([]seqlease.Refusal, error) {
	arguments := acceptArguments(organismID, r, lines, attempts)
	arguments["whole"] = false
	values, err := acceptResultsStatement.values(arguments)
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, acceptResultsStatement.text, values...)
	if err != nil {
		return nil, err
	}
	answer, err := readAnswer(rows)
	if err != nil || answer.lines == len(lines) {
		return nil, err
	}
	// The statement after has a fresh snapshot: of two equal submissions at once it
	// sees the results of the one that came first.
	return explainMissing(ctx, tx, r, without(lines, answer.good))
}

// readAnswer reads the one row.
func readAnswer(rows pgx.Rows) (a acceptAnswer, err error) {
	defer rows.Close()
	if !rows.Next() {
		return a, cmp.Or(rows.Err(), errors.New("results were answered without a row"))
	}
	if err := rows.Scan(&a.lines, &a.good, &a.replaced); err != nil {
		return a, err
	}
	rows.Close()
	return a, rows.Err()
}

// without returns the lines that are not in good.
func without(lines []queue.Line, good []int64) []queue.Line {
	isGood := make([]bool, len(lines))
	for _, n := range good {
		isGood[n-1] = true
	}
	var missing []queue.Line
	for i, line := range lines {
		if !isGood[i] {
			missing = append(missing, line)
		}
	}
	return missing
}

// attemptsOf lists the attempts of the lines once each.
func attemptsOf(lines []queue.Line) []pgtype.UUID {
	distinct := map[seqlease.AttemptID]bool{}
	var list []pgtype.UUID
	for _, line := range lines {
		if !distinct[line.AttemptID] {
			distinct[line.AttemptID] = true
			list = append(list, uuid(line.AttemptID))
		}
	}
	return list
}

// acceptArguments are those of the statements, but for "whole", which only one of them
// has. What is the same for all lines is given once, beside an empty list.
func acceptArguments(organismID int32, r queue.Submission, lines []queue.Line, attemptIDs []pgtype.UUID) pgx.StrictNamedArgs {
	accessions, digests, bodies := make([]string, len(lines)), make([][]byte, len(lines)), make([][]byte, len(lines))
	for i := range lines {
		accessions[i], digests[i], bodies[i] = string(lines[i].Accession), lines[i].Digest[:], lines[i].Packed.Bytes
	}
	_, attempts := alike(lines, func(l *queue.Line) pgtype.UUID { return uuid(l.AttemptID) })
	version, versions := alike(lines, func(l *queue.Line) int64 { return int64(l.Version) })
	outcome, outcomes := alike(lines, func(l *queue.Line) int16 { return outcomeOf(l.Result) })
	dictionary, dictionaries := alike(lines, func(l *queue.Line) int64 { return l.Packed.Dictionary })
	return pgx.StrictNamedArgs{
		"organism": organismID, "version": int64(r.PipelineVersion), "claimed_by": r.ClaimedBy, "claimed_by_sum": nameSum(r.ClaimedBy),
		"attempt_ids": attemptIDs, "attempts": attempts, "accessions": accessions,
		"entry_version": version, "versions": versions, "outcome": outcome, "outcomes": outcomes, "digests": digests,
		"dictionary": dictionary, "dictionaries": dictionaries, "bodies": bodies,
	}
}

// alike returns the values of the lines, or the first and an empty list if all are
// the same.
func alike[T comparable](lines []queue.Line, of func(*queue.Line) T) (first T, list []T) {
	first = of(&lines[0])
	for i := range lines {
		if of(&lines[i]) == first {
			continue
		}
		list = make([]T, len(lines))
		for i := range lines {
			list[i] = of(&lines[i])
		}
		return first, list
	}
	return first, []T{}
}

// lineKeys are the columns that say what a line is about and what is in it.
func lineKeys(lines []queue.Line) (attempts []pgtype.UUID, accessions []string, versions []int64, digests [][]byte) {
	n := len(lines)
	attempts, accessions, versions, digests = make([]pgtype.UUID, n), make([]string, n), make([]int64, n), make([][]byte, n)
	for i := range lines {
		attempts[i], accessions[i], versions[i] = uuid(lines[i].AttemptID), string(lines[i].Accession), int64(lines[i].Version)
		digests[i] = lines[i].Digest[:]
	}
	return attempts, accessions, versions, digests
}

// outcomeOf is how a judgement is stored.
func outcomeOf(r seqlease.ProcessingResult) int16 {
	return int16(slices.Index(seqlease.ProcessingResults(), r))
}

// nameSum recognises the user that a stored result came from.
func nameSum(user string) int32 {
	return int32(crc32.ChecksumIEEE([]byte(user)))
}
