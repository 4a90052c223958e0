package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

// preparer is a connection or a pool of them.
type preparer interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// prepare prepares every statement of sql/ by its name, so that a faulty one
// shows when the store is opened.
func prepare(ctx context.Context, p preparer) (map[string]*sql.Stmt, error) {
	texts, err := statementTexts()
	if err != nil {
		return nil, err
	}
	statements := make(map[string]*sql.Stmt, len(texts))
	for name, text := range texts {
		if statements[name], err = p.PrepareContext(ctx, text); err != nil { //nolint:sqlclosecheck // kept as long as the store
			return nil, fmt.Errorf("prepare %s: %w", name, err)
		}
	}
	return statements, nil
}

// Statements that take rows are prepared for these numbers of rows. Any other
// number is filled up to the next with rows of NULLs, which the statements leave
// out: so up to the last it is one run, and beyond it one run for each so many.
// (Taking rows out of a JSON text costs ten times as much.)
var rowCounts = []int{1, 10, 30, 100, 300, 1000}

const rowsMarker = "VALUES @rows"

// rowVariants returns a statement that takes rows once for each row count, with
// the columns that its first line names; any other statement as it is.
func rowVariants(name, text string) map[string]string {
	before, after, found := strings.Cut(text, rowsMarker)
	if !found {
		return map[string]string{name: text}
	}
	columns := strings.Count(before[strings.LastIndex(before, "WITH r ("):], ",") + 1
	row := "(" + strings.Repeat("?, ", columns-1) + "?)"
	variants := make(map[string]string, len(rowCounts))
	for _, n := range rowCounts {
		variants[variantName(name, n)] = before + "VALUES " + strings.Repeat(row+", ", n-1) + row + after
	}
	return variants
}

func variantName(name string, rows int) string { return name + " of " + strconv.Itoa(rows) }

// statementTexts returns the statements by name. The driver keeps a statement
// prepared only if nothing follows it, not even a line end.
func statementTexts() (map[string]string, error) {
	files, err := sqlFiles.ReadDir("sql")
	if err != nil {
		return nil, err
	}
	texts := make(map[string]string, len(files))
	for _, f := range files {
		text, err := sqlFiles.ReadFile("sql/" + f.Name())
		if err != nil {
			return nil, err
		}
		maps.Copy(texts, rowVariants(strings.TrimSuffix(f.Name(), ".sql"), strings.TrimSpace(string(text))))
	}
	return texts, nil
}

// tx is a transaction: the statements by name, inside it.
type tx struct {
	statement func(name string) *sql.Stmt
}

// exec runs a statement and returns how many rows it changed.
func (t *tx) exec(ctx context.Context, name string, args ...any) (int64, error) {
	result, err := t.statement(name).ExecContext(ctx, args...) //nolint:sqlclosecheck // kept as long as the store
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	n, err := result.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return n, nil
}

// execRows runs a statement that takes rows for n of them; appendRow appends the
// values of the i-th. It returns how many rows it changed.
func (t *tx) execRows(ctx context.Context, name string, n int, appendRow func(values []any, i int) []any, args ...any) (int64, error) {
	var changed int64
	var values []any
	for done := 0; done < n; {
		rows := min(n-done, rowCounts[len(rowCounts)-1])
		values = values[:0]
		for i := range rows {
			values = appendRow(values, done+i)
		}
		room := roomFor(rows)
		values = append(values, make([]any, len(values)/rows*(room-rows))...)
		// The rows' values are numbered from 1, since they come first in the text.
		c, err := t.exec(ctx, variantName(name, room), append(values, args...)...)
		if err != nil {
			return 0, err
		}
		changed += c
		done += rows
	}
	return changed, nil
}

// roomFor returns the least of the row counts that takes so many rows.
func roomFor(rows int) int {
	i, _ := slices.BinarySearch(rowCounts, rows)
	return rowCounts[i]
}

// row reads the only row of a statement, or [sql.ErrNoRows].
func (t *tx) row(ctx context.Context, name string, args []any, into ...any) error {
	if err := t.statement(name).QueryRowContext(ctx, args...).Scan(into...); err != nil { //nolint:sqlclosecheck // kept as long as the store
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// rows calls each for every row of a statement; scan reads the row's columns.
func (t *tx) rows(ctx context.Context, name string, args []any, each func(scan func(into ...any) error) error) error {
	rows, err := t.statement(name).QueryContext(ctx, args...) //nolint:sqlclosecheck // kept as long as the store
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err reports what went wrong
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// read runs fn in a read transaction: everything in it is of one snapshot.
func (s *Store) read(ctx context.Context, fn func(t *tx) error) error {
	snapshot, err := s.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return storeError(err)
	}
	defer snapshot.Rollback() //nolint:errcheck // nothing was written
	return storeError(fn(&tx{statement: func(name string) *sql.Stmt { return snapshot.StmtContext(ctx, s.reads[name]) }}))
}

// readLong is read for what lasts as long as there is data.
func (s *Store) readLong(ctx context.Context, fn func(t *tx) error) error {
	if err := s.long.Acquire(ctx, 1); err != nil {
		return err
	}
	defer s.long.Release(1)
	return s.read(ctx, fn)
}

// readOnce is for a single statement, which is a snapshot by itself.
func (s *Store) readOnce() *tx {
	return &tx{statement: func(name string) *sql.Stmt { return s.reads[name] }}
}

// Now returns the instant of the database's clock (L11), in UTC.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	var now int64
	if err := s.readOnce().row(ctx, "now", nil, &now); err != nil {
		return time.Time{}, storeError(err)
	}
	return instant(now), nil
}

// instant is the time of stored microseconds.
func instant(microseconds int64) time.Time { return time.UnixMicro(microseconds).UTC() }

// named makes named arguments of names and values in turn.
func named(pairs ...any) []any {
	args := make([]any, 0, len(pairs)/2)
	for rest := pairs; len(rest) >= 2; rest = rest[2:] {
		args = append(args, sql.Named(rest[0].(string), rest[1]))
	}
	return args
}
