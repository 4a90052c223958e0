package storetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/reprocess"
	"github.com/seqlease/seqlease/internal/submission"
)

// Store is everything that a store implements.
type Store interface {
	queue.Store
	submission.Store
	reprocess.Store
	// Register makes organisms known, with their dictionaries and pipeline
	// version 1. It is idempotent and safe beside running servers.
	Register(ctx context.Context, organisms []*organism.Organism) error
	// Ready says whether the database answers and its schema is current.
	Ready(ctx context.Context) error
	// Close gives up connections and files.
	Close() error
}

// SecondStore is the capability that several stores share one database, as
// servers do.
const SecondStore = "second store"

// WriteWhileReading is the capability that others write while a caller of List or
// ReadReleased still reads its snapshot.
const WriteWhileReading = "write while reading"

// DamageEntries is the capability that the harness can damage what is stored.
const DamageEntries = "damage entries"

// LoseTickets is the capability that the harness can remove what waits or is
// held behind the store's back.
const LoseTickets = "lose tickets"

// Large is the capability that the harness takes cases with very much data: where the
// suite runs in several ways, one of them is enough, but for a longer run.
const Large = "large cases"

// Harness is what the suite needs to know about a store.
type Harness struct {
	// New returns a fresh, migrated, empty store that the test's clean-up closes.
	New func(t *testing.T) Store
	// Second returns another server's store on the database of s; nil if
	// [SecondStore] is in Lacks.
	Second func(t *testing.T, s Store) Store
	// Age shifts every stored time back by d, as if d had passed, and makes every
	// store on that database forget what it keeps in memory about the past.
	Age func(t *testing.T, s Store, d time.Duration)
	// Damage spoils the stored document of an entry, behind the store's back; nil
	// if [DamageEntries] is in Lacks.
	Damage func(t *testing.T, s Store, av seqlease.AccessionVersion)
	// Lose deletes every ticket of an entry, and whole leases that hold it, behind
	// the store's back; there may be none. It is nil if [LoseTickets] is in Lacks.
	Lose func(t *testing.T, s Store, av seqlease.AccessionVersion)
	// Switch makes a registered version of the organism the current one, behind the
	// store's back.
	Switch func(t *testing.T, s Store, o seqlease.Organism, version seqlease.PipelineVersion)
	// Retry is what the stores were opened with; zero: [queue.DefaultRetry].
	Retry queue.Retry
	// Lacks names the capabilities that the store doesn't have, each with the
	// reason. Their cases are skipped with it.
	Lacks map[string]string
}

// testCase checks one rule. Its name begins with the rule's number, if it has one.
type testCase struct {
	name  string
	needs string // capability, if any
	check func(t *testing.T, h Harness)
}

// Run runs every case as a parallel subtest.
func Run(t *testing.T, h Harness) {
	for _, c := range slices.Concat(
		registerCases(), registerNewerCases(), backfillCases(), switchCases(), retireCases(), groupCases(), memberCases(), submitCases(),
		reviseCases(), uploadKeyCases(),
		claimCases(), leaseCases(), markCases(),
		acceptCases(), repeatCases(), giveBackCases(),
		skipCases(), giveBackUserCases(), renewCases(), suspectCases(),
		quarantineCases(), quarantineResultCases(), keeperCases(), reconcileCases(),
		operatorCases(), operatorQuarantineCases(), selectionCases(), reprocessCases(),
		pauseCases(), historyCases(), journeyCases(), auditCases(), adminCases(), deleteAllCases(), stirredCases(), fairCases(), fairTurnCases(),
		editCases(), deleteCases(), deleteFilterCases(), approveCases(), approveFilterCases(),
		standingCases(), revokeCases(), dataToEditCases(),
		externalCases(), tokenCases(),
		listCases(), submittedCases(), releaseCases(), termsCases(), textCases(), wordCases(), largeCases(),
	) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if reason, lacking := h.Lacks[c.needs]; c.needs != "" && lacking {
				t.Skipf("the store lacks %s: %s", c.needs, reason)
			}
			c.check(t, h)
		})
	}
}
