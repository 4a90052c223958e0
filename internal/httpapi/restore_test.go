package httpapi_test

import (
	"log/slog"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/sqlite"
)

// openSQLiteAt is for doorOptions.open.
func openSQLiteAt(path string) func(*testing.T, *queue.Bell) (database, string) {
	return func(t *testing.T, bell *queue.Bell) (database, string) {
		t.Helper()
		s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, Logger: slog.New(slog.DiscardHandler), Bell: bell})
		if err != nil {
			t.Fatal(err)
		}
		return s, "file:" + path
	}
}

// TestClaim_L14_B050_ATagFromBeforeARestore has a database that goes back to its
// backup: as much happens after the backup as did before the restore, but other
// things. The tag of what is gone hides neither work nor that nothing is there.
func TestClaim_L14_B050_ATagFromBeforeARestore(t *testing.T) {
	t.Parallel()
	backup := filepath.Join(t.TempDir(), "backup.db")
	d := newDoor(t, doorOptions{})
	group := d.newGroup(t, anna)
	d.submit(t, group, 1, 20)
	d.execSQLite(t, "VACUUM INTO ?", backup)
	poll := func(d *door, header ...string) answer { return <-d.waiting(t, waitForm(5, 0), header...) }
	d.submit(t, group, 3, 20)
	held := len(d.claim(t, pipe, 10))
	gone := poll(d).want(t, 200).Header.Get("ETag")
	if a := poll(d, "If-None-Match", gone); a.StatusCode != http.StatusNotModified || held != 4 {
		t.Fatalf("status %d with the tag of the same state, want 304; %d entries are held", a.StatusCode, held)
	}

	d = newDoor(t, doorOptions{open: openSQLiteAt(backup)})
	if got := entriesOf(t, poll(d, "If-None-Match", gone).want(t, 200).body); len(got) != 1 {
		t.Errorf("%d entries came after the restore, want the one of the backup", len(got))
	}
	d.submit(t, group, 2, 20)
	if got := entriesOf(t, poll(d, "If-None-Match", gone).want(t, 200).body); len(got) != 2 {
		t.Errorf("%d of 2 entries came that were submitted after the restore", len(got))
	}
	a := poll(d, "If-None-Match", gone)
	if tag := a.Header.Get("ETag"); a.StatusCode != http.StatusOK || tag == gone || tag == "" {
		t.Errorf("status %d and the tag %q for a state that never was, want 200 and another than %q", a.StatusCode, tag, gone)
	}
}
