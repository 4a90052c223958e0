package sqlite

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease/internal/storetest"
)

// What is done to groups, members and terms is in the audit log, and nothing else.
func TestAudit_GroupsAndTerms(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	want := storetest.ChangeGroupsAndTerms(t, s)
	rows, err := outsider(t, s).QueryContext(t.Context(), `
		SELECT a.user_name || '|' || a.action || '|' || coalesce(a.group_id, 0) || '|' || coalesce(o.key, '') || '|' || a.entries || '|' || a.detail
		FROM audit AS a LEFT JOIN organism AS o ON o.id = a.organism_id
		WHERE a.action IN (SELECT value FROM json_each(?)) ORDER BY a.number`, jsonTexts(storetest.GroupAndTermsActions))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var got []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		got = append(got, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("audit log (-got +want):\n%s", diff)
	}
}
