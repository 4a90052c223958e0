package postgres_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
)

const (
	// manyListed are more than fit into the memory that the planner expects of a
	// hash table by default.
	manyListed = 100_000
	// listedTime bounds what is done with them: looked through for each place in a
	// lease, the list takes minutes.
	listedTime = 45 * time.Second
)

// stocked is a store where many entries are in processing after some of their
// results were accepted.
func stocked(t *testing.T, parameter string) (*postgres.Store, queue.Lease, []seqlease.AccessionVersion) {
	t.Helper()
	s := newHarness(parameter, postgres.Options{}).open(t)
	group := register(t, s)
	list := submitN(t, s, group.GroupID, manyListed)
	lease, err := s.Claim(t.Context(), askFor(manyListed))
	if err != nil || len(lease.Entries) != manyListed {
		t.Fatalf("claimed %d entries, %v, want %d", len(lease.Entries), err, manyListed)
	}
	part := lease
	part.Entries = lease.Entries[:1000]
	if _, err := s.AcceptResults(t.Context(), packedAnswer(s, part)); err != nil {
		t.Fatal(err)
	}
	return s, lease, list
}

// A lease is given back, or freed, by a list of all that it ever held.
func TestListed_L8_L16_ManyEntriesAreLookedUpByHash(t *testing.T) {
	t.Parallel()
	const left = manyListed - 1000
	s, lease, list := stocked(t, "")
	within(t, "give back what is listed", func(ctx context.Context) (int, error) {
		return s.GiveBack(ctx, queue.GiveBack{
			Organism: storetest.WestNile, AttemptID: lease.AttemptID, ClaimedBy: "pipeline", Entries: list,
		})
	}, left)
	if again, err := s.Claim(t.Context(), askFor(manyListed)); err != nil || len(again.Entries) != left {
		t.Fatalf("claimed %d entries again, %v, want %d", len(again.Entries), err, left)
	}
	within(t, "free what is listed", func(ctx context.Context) (int, error) {
		n, _, err := s.FreeLeases(ctx, queue.FreeLeases{Organism: storetest.WestNile, Entries: list}, 1000)
		return n, err
	}, left)
}

func within(t *testing.T, what string, f func(context.Context) (int, error), want int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), listedTime)
	defer cancel()
	start := time.Now()
	if n, err := f(ctx); err != nil || n != want {
		t.Errorf("%s: %d entries, %v after %s, want %d", what, n, err, time.Since(start), want)
	}
	t.Logf("%s: %s", what, time.Since(start).Round(time.Millisecond))
}

// However long a list is, no statement looks through all of it for each row.
func TestPlans_ListsAreHashed(t *testing.T) {
	t.Parallel()
	s, lease, list := stocked(t, "&work_mem=64kB")
	hashed := regexp.MustCompile(`hashed SubPlan (\d+)`)
	looked := regexp.MustCompile(`IN \(SELECT [a-z_, ]+ FROM (named|held)\)`)
	for name, c := range postgres.ListStatements(s, lease.AttemptID, list) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, found := explained(t, s, c), map[string]bool{}
			for _, m := range hashed.FindAllStringSubmatch(text, -1) {
				found[m[1]] = true
			}
			if want := len(looked.FindAllString(c.SQL, -1)); want == 0 || len(found) != want {
				t.Errorf("%d lists are hashed, want %d:\n%s", len(found), want, text)
			}
		})
	}
}

func explained(t *testing.T, s *postgres.Store, c postgres.ListStatement) string {
	t.Helper()
	tx, err := s.Pool().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context()) //nolint:errcheck // nothing was written
	if _, err := tx.Exec(t.Context(), postgres.PlanSettingsSQL); err != nil {
		t.Fatal(err)
	}
	rows, err := tx.Query(t.Context(), "EXPLAIN (VERBOSE) "+c.SQL, c.Arguments)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
