package postgres_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
)

// A database of the first schema keeps what waits and what is held: tickets in
// the lanes of their attempts and in turns of their groups, leases as they are.
func TestMigrate_TicketsAndLeasesOfTheFirstSchemaAreKept(t *testing.T) {
	t.Parallel()
	h := newHarness("", postgres.Options{})
	s := h.open(t)
	first := register(t, s)
	second, err := s.CreateGroup(t.Context(), seqlease.NewGroup{GroupName: "Other"}, "bert")
	if err != nil {
		t.Fatal(err)
	}
	submitN(t, s, first.GroupID, 20)
	submitN(t, s, second.GroupID, 5)
	lease, err := s.Claim(t.Context(), askFor(4))
	if err != nil {
		t.Fatal(err)
	}
	address := h.databaseOf(s).address
	if err := postgres.MigrateTo(t.Context(), address, 1); err != nil {
		t.Fatalf("back to the first schema: %v", err)
	}
	c := connect(t, address)
	run(t, c, "UPDATE ticket SET attempts = 1, hand_outs = 1 WHERE entry_id = (SELECT max(entry_id) FROM ticket)",
		"UPDATE ticket SET attempts = 5, hand_outs = 6 WHERE entry_id = (SELECT max(entry_id) - 1 FROM ticket)",
		"UPDATE lease SET attempts = '{9,1,2,5}', hand_outs = '{70,1,2,5}'")
	if err := postgres.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	var lanes []int64
	if err := c.QueryRow(t.Context(), `SELECT array_agg((SELECT count(*) FROM ticket WHERE lane = l) ORDER BY l)
		FROM generate_series(0, 4) AS l`).Scan(&lanes); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{19, 0, 1, 1, 0}, lanes); diff != "" {
		t.Errorf("tickets by lane (-want +got):\n%s", diff)
	}
	// L9: what was never tried alone isn't spent.
	for query, want := range map[string]string{
		"SELECT attempts || '/' || hand_outs FROM ticket WHERE lane = 3":            "4/5",
		"SELECT attempts::text || hand_outs::text FROM lease":                       "{4,1,2,4}{53,1,2,4}",
		"SELECT attempts::text || cardinality(entry_ids) FROM claim_record LIMIT 1": "{9,1,2,5}4",
	} {
		var got string
		if err := c.QueryRow(t.Context(), query).Scan(&got); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", query, got, err, want)
		}
	}
	u := h.join(t, &database{address: address})
	if err := u.Register(t.Context(), storetest.Organisms()); err != nil {
		t.Fatal(err)
	}
	if next, err := u.Claim(t.Context(), askFor(2)); err != nil || len(next.Entries) != 2 || next.Entries[0].GroupID == next.Entries[1].GroupID {
		t.Errorf("claimed %v, %v, want one entry of each group", names(next), err)
	}
	if _, err := u.AcceptResults(t.Context(), packedAnswer(u, lease)); err != nil {
		t.Errorf("results of the lease from before: %v", err)
	}
	history, err := u.History(t.Context(), storetest.WestNile, lease.Entries[0].AccessionVersion, 10)
	if err != nil || len(history.Claims) != 1 || history.Claims[0].AttemptID != lease.AttemptID || history.Claims[0].Accepted == nil {
		t.Errorf("history: %+v, %v, want the claim from before", history, err)
	}
}

// L9: bounds that make no sense are refused at the start.
func TestOpen_L9_RetryIsChecked(t *testing.T) {
	t.Parallel()
	_, err := postgres.Open(t.Context(), postgres.Options{Address: newDatabase(t), Retry: queue.Retry{Attempts: 1, HandOuts: 50}})
	if err == nil || errors.Is(err, seqlease.ErrBusy) {
		t.Errorf("opened with one attempt: %v", err)
	}
}
