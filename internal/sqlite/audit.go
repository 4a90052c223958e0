package sqlite

import (
	"context"
	"fmt"

	"github.com/seqlease/seqlease"
)

// noteAction writes to the audit log in the transaction of the change; organism 0
// is none.
func noteAction(ctx context.Context, t *tx, organismID int64, n seqlease.AuditNote) error {
	list, entries := "[[null,null]]", n.Entries
	if len(n.Named) > 0 {
		list, entries = jsonEntries(n.Named), 1
	}
	_, err := t.exec(ctx, "note_action", named("user", n.User, "action", string(n.Action), "organism_id", organismID,
		"group_id", n.GroupID, "named", list, "entries", entries, "detail", n.Detail)...)
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	return nil
}
