package postgres

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

//go:embed sql/note_operator.sql
var noteOperatorSQL string

// operatorCall is one transaction of a call that has a row in the audit log.
type operatorCall struct {
	action seqlease.Action
	note   *queue.OperatorNote // nil: it has none
	number int64               // of the row, as this transaction leaves it
}

// begin comes at the start of each try.
func (c *operatorCall) begin() {
	if c.note != nil {
		c.number = c.note.Number
	}
}

// count notes entries that the transaction changes, before it bumps counters.
func (c *operatorCall) count(ctx context.Context, tx pgx.Tx, organismID int32, entries int) error {
	if c.note == nil {
		return nil
	}
	err := tx.QueryRow(ctx, noteOperatorSQL, pgx.StrictNamedArgs{
		"number": c.number, "user": c.note.By, "action": string(c.action), "organism": organismID, "entries": entries, "detail": c.note.Detail,
	}).Scan(&c.number)
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	return nil
}

// committed lets the next transaction of the call add to the row.
func (c *operatorCall) committed() {
	if c.note != nil {
		c.note.Number = c.number
	}
}
