package sqlite

import (
	"context"
	"fmt"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// operatorCall is one transaction of a call that has a row in the audit log.
type operatorCall struct {
	action seqlease.Action
	note   *queue.OperatorNote // nil: it has none
	number int64               // of the row, as this transaction leaves it
}

// count notes entries that the transaction changes. It is called at most once in
// each try.
func (c *operatorCall) count(ctx context.Context, t *tx, organismID int64, entries int) (err error) {
	if c.note == nil {
		return nil
	}
	c.number = c.note.Number
	if c.number != 0 {
		_, err = t.exec(ctx, "count_operator", named("number", c.number, "entries", int64(entries))...)
	} else {
		err = t.row(ctx, "note_operator", named("user", c.note.By, "action", string(c.action), "organism_id", organismID,
			"entries", int64(entries), "detail", c.note.Detail), &c.number)
	}
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	return nil
}

// committed lets the next transaction of the call add to the row, once n entries
// were changed by this one.
func (c *operatorCall) committed(n int) {
	if c.note != nil && n > 0 {
		c.note.Number = c.number
	}
}
