package drain

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seqlease/seqlease/bench/measure"
	"github.com/seqlease/seqlease/internal/pgcluster"
)

// Every design drains a short queue and passes its check, and no check passes once
// a result is gone or another entry's.
func TestChecksNoticeWhatIsWrong(t *testing.T) {
	t.Parallel()
	c, err := pgcluster.Start(t.Context(), pgcluster.Options{Settings: measure.Settings()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	const n = 250
	w := Work{Entry: 50, Result: 70}
	const entry, otherBody = "entry_schema", "UPDATE processing SET body = body || '\\x00'::bytea WHERE accession = 'R_000000007'"
	for _, test := range []struct {
		name  string
		open  func(address string) (design, database, error)
		wrong []string // statements; after each the check fails
		races bool
	}{
		{"store", func(address string) (design, database, error) {
			q, err := openStore(t.Context(), address, w)
			return q, q.database, err
		}, []string{"UPDATE result SET body = body || '\\x00'::bytea WHERE entry_id = 7", "DELETE FROM result WHERE entry_id = 9"}, false},
		{"floor", func(address string) (design, database, error) {
			q, err := openFloor(t.Context(), address, w)
			return q, q.database, err
		}, []string{"UPDATE result SET body = (SELECT body FROM result WHERE entry_id = 3) WHERE entry_id = 7", "DELETE FROM result WHERE entry_id = 9"}, false},
		{
			"row_lease", opener[string](t, "row_lease", w, false, entry, "row_lease_schema", "row_lease_tracker"),
			[]string{otherBody, "UPDATE processing SET status = 'IN_PROCESSING' WHERE accession = 'R_000000009'"},
			false,
		},
		{
			"row_lease_alone", opener[string](t, "row_lease_alone", w, false, entry, "row_lease_alone_schema"),
			[]string{otherBody, "DELETE FROM processing WHERE accession = 'R_000000009'"},
			false,
		},
		{
			"insert_race", opener[string](t, "insert_race", w, true, entry, "insert_race_schema"),
			[]string{otherBody, "DELETE FROM processing WHERE accession = 'R_000000009'"},
			true,
		},
		{
			"message", opener[int64](t, "message", w, false, "message_schema"),
			[]string{"UPDATE result SET body = (SELECT body FROM result WHERE message_id = 3) WHERE message_id = 7", "DELETE FROM result WHERE message_id = 9"},
			false,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, wrong := range test.wrong {
				address, err := c.NewDatabase(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				q, d, err := test.open(address)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(q.close)
				drained, err := fillAndDrain(t.Context(), q, 1, n, test.races)
				if err != nil {
					t.Fatal(err)
				}
				if err := eachOnce(drained.numbers, n); err != nil {
					t.Error(err)
				}
				if err := q.check(t.Context(), n, 0); err != nil {
					t.Error(err)
				}
				if _, err := d.pool.Exec(t.Context(), wrong); err != nil {
					t.Fatal(err)
				}
				if q.check(t.Context(), n, 0) == nil {
					t.Errorf("the check passes after %q", wrong)
				}
			}
		})
	}
}

func opener[K any](t *testing.T, name string, w Work, lines bool, schemas ...string) func(string) (design, database, error) {
	t.Helper()
	return func(address string) (design, database, error) {
		q, err := openSQL[K](t.Context(), address, name, schemas, w, lines)
		if err != nil {
			return nil, database{}, err
		}
		return q, q.database, nil
	}
}

func TestEachOnce(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		numbers []int64
		good    bool
	}{
		{"in any order", []int64{3, 1, 2}, true},
		{"twice", []int64{1, 2, 2}, false},
		{"one too few", []int64{1, 2}, false},
		{"another one", []int64{1, 2, 4}, false},
	} {
		if err := eachOnce(test.numbers, 3); (err == nil) != test.good {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestTenths: a drain that gets slower by half shows it, whatever its beginning and
// its end are like.
func TestTenths(t *testing.T) {
	t.Parallel()
	d := &drained{}
	at := time.Minute // until the first batch is done
	for i := range 1000 {
		d.completions = append(d.completions, completion{at, Batch})
		if at += time.Millisecond; i >= 500 {
			at += time.Millisecond
		}
	}
	d.completions[999].at += time.Minute
	if first, last, enough := d.tenths(); !enough || last/first != 0.5 {
		t.Errorf("%v entries/s and then %v, %v, want half as many", first, last, enough)
	}
	if _, _, enough := (&drained{completions: d.completions[:9]}).tenths(); enough {
		t.Error("9 batches are said to be enough")
	}
}

// TestPeriods: a look that takes 300 ms every five seconds is 6 % of the time, whenever
// one stops to look.
func TestPeriods(t *testing.T) {
	t.Parallel()
	for _, whole := range []time.Duration{11 * time.Second, 14 * time.Second} {
		var p periods
		for at := time.Duration(0); at < whole; at += 100 * time.Millisecond {
			millis := 0.0
			if at%(5*time.Second) == 0 {
				millis = 300
			}
			p.add(at, millis, 290)
		}
		if got := p.share(whole); got != 6 {
			t.Errorf("in %s: %v %%, want 6", whole, got)
		}
	}
	var once periods
	once.add(0, 300, 290)
	once.add(time.Second, 1, 290)
	if got := once.share(10 * time.Second); got != 3.01 {
		t.Errorf("a single look: %v %%, want 3.01", got)
	}
}

func TestExplained(t *testing.T) {
	t.Parallel()
	log := "LOG:  duration: 1 ms  plan:\n\tQuery Text: -- seqlease claim_settings: x\n\tResult\n" +
		"LOG:  duration: 2 ms  plan:\n\tQuery Text: -- seqlease claim (L2)\n\tSELECT\n\tAppend\nLOG:  other\n"
	got := explained(log, "-- seqlease claim (")
	if want := []string{strings.Join(strings.SplitAfter(log, "\n")[3:7], "")}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
