package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

// prepareUpload registers the suite's organisms and a group, and returns an
// upload of n entries.
func prepareUpload(ctx context.Context, s *Store, n int) (submission.Upload, error) {
	if err := s.Register(ctx, storetest.Organisms()); err != nil {
		return submission.Upload{}, err
	}
	g, err := s.CreateGroup(ctx, seqlease.NewGroup{GroupName: "Institute of Virology"}, "anna")
	return submission.Upload{
		Organism: storetest.WestNile, GroupID: g.GroupID, Submitter: "anna", AccessionPrefix: "LOC_",
		Terms: seqlease.DataUseTerms{Type: seqlease.TermsOpen}, Entries: benchEntries(s, n),
	}, err
}

func versionsOf(mapping []seqlease.SubmissionIDMapping) []seqlease.AccessionVersion {
	versions := make([]seqlease.AccessionVersion, len(mapping))
	for i, m := range mapping {
		versions[i] = m.AccessionVersion
	}
	return versions
}

// submitted is a fresh store with n entries.
func submitted(t testing.TB, n int) (*Store, submission.Upload, []seqlease.AccessionVersion) {
	t.Helper()
	s := newStore(t)
	u, err := prepareUpload(t.Context(), s, n)
	if err != nil {
		t.Fatal(err)
	}
	mapping, err := s.Submit(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	return s, u, versionsOf(mapping)
}

// holdWriter keeps the writer busy until the returned function is called, which
// waits for the writes that came meanwhile.
func holdWriter(t *testing.T, s *Store) (release func()) {
	t.Helper()
	held, free, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		first := true
		ended <- s.write(context.WithoutCancel(t.Context()), func(context.Context, *tx) error {
			if first {
				first = false
				close(held)
				<-free
			}
			return nil
		})
	}()
	<-held
	return func() {
		close(free)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func TestWrite_CancelledWhileItWaits(t *testing.T) {
	t.Parallel()
	s, u, _ := submitted(t, 1)
	release := holdWriter(t, s)
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	answer := make(chan error, 1)
	go func() {
		_, err := s.Submit(ctx, u)
		answer <- err
	}()
	cancel()
	if err := <-answer; !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
}

func TestWrite_GroupCommitsGoodOnesOnly(t *testing.T) {
	t.Parallel()
	refusal := errors.New("refused")
	for _, c := range []struct {
		name string
		bad  func(ctx context.Context, t *tx) error
	}{
		{"an error undoes its own write", func(context.Context, *tx) error { return refusal }},
		{"a lost transaction undoes nothing else", func(ctx context.Context, t *tx) error {
			// As a full disk does: the whole transaction is gone.
			_, err := t.exec(ctx, "rollback")
			return errors.Join(refusal, err)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			release := holdWriter(t, s)
			var group errgroup.Group
			for i := range 6 {
				group.Go(func() error {
					err := s.write(t.Context(), func(ctx context.Context, t *tx) error {
						if _, err := t.exec(ctx, "create_group", groupArgs(strconv.Itoa(i))...); err != nil {
							return err
						}
						if i%3 == 1 {
							return c.bad(ctx, t)
						}
						return nil
					})
					if (i%3 == 1) != errors.Is(err, refusal) {
						return fmt.Errorf("write %d: got error %w", i, err)
					}
					return nil
				})
			}
			release()
			if err := group.Wait(); err != nil {
				t.Error(err)
			}
			groups, err := s.GroupsOf(t.Context(), "")
			if err != nil || len(groups) != 4 {
				t.Errorf("%d groups are stored (%v), want those 4 without an error", len(groups), err)
			}
			names := map[string]bool{}
			for _, g := range groups {
				names[g.GroupName] = true
			}
			if names["1"] || names["4"] || len(names) != 4 {
				t.Errorf("stored %v", names)
			}
		})
	}
}

// A request that ends the transaction without writing anything doesn't let what
// follows it be committed by itself, and then again.
func TestWrite_LostTransactionWithoutAWriteIsNoticed(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	release := holdWriter(t, s)
	var group errgroup.Group
	for i := range 6 {
		group.Go(func() error {
			err := s.write(t.Context(), func(ctx context.Context, t *tx) error {
				if i%3 == 1 {
					_, lost := t.exec(ctx, "rollback")
					_, told := t.exec(ctx, "commit")
					return errors.Join(lost, told)
				}
				_, err := t.exec(ctx, "create_group", groupArgs(strconv.Itoa(i))...)
				return err
			})
			if (i%3 == 1) != (err != nil) {
				return fmt.Errorf("write %d: got error %w", i, err)
			}
			return nil
		})
	}
	release()
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	if groups, err := s.GroupsOf(t.Context(), ""); err != nil || len(groups) != 4 {
		t.Errorf("%d groups are stored (%v), want those 4 without an error", len(groups), err)
	}
}

// A request that must be undone has its group written again once: the next ones
// have marks, until many have done without.
func TestWrite_MarksSpareTheNeighboursOfAnError(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	refusal := errors.New("refused")
	both := func() (good int) {
		release := holdWriter(t, s)
		var group errgroup.Group
		group.Go(func() error {
			return s.write(t.Context(), func(ctx context.Context, t *tx) error {
				good++
				_, err := t.exec(ctx, "create_group", groupArgs("good")...)
				return err
			})
		})
		group.Go(func() error {
			return s.write(t.Context(), func(ctx context.Context, t *tx) error {
				_, err := t.exec(ctx, "create_group", groupArgs("bad")...)
				return errors.Join(refusal, err)
			})
		})
		release()
		if err := group.Wait(); !errors.Is(err, refusal) {
			t.Errorf("got error %v, want %v", err, refusal)
		}
		return good
	}
	for s.writer.marked == 0 { // until the two have shared a group
		both()
	}
	if calls := both(); calls != 1 {
		t.Errorf("the neighbour of an error was carried out %d times, want once", calls)
	}
	for i := range 2 * markedGroups {
		if err := s.write(t.Context(), func(context.Context, *tx) error { return nil }); err != nil {
			t.Fatal(i, err)
		}
	}
	if s.writer.marked != 0 {
		t.Errorf("%d groups more have marks", s.writer.marked)
	}
	groups, err := s.GroupsOf(t.Context(), "")
	for _, g := range groups {
		if g.GroupName != "good" {
			t.Errorf("group %q is stored", g.GroupName)
		}
	}
	if err != nil || len(groups) < 2 {
		t.Errorf("%d groups are stored, %v", len(groups), err)
	}
}

// together runs the writes in one group, in their order, and returns their errors.
func together(t *testing.T, s *Store, writes ...*write) []error {
	t.Helper()
	release := holdWriter(t, s)
	ctx := context.WithoutCancel(t.Context())
	for _, w := range writes {
		w.ctx, w.done = ctx, make(chan error, 1) //nolint:fatcontext // each has the same
	}
	var sent errgroup.Group
	sent.Go(func() error {
		for _, w := range writes { // each is taken while the one before is carried out
			s.writer.requests <- w
		}
		return nil
	})
	release()
	_ = sent.Wait() // it has no error
	errs := make([]error, len(writes))
	for i, w := range writes {
		errs[i] = <-w.done
	}
	return errs
}

// A request that has changed nothing has nothing to be undone, whatever its statements.
func TestWrite_AnErrorWithoutAChangeSpoilsNothing(t *testing.T) {
	t.Parallel()
	s, _, _ := submitted(t, 1)
	lost := queue.Renew{Organism: storetest.WestNile, AttemptID: benchClaim(1).AttemptID, Lease: time.Minute}
	for range 10 {
		calls := 0
		errs := together(t, s,
			&write{fn: func(ctx context.Context, t *tx) error {
				calls++
				_, err := t.exec(ctx, "create_group", groupArgs("good")...)
				return err
			}},
			&write{fn: func(ctx context.Context, t *tx) error {
				_, err := renew(ctx, t, lost)
				return err
			}},
		)
		if errs[0] != nil || !errors.Is(errs[1], seqlease.ErrLeaseLost) || calls != 1 || s.writer.marked != 0 {
			t.Fatalf("errors %v, the neighbour was carried out %d times, %d groups more have marks", errs, calls, s.writer.marked)
		}
	}
}

// A statement that changes something says so, however it is run: with the number of
// rows, or by returning them.
func TestWrite_ChangesAreNoticed(t *testing.T) {
	t.Parallel()
	s, _, _ := submitted(t, 1)
	refusal := errors.New("refused")
	lease, err := s.Claim(t.Context(), benchClaim(1))
	if err != nil {
		t.Fatal(err)
	}
	running := queue.Renew{Organism: storetest.WestNile, AttemptID: lease.AttemptID, ClaimedBy: benchClaim(1).ClaimedBy, Lease: 24 * time.Hour}
	for name, fn := range map[string]func(ctx context.Context, t *tx) error{
		"a number of rows": func(ctx context.Context, t *tx) error {
			_, err := t.exec(ctx, "create_group", groupArgs("bad")...)
			return err
		},
		"a row": func(ctx context.Context, t *tx) error {
			_, err := renew(ctx, t, running)
			return err
		},
	} {
		err := s.write(t.Context(), func(ctx context.Context, t *tx) error { return errors.Join(fn(ctx, t), refusal) })
		if !errors.Is(err, refusal) || errors.Is(err, seqlease.ErrLeaseLost) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	leases, groups := 0, 0
	err = outsider(t, s).QueryRowContext(t.Context(), "SELECT (SELECT count(*) FROM lease WHERE lease_until > (SELECT now FROM clock) + 80000000000), (SELECT count(*) FROM submitting_group WHERE group_name = 'bad')").Scan(&leases, &groups)
	if err != nil || leases != 0 || groups != 0 {
		t.Errorf("%d leases and %d groups are there (%v), want what was refused undone", leases, groups, err)
	}
}

// Whatever becomes of a large request and of its neighbours, it is carried out once.
func TestWrite_LargeRequestsAreCarriedOutOnce(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	refusal := errors.New("refused")
	create := func(calls *int, name string, answer error) func(context.Context, *tx) error {
		return func(ctx context.Context, t *tx) error {
			*calls++
			_, err := t.exec(ctx, "create_group", groupArgs(name)...)
			return errors.Join(err, answer)
		}
	}
	for _, answer := range []error{nil, refusal} {
		for range 10 {
			var before, large, after int
			errs := together(t, s,
				&write{fn: create(&before, "before", nil)},
				&write{fn: create(&large, "large", answer), large: true},
				&write{fn: create(&after, "after", refusal)},
			)
			if errs[0] != nil || !errors.Is(errs[1], answer) || !errors.Is(errs[2], refusal) || before != 1 || large != 1 {
				t.Fatalf("errors %v; carried out %d, %d and %d times", errs, before, large, after)
			}
		}
	}
	counts := map[string]int{}
	groups, err := s.GroupsOf(t.Context(), "")
	for _, g := range groups {
		counts[g.GroupName]++
	}
	if err != nil || counts["before"] != 20 || counts["large"] != 10 || counts["after"] != 0 {
		t.Errorf("stored %v (%v)", counts, err)
	}
}

func groupArgs(name string) []any {
	return named("group_name", name, "institution", "", "line1", "", "line2", "", "city", "", "state", "",
		"postal_code", "", "country", "", "contact_email", "")
}

func TestWrite_ClosedStore(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	release := holdWriter(t, s)
	release()
	if err := s.writer.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateGroup(t.Context(), seqlease.NewGroup{}, "anna"); !errors.Is(err, ErrClosed) {
		t.Errorf("got error %v, want %v", err, ErrClosed)
	}
	s.writer = nil // closed already
}

func TestWrite_B037_FullDiskLeavesTheStoreUsable(t *testing.T) {
	t.Parallel()
	s, u, _ := submitted(t, 10)
	limit := func(pages int) {
		t.Helper()
		if _, err := s.writer.conn.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
			t.Fatal(err)
		}
	}
	limit(1) // the least that SQLite takes: as many as there are
	u.Entries = benchEntries(s, 20*partEntries)
	if _, err := s.Submit(t.Context(), u); !errors.Is(err, seqlease.ErrStorageFull) || !strings.Contains(seqlease.Explanation(err), "is full") {
		t.Fatalf("got error %v, want %v", err, seqlease.ErrStorageFull)
	}
	counts, err := s.List(t.Context(), submission.ListFilter{Organism: storetest.WestNile}, func(submission.ListedEntry) error { return nil })
	if err != nil || counts.Statuses[seqlease.Received] != 10 {
		t.Errorf("counted %v (%v), want 10 received", counts.Statuses, err)
	}
	large := seqlease.NewGroup{GroupName: strings.Repeat("x", 32<<20), ContactEmail: "lab@example.org"}
	if _, err := s.CreateGroup(t.Context(), large, "anna"); !errors.Is(err, seqlease.ErrStorageFull) || !s.full.Load() {
		t.Errorf("got error %v, known as full: %t, want %v", err, s.full.Load(), seqlease.ErrStorageFull)
	}
	pragma := func(text string) {
		t.Helper()
		if _, err := s.writer.conn.ExecContext(t.Context(), "PRAGMA "+text); err != nil {
			t.Fatal(err)
		}
	}
	pragma("query_only = 1") // no write succeeds
	if err := s.Ready(t.Context()); err == nil {
		t.Error("ready although the last write found no room and none succeeds")
	}
	if !s.full.Load() {
		t.Error("a write that failed for another reason is taken for room")
	}
	pragma("query_only = 0")
	limit(1 << 30)
	if err := s.Ready(t.Context()); err != nil || s.full.Load() {
		t.Errorf("with room again: not ready: %v", err)
	}
	if mapping, err := s.Submit(t.Context(), u); err != nil || len(mapping) != 20*partEntries {
		t.Errorf("with room again: %d entries stored (%v)", len(mapping), err)
	}
	wantIntact(t, s)
}

// wantIntact checks the file and that nothing of the queue is left over.
func wantIntact(t *testing.T, s *Store) {
	t.Helper()
	db := outsider(t, s)
	var verdict string
	if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity: %s (%v)", verdict, err)
	}
	for what, query := range map[string]string{
		"tickets without entry":  "SELECT count(*) FROM ticket AS t WHERE NOT EXISTS (SELECT 1 FROM entry AS e WHERE e.id = t.entry_id)",
		"leased without entry":   "SELECT count(*) FROM leased AS t WHERE NOT EXISTS (SELECT 1 FROM entry AS e WHERE e.id = t.entry_id)",
		"leased without lease":   "SELECT count(*) FROM leased AS d WHERE NOT EXISTS (SELECT 1 FROM lease AS l WHERE l.attempt_id = d.attempt_id)",
		"leases without entries": "SELECT count(*) FROM lease AS l WHERE NOT EXISTS (SELECT 1 FROM leased AS d WHERE l.attempt_id = d.attempt_id)",
		"both ticket and lease": `SELECT count(*) FROM ticket AS t JOIN leased AS d
			ON d.pipeline_version = t.pipeline_version AND d.entry_id = t.entry_id`,
		"entries in no state": `SELECT count(*) FROM entry_state AS s WHERE NOT s.is_revocation AND s.outcome IS NULL AND s.lease_until IS NULL
			AND NOT EXISTS (SELECT 1 FROM ticket AS t
			WHERE t.organism_id = s.organism_id AND t.pipeline_version = 1 AND t.entry_id = s.id)
			AND NOT EXISTS (SELECT 1 FROM ticket_run AS t
			WHERE t.pipeline_version = 1 AND s.id BETWEEN t.first_entry_id AND t.last_entry_id)`,
	} {
		var n int
		if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s: %d (%v), want none", what, n, err)
		}
	}
}

func TestStore_B046_NobodySeesABusyStore(t *testing.T) {
	t.Parallel()
	const workers, each = 16, 40
	s, u, versions := submitted(t, workers*each)
	stop := make(chan struct{})
	var shell errgroup.Group
	db := outsider(t, s)
	shell.Go(func() error { // another program writes now and then; whether it gets its turn in time is its own affair
		pause := time.NewTicker(5 * time.Millisecond)
		defer pause.Stop()
		for {
			select {
			case <-stop:
				return nil
			case <-pause.C:
			}
			_, err := db.ExecContext(t.Context(), "UPDATE counter SET last = last + 1 WHERE name = 'accession'")
			if err != nil && !errors.Is(storeError(err), seqlease.ErrBusy) {
				return fmt.Errorf("outside write: %w", err)
			}
		}
	})
	var group errgroup.Group
	for range workers {
		group.Go(func() error { return claimAndAnswer(t.Context(), s) })
	}
	group.Go(func() error {
		_, err := s.Submit(t.Context(), u)
		return err
	})
	group.Go(func() error {
		_, err := s.List(t.Context(), submission.ListFilter{Organism: storetest.WestNile}, func(submission.ListedEntry) error { return nil })
		return err
	})
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	close(stop)
	if err := shell.Wait(); err != nil {
		t.Error(err)
	}
	if err := claimAndAnswer(t.Context(), s); err != nil { // what was uploaded after the last worker looked
		t.Error(err)
	}
	counts, err := s.List(t.Context(), submission.ListFilter{Organism: storetest.WestNile}, func(submission.ListedEntry) error { return nil })
	if got, want := counts.Statuses[seqlease.Processed], int64(2*len(versions)); err != nil || got != want {
		t.Errorf("%d entries are processed (%v), want %d", got, err, want)
	}
	wantIntact(t, s)
}

// claimAndAnswer works until nothing waits.
func claimAndAnswer(ctx context.Context, s *Store) error {
	for {
		lease, err := s.Claim(ctx, benchClaim(7))
		if err != nil || len(lease.Entries) == 0 {
			return err
		}
		if _, err := s.AcceptResults(ctx, benchResults(lease, packedBody())); err != nil {
			return err
		}
	}
}

func TestClaim_IdleClaimNeedsNoWriter(t *testing.T) {
	t.Parallel()
	s, _, _ := submitted(t, 1)
	lease, err := s.Claim(t.Context(), benchClaim(1))
	if err != nil || len(lease.Entries) != 1 {
		t.Fatalf("claimed %d entries (%v), want 1", len(lease.Entries), err)
	}
	release := holdWriter(t, s)
	defer release()
	idle, err := s.Claim(t.Context(), benchClaim(1))
	if err != nil || len(idle.Entries) != 0 || idle.Mark != lease.Mark {
		t.Errorf("got %d entries and mark %q (%v), want none and %q", len(idle.Entries), idle.Mark, err, lease.Mark)
	}
}

func TestRead_SnapshotStaysWhileOthersWrite(t *testing.T) {
	t.Parallel()
	s, u, versions := submitted(t, 300)
	listed := 0
	counts, err := s.List(t.Context(), submission.ListFilter{Organism: storetest.WestNile}, func(e submission.ListedEntry) error {
		listed++
		if e.Status != seqlease.Received {
			return fmt.Errorf("%s is %s, want %s", e.AccessionVersion, e.Status, seqlease.Received)
		}
		if listed > 1 {
			return nil
		}
		if _, err := s.Submit(t.Context(), u); err != nil {
			return err
		}
		lease, err := s.Claim(t.Context(), benchClaim(100))
		if err != nil {
			return err
		}
		return only(s.AcceptResults(t.Context(), benchResults(lease, packedBody())))
	})
	if err != nil {
		t.Fatal(err)
	}
	if listed != len(versions) || counts.Statuses[seqlease.Received] != int64(len(versions)) {
		t.Errorf("listed %d and counted %v, want %d received", listed, counts.Statuses, len(versions))
	}
}

func TestLists_B035_OneHundredThousandIDs(t *testing.T) {
	t.Parallel()
	s, _, versions := submitted(t, 1)
	const n = 100_000
	unknown := make([]seqlease.AccessionVersion, n)
	lines := make([]queue.Line, n)
	for i := range unknown {
		unknown[i] = seqlease.AccessionVersion{Accession: seqlease.NewAccession("OTHER_", int64(i+1)), Version: 1}
		lines[i] = queue.Line{AccessionVersion: unknown[i], Number: i + 1, Result: seqlease.NoIssues, Packed: seqlease.Packed{Bytes: []byte("x")}}
	}
	var state *submission.StateError
	if err := remove(t.Context(), s, append(unknown, versions...)); !errors.As(err, &state) || len(state.Missing) != n {
		t.Errorf("delete: got error of %T with the wrong entries, want %d missing", err, n)
	}
	a := submission.Approval{Organism: storetest.WestNile, Scope: seqlease.ApproveAll, Entries: append(unknown, versions...)}
	if _, err := s.Approve(t.Context(), a); !errors.As(err, &state) || len(state.Missing) != n || len(state.WrongStatus) != 1 {
		t.Errorf("approve: got error of %T with the wrong entries, want %d missing", err, n)
	}
	groups, err := s.GroupsOfEntries(t.Context(), append(unknown, versions...))
	if err != nil || len(groups) != 1 {
		t.Errorf("groups of entries: %d (%v), want 1", len(groups), err)
	}
	var refused *seqlease.RefusedError
	r := queue.Submission{Organism: storetest.WestNile, PipelineVersion: 1, Lines: lines}
	if _, err := s.AcceptResults(t.Context(), r); !errors.As(err, &refused) || len(refused.Refused) != n {
		t.Errorf("accept: got error of %T with the wrong lines, want %d refused", err, n)
	}
}

func TestEdit_KeepsTheFirstRevisionForTheArchive(t *testing.T) {
	t.Parallel()
	s, _, versions := submitted(t, 1)
	for _, text := range []string{`{"metadata":{"a":"1"}}`, `{"metadata":{"a":"2"}}`} {
		if err := claimAndAnswer(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		e := submission.Edit{Organism: storetest.WestNile, AccessionVersion: versions[0], Data: []byte(text)}
		if err := s.Edit(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	var revisions sql.NullString
	db := outsider(t, s)
	err := db.QueryRowContext(t.Context(), "SELECT group_concat(revision) FROM (SELECT revision FROM submitted ORDER BY revision)").Scan(&revisions)
	if got, want := revisions.String, "1,3"; err != nil || got != want {
		t.Errorf("stored revisions %s (%v), want %s", got, err, want)
	}
}

// only drops the answer of a submission.
func only(_ queue.Accepted, err error) error { return err }
