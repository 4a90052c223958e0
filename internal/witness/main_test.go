package witness_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/pgcluster"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/witness"
)

// historyFor is how long each scenario goes on, one history after the other.
var historyFor = flag.Duration("history.for", 4*time.Second, "how long each kind of concurrent history is made and judged")

// cluster is the server of all histories.
var cluster *pgcluster.Cluster

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(func() int {
		var err error
		if directory, err = os.MkdirTemp("", "witness"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = os.RemoveAll(directory) }()
		if cluster, err = startCluster(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() {
			if err := cluster.Stop(); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}()
		return m.Run()
	}())
}

// oneHistory is how long a history may get: the search takes longer the more
// calls there are.
const oneHistory = 4 * time.Second

// patience with entries is short, so that some are quarantined.
var patience = queue.Retry{Attempts: 3, HandOuts: 6}

// wild is the scenario but for the places.
func wild(d desk, c console, fronts ...front) scenario {
	return scenario{
		fronts: fronts, desk: d, console: c, workers: 10, entries: 60, events: 6000,
		options: witness.Options{
			Current: 1, Pipelines: []seqlease.PipelineVersion{1, 2}, Timeout: time.Minute,
			Bounds: witness.Bounds{Attempts: patience.Attempts, HandOuts: patience.HandOuts},
		},
	}
}

// mostForAll is how many short histories are made to have every kind of event.
const mostForAll = 8

// repeatedly makes and judges histories, each of a fresh scenario, as long as
// the flag says, and until there was all that is wanted.
func repeatedly(t *testing.T, fresh func(t *testing.T) scenario, want ...string) {
	t.Parallel()
	start, sum := time.Now(), map[string]int{}
	missing := func() []string {
		return slices.DeleteFunc(slices.Clone(want), func(what string) bool { return sum[what] > 0 })
	}
	for n := 1; n == 1 || !t.Failed() && (time.Since(start) < *historyFor || n <= mostForAll && len(missing()) > 0); n++ {
		t.Run(fmt.Sprintf("history %d", n), func(t *testing.T) {
			s := fresh(t)
			h := perform(t, s, min(oneHistory, *historyFor))
			for what, count := range checked(t, h, s.options) {
				sum[what] += count
			}
		})
	}
	if left := missing(); len(left) > 0 && !t.Failed() {
		t.Errorf("no %q in any history", left)
	}
}
