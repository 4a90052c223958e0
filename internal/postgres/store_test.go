package postgres_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/pgcluster"
	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

// cluster is the server of all tests of this package; each test has a database
// of its own on it.
var cluster *pgcluster.Cluster

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if cluster, err = pgcluster.Start(context.Background(), pgcluster.Options{}); err != nil {
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

// harness makes stores whose address has the parameter appended.
type harness struct {
	parameter string
	options   postgres.Options

	mu     sync.Mutex
	shared map[storetest.Store]*database
}

// database is one that several stores may share.
type database struct {
	address string
	stores  []*postgres.Store
}

func newHarness(parameter string, o postgres.Options) *harness {
	return &harness{parameter: parameter, options: o, shared: map[storetest.Store]*database{}}
}

func (h *harness) forSuite() storetest.Harness {
	return storetest.Harness{
		New:    func(t *testing.T) storetest.Store { return h.open(t) },
		Second: h.second,
		Age:    h.age,
		Damage: h.damage,
		Lose:   h.lose,
		Switch: h.switchTo,
	}
}

// damage spoils a byte in the middle of the stored document.
func (h *harness) damage(t *testing.T, s storetest.Store, av seqlease.AccessionVersion) {
	t.Helper()
	tag, err := h.databaseOf(s).stores[0].Pool().Exec(t.Context(), "UPDATE entry SET submitted = "+
		"set_byte(submitted, octet_length(submitted) / 2, 255 - get_byte(submitted, octet_length(submitted) / 2)) "+
		"WHERE accession = $1 AND version = $2", string(av.Accession), int64(av.Version))
	if err != nil || tag.RowsAffected() != 1 {
		t.Fatalf("damage %s: %v", av, err)
	}
}

// switchTo makes a version the current one.
func (h *harness) switchTo(t *testing.T, s storetest.Store, o seqlease.Organism, version seqlease.PipelineVersion) {
	t.Helper()
	if _, err := h.databaseOf(s).stores[0].Pool().Exec(t.Context(), "UPDATE organism SET current_version = $1 WHERE key = $2", int64(version), string(o)); err != nil {
		t.Fatalf("switch to version %d: %v", version, err)
	}
}

// lose removes the entry's tickets and the leases that hold it.
func (h *harness) lose(t *testing.T, s storetest.Store, av seqlease.AccessionVersion) {
	t.Helper()
	const id = "(SELECT id FROM entry WHERE accession = $1 AND version = $2)"
	for _, statement := range []string{"DELETE FROM ticket WHERE entry_id = " + id, "DELETE FROM lease WHERE " + id + " = ANY (entry_ids)"} {
		if _, err := h.databaseOf(s).stores[0].Pool().Exec(t.Context(), statement, string(av.Accession), int64(av.Version)); err != nil {
			t.Fatalf("lose %s: %v", av, err)
		}
	}
}

// open returns a store on a fresh database.
func (h *harness) open(t testing.TB) *postgres.Store {
	t.Helper()
	address, err := cluster.NewDatabaseAs(t.Context(), h.parameter, func(ctx context.Context, address string) error {
		return postgres.Migrate(ctx, forParameters(address)+h.parameter)
	})
	if err != nil {
		t.Fatal(err)
	}
	return h.join(t, &database{address: forParameters(address) + h.parameter})
}

func newDatabase(t testing.TB) string {
	t.Helper()
	address, err := cluster.NewDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return forParameters(address)
}

// forParameters returns an address to which parameters can be appended.
func forParameters(address string) string {
	if strings.Contains(address, "?") {
		return address
	}
	return address + "?"
}

// newCluster starts a server for this test alone, with one migrated database.
func newCluster(t *testing.T) (*pgcluster.Cluster, string) {
	t.Helper()
	c, err := pgcluster.Start(t.Context(), pgcluster.Options{Durable: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	address, err := c.NewDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := postgres.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	run(t, connect(t, address), "CHECKPOINT") // so that an outage doesn't undo the migrations
	return c, address
}

// join opens one more store on the database.
func (h *harness) join(t testing.TB, d *database) *postgres.Store {
	t.Helper()
	o := h.options
	o.Address = d.address
	s, err := postgres.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	d.stores = append(d.stores, s)
	h.shared[s] = d
	return s
}

func (h *harness) databaseOf(s storetest.Store) *database {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.shared[s]
}

func (h *harness) second(t *testing.T, s storetest.Store) storetest.Store {
	t.Helper()
	return h.join(t, h.databaseOf(s))
}

// age shifts every stored time back and lets every store forget the past.
func (h *harness) age(t *testing.T, s storetest.Store, d time.Duration) {
	t.Helper()
	shared := h.databaseOf(s)
	for table, columns := range map[string][]string{
		"lease": {"lease_until", "claimed_at"}, "entry": {"submitted_at", "released_at"}, "result": {"processed_at"},
		"data_use_terms": {"changed_at"}, "pipeline_version": {"registered_at"}, "version_switch": {"switched_at"},
		"claim_record": {"claimed_at"}, "failure": {"at"}, "quarantine": {"at"},
		"audit": {"at"}, "external_metadata": {"updated_at"}, "upload_key": {"created_at"},
	} {
		var set []string
		for _, column := range columns {
			set = append(set, fmt.Sprintf("%[1]s = %[1]s - $1 * interval '1 microsecond'", column))
		}
		if _, err := shared.stores[0].Pool().Exec(t.Context(), "UPDATE "+table+" SET "+strings.Join(set, ", "), d.Microseconds()); err != nil {
			t.Fatalf("age %s: %v", table, err)
		}
	}
	for _, s := range shared.stores {
		s.Forget()
	}
}

var execLarge = flag.Bool("exec.large", false, "run the cases with very much data without prepared statements, too")

func TestStore(t *testing.T) {
	t.Parallel()
	t.Run("prepared", func(t *testing.T) {
		t.Parallel()
		storetest.Run(t, newHarness("", postgres.Options{}).forSuite())
	})
	// A pool that shares connections by transaction has no prepared statements (B044).
	t.Run("exec", func(t *testing.T) {
		t.Parallel()
		suite := newHarness("&default_query_exec_mode=exec", postgres.Options{}).forSuite()
		if !*execLarge {
			suite.Lacks = map[string]string{storetest.Large: "the same statements run with prepared ones; -exec.large runs them here, too"}
		}
		storetest.Run(t, suite)
	})
}

// remove deletes entries of West Nile virus.
func remove(ctx context.Context, s *postgres.Store, versions []seqlease.AccessionVersion) error {
	_, err := s.Delete(ctx, submission.Deletion{Organism: storetest.WestNile, User: "anna", Scope: seqlease.DeleteAll, Entries: versions})
	return err
}
