package postgres_test

import (
	"testing"

	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
)

func TestModel(t *testing.T) {
	t.Parallel()
	for name, retry := range map[string]queue.Retry{"default": queue.DefaultRetry, "tight": {Attempts: 3, HandOuts: 3}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness("", postgres.Options{Retry: retry}).forSuite()
			h.Retry = retry
			storetest.RunModel(t, h)
		})
	}
}

func TestModel_V5_Switch(t *testing.T) {
	t.Parallel()
	storetest.RunSwitchModel(t, newHarness("", postgres.Options{}).forSuite())
}
