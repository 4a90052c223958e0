package postgres_test

import (
	"testing"

	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
)

// Deadlocks may happen, but each is counted as a repetition (B029).
func TestStore_B029_CrossedChanges(t *testing.T) {
	t.Parallel()
	retry := queue.Retry{Attempts: 3, HandOuts: 3}
	h := newHarness("", postgres.Options{Retry: retry})
	suite := h.forSuite()
	suite.Retry = retry
	var first *postgres.Store
	suite.New = func(t *testing.T) storetest.Store {
		t.Helper()
		first = h.open(t)
		return first
	}
	storetest.RunCrossed(t, suite)
	var deadlocks, repetitions int64
	for _, s := range h.databaseOf(first).stores {
		repetitions += s.Repetitions()
	}
	if err := first.Pool().QueryRow(t.Context(), "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()").Scan(&deadlocks); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d deadlocks, %d repetitions", deadlocks, repetitions)
	if deadlocks > repetitions {
		t.Errorf("%d deadlocks, of which %d were repeated", deadlocks, repetitions)
	}
}
