package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

// prepareReads prepares the statements of sql/ that only read, by their names.
// They are prepared when the store is opened: later, readers might hold every
// connection of the pool, and preparing takes one more.
func prepareReads(ctx context.Context, db *sql.DB) (map[string]*sql.Stmt, error) {
	texts, err := statementTexts()
	if err != nil {
		return nil, err
	}
	statements := make(map[string]*sql.Stmt, len(texts))
	for name, text := range texts {
		if !onlyReads(text) {
			continue
		}
		if statements[name], err = db.PrepareContext(ctx, text); err != nil { //nolint:sqlclosecheck // kept as long as the store
			return nil, fmt.Errorf("prepare %s: %w", name, err)
		}
	}
	return statements, nil
}

// onlyReads says whether a statement leaves everything as it is. Those of sql/
// that write name the verb at the start of a line.
func onlyReads(text string) bool {
	for line := range strings.Lines(text) {
		if verb, _, _ := strings.Cut(strings.TrimSpace(line), " "); verb == "INSERT" || verb == "UPDATE" || verb == "DELETE" {
			return false
		}
	}
	return true
}

// kept are the statements of one connection, prepared when they are first
// needed: there are many, and those for a thousand rows take long. One goroutine
// at a time may use it.
type kept struct {
	conn     *sql.Conn
	texts    map[string]string
	writes   map[string]bool // those that change something
	prepared map[string]*sql.Stmt
}

func newKept(conn *sql.Conn, texts map[string]string) *kept {
	k := &kept{conn: conn, texts: texts, writes: make(map[string]bool, len(texts)), prepared: map[string]*sql.Stmt{}}
	for name, text := range texts {
		k.writes[name] = !onlyReads(text)
	}
	return k
}

func (k *kept) get(ctx context.Context, name string) (*sql.Stmt, error) {
	if statement := k.prepared[name]; statement != nil {
		return statement, nil
	}
	text, known := k.texts[name]
	if !known {
		return nil, fmt.Errorf("there is no statement %s", name)
	}
	statement, err := k.conn.PrepareContext(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("prepare %s: %w", name, err)
	}
	k.prepared[name] = statement
	return statement, nil
}

func (k *kept) close() error {
	var errs []error
	for _, statement := range k.prepared {
		errs = append(errs, statement.Close())
	}
	return errors.Join(errs...)
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
	statement func(ctx context.Context, name string) (*sql.Stmt, error)
	// changed, if set, is told of each statement that has changed or returned a row.
	changed func(name string)
}

func (t *tx) noteChange(name string) {
	if t.changed != nil {
		t.changed(name)
	}
}

// exec runs a statement and returns how many rows it changed.
func (t *tx) exec(ctx context.Context, name string, args ...any) (int64, error) {
	statement, err := t.statement(ctx, name) //nolint:sqlclosecheck // kept as long as the store
	if err != nil {
		return 0, err
	}
	result, err := statement.ExecContext(ctx, args...)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	n, err := result.RowsAffected()
	if n > 0 || err != nil {
		t.noteChange(name)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return n, nil
}

// execRows runs a statement that takes rows for n of them; appendRow appends the
// values of the i-th. It returns how many rows it changed.
func (t *tx) execRows(ctx context.Context, name string, n int, appendRow func(values []any, i int) []any, args ...any) (int64, error) {
	var changed int64
	err := inRuns(name, n, appendRow, args, func(variant string, values []any) error {
		c, err := t.exec(ctx, variant, values...)
		changed += c
		return err
	})
	return changed, err
}

// returnRows is execRows for a statement that returns rows; it calls each for
// every one.
func (t *tx) returnRows(ctx context.Context, name string, n int, appendRow func(values []any, i int) []any,
	each func(scan func(into ...any) error) error, args ...any,
) error {
	return inRuns(name, n, appendRow, args, func(variant string, values []any) error {
		return t.rows(ctx, variant, values, each)
	})
}

// inRuns calls run with the name of the statement that takes so many rows, and with
// their values.
func inRuns(name string, n int, appendRow func(values []any, i int) []any, args []any, run func(variant string, values []any) error) error {
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
		if err := run(variantName(name, room), append(values, args...)); err != nil {
			return err
		}
		done += rows
	}
	return nil
}

// roomFor returns the least of the row counts that takes so many rows.
func roomFor(rows int) int {
	i, _ := slices.BinarySearch(rowCounts, rows)
	return rowCounts[i]
}

// row reads the only row of a statement, or [sql.ErrNoRows].
func (t *tx) row(ctx context.Context, name string, args []any, into ...any) error {
	statement, err := t.statement(ctx, name) //nolint:sqlclosecheck // kept as long as the store
	if err != nil {
		return err
	}
	err = statement.QueryRowContext(ctx, args...).Scan(into...)
	if !errors.Is(err, sql.ErrNoRows) {
		t.noteChange(name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// rows calls each for every row of a statement; scan reads the row's columns.
func (t *tx) rows(ctx context.Context, name string, args []any, each func(scan func(into ...any) error) error) error {
	statement, err := t.statement(ctx, name) //nolint:sqlclosecheck // kept as long as the store
	if err != nil {
		return err
	}
	rows, err := statement.QueryContext(ctx, args...)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err reports what went wrong
	for first := true; rows.Next(); first = false {
		if first {
			t.noteChange(name)
		}
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
	return storeError(fn(&tx{statement: func(ctx context.Context, name string) (*sql.Stmt, error) {
		statement, err := s.readStatement(ctx, name)
		if err != nil {
			return nil, err
		}
		return snapshot.StmtContext(ctx, statement), nil
	}}))
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
	return &tx{statement: s.readStatement}
}

func (s *Store) readStatement(_ context.Context, name string) (*sql.Stmt, error) {
	if statement := s.reads[name]; statement != nil {
		return statement, nil
	}
	return nil, fmt.Errorf("there is no statement %s that only reads", name)
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
