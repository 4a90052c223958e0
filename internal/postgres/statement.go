package postgres

import (
	"context"
	"fmt"
	"regexp"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// statement is a text with named arguments whose names were replaced by numbers
// once: doing so for each call costs more than sending it.
type statement struct {
	name, text string
	order      []string // of the arguments by number
}

var argumentName = regexp.MustCompile(`@([a-z_]+)`)

// numbered prepares a text of sql/.
func numbered(name, text string) statement {
	names := pgx.NamedArgs{}
	for _, found := range argumentName.FindAllStringSubmatch(text, -1) {
		names[found[1]] = found[1]
	}
	numbered, order, err := names.RewriteQuery(context.Background(), nil, text, nil)
	if err != nil {
		panic(fmt.Sprintf("statement %s: %v", name, err)) // a broken program
	}
	s := statement{name: name, text: numbered}
	for _, argument := range order {
		s.order = append(s.order, argument.(string)) //nolint:forcetypeassert // all of names are
	}
	return s
}

// values returns the arguments in their order. As with [pgx.StrictNamedArgs] one
// that is missing or not used is an error.
func (s statement) values(arguments pgx.StrictNamedArgs) ([]any, error) {
	values := make([]any, len(s.order))
	for i, name := range s.order {
		value, given := arguments[name]
		if !given {
			return nil, fmt.Errorf("statement %s: argument %s is missing", s.name, name)
		}
		values[i] = value
	}
	if len(arguments) != len(values) {
		return nil, fmt.Errorf("statement %s: %d arguments, want %d", s.name, len(arguments), len(values))
	}
	return values, nil
}

// run is [withSettings] for a statement that was prepared.
func (s statement) run(ctx context.Context, c *pgxpool.Conn, settings string, arguments pgx.StrictNamedArgs, read func(pgx.Rows) error) error {
	values, err := s.values(arguments)
	if err != nil {
		return err
	}
	return inOneTrip(ctx, c, settings, s.text, values, read)
}
