package sqlite

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

// approvalOf takes everything of West Nile virus, or the named entries.
func approvalOf(named ...seqlease.AccessionVersion) submission.Approval {
	return submission.Approval{Organism: storetest.WestNile, Approver: "root", Scope: seqlease.ApproveAll, Entries: named}
}

// What approvals of the entries of submitJudged come to.
const (
	judged = 2*partEntries + 100
	good   = judged / 5 * 4
	// Up to its decision an approval has these steps.
	ready   = 3
	settled = ready + 1
)

// submitJudged stores entries of which every fifth has errors, and returns the others, too.
func submitJudged(t *testing.T, s *Store) (all, fit []seqlease.AccessionVersion) {
	t.Helper()
	all = mustSubmit(t, s, groupUpload(t, s, judged))
	packed, err := s.Pack(storetest.WestNile, []byte(`{"metadata":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := giveResults(t.Context(), outsider(t, s), "id % 5 = 0", packed); err != nil {
		t.Fatal(err)
	}
	for i, av := range all {
		if (i+1)%5 != 0 {
			fit = append(fit, av)
		}
	}
	return all, fit
}

// stepsOf are all steps of an approval.
func stepsOf(s *Store, ap *largeApproval) iter.Seq[func(ctx context.Context) error] {
	return func(yield func(func(ctx context.Context) error) bool) {
		for _, one := range []func(context.Context, *largeApproval) error{s.beginApproval, s.lookForApproval, s.holdApproved, s.decideApproval} {
			if !yield(func(ctx context.Context) error { return one(ctx, ap) }) {
				return
			}
		}
		for more := true; more; {
			if !yield(func(ctx context.Context) error {
				return s.writeLosing(ctx, func(ctx context.Context, t *tx) (err error) {
					more, err = writeApprovedPart(ctx, t, ap.id)
					return err
				})
			}) {
				return
			}
		}
	}
}

// begun is an approval that has gone so many steps.
func begun(t *testing.T, s *Store, a submission.Approval, steps int) (ap *largeApproval, next func() (func(ctx context.Context) error, bool)) {
	t.Helper()
	ap = &largeApproval{Approval: a}
	next, stop := iter.Pull(stepsOf(s, ap))
	t.Cleanup(stop)
	if _, err := goOn(t, next, steps); err != nil {
		t.Fatal(err)
	}
	return ap, next
}

// released is what readers get of West Nile virus, its instants, and the mark.
func released(t *testing.T, s *Store) (versions []seqlease.AccessionVersion, instants int, mark string) {
	t.Helper()
	var entries int64
	at := map[int64]bool{}
	err := s.ReadReleased(t.Context(), storetest.WestNile,
		func(h submission.ReleasedHead) error {
			entries, mark = h.Count, h.Mark
			return nil
		},
		func(e submission.ReleasedEntry) error {
			versions = append(versions, e.AccessionVersion)
			at[e.ReleasedAt.UnixMicro()] = true
			return nil
		})
	if err != nil || int(entries) != len(versions) {
		t.Fatalf("%d entries are released, %v, and %d are announced", len(versions), err, entries)
	}
	return versions, len(at), mark
}

// wantNoApproval checks that nothing of a large approval is left, and what it has written.
func wantNoApproval(t *testing.T, s *Store, written int) {
	t.Helper()
	for query, want := range map[string]int{
		"SELECT count(*) FROM approval":                                                               0,
		"SELECT count(*) FROM approval_run":                                                           0,
		"SELECT count(*) FROM entry WHERE released_at IS NOT NULL AND approver = 'root'":              written,
		"SELECT count(DISTINCT released_at) FROM entry":                                               min(written, 1),
		"SELECT coalesce(sum(entries), 0) FROM audit WHERE action = 'approve' AND user_name = 'root'": written,
		"SELECT count(*) FROM audit WHERE action = 'approve'":                                         min(written, 1),
		"SELECT count(*) FROM entry WHERE (released_at IS NULL) <> (approver IS NULL)":                0,
	} {
		if n := count(t, s, query); n != want {
			t.Errorf("%s: %d, want %d", query, n, want)
		}
	}
	wantIntact(t, s)
}

// A large approval that ends anywhere with its process has either released everything or
// nothing when the store is opened next; beside it, too, readers get all or nothing.
func TestOpen_L13_ApprovalEndsAsAWhole(t *testing.T) {
	t.Parallel()
	const last = settled + (good+partEntries-1)/partEntries + 1
	for end := range last + 1 {
		t.Run(fmt.Sprintf("after %d of %d", end, last), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "store.db")
			s, err := Open(t.Context(), Options{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			_, fit := submitJudged(t, s)
			_, _, before := released(t, s)
			ap := &largeApproval{Approval: approvalOf()}
			next, stop := iter.Pull(stepsOf(s, ap))
			defer stop()
			if done, err := goOn(t, next, end); err != nil || done != end {
				t.Fatalf("%d steps, %v", done, err)
			}
			var want []seqlease.AccessionVersion
			if end >= settled {
				want = fit
			}
			got, _, mark := released(t, s)
			if !cmp.Equal(got, want) {
				t.Errorf("beside the approval %d entries are released, want %d", len(got), len(want))
			}
			if (mark > before) != (want != nil) {
				t.Errorf("the mark is %s after %s", mark, before)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if s, err = Open(t.Context(), Options{Path: path}); err != nil {
				t.Fatal(err)
			}
			defer s.Close() //nolint:errcheck // the test is over
			if err := s.Register(t.Context(), storetest.Organisms()); err != nil {
				t.Fatal(err)
			}
			got, instants, again := released(t, s)
			if !cmp.Equal(got, want) || instants != min(len(want), 1) || again != mark {
				t.Errorf("afterwards %d entries are released at %d instants under %s, want %d and %s", len(got), instants, again, len(want), mark)
			}
			wantNoApproval(t, s, len(want))
		})
	}
}

// seenOf describes all that readers get to see of the entries.
func seenOf(t *testing.T, s *Store, all []seqlease.AccessionVersion) string {
	t.Helper()
	var seen strings.Builder
	tell := func(what string, values ...any) { fmt.Fprintln(&seen, append([]any{what}, values...)...) }
	versions, instants, mark := released(t, s)
	tell("released", versions, instants, mark)
	ctx := t.Context()
	for _, f := range []submission.ListFilter{
		{Organism: storetest.WestNile},
		{Organism: storetest.WestNile, Statuses: []seqlease.Status{seqlease.ApprovedForRelease}},
		{Organism: storetest.WestNile, Statuses: []seqlease.Status{seqlease.Processed, seqlease.Received}, Limit: 30, Offset: 10},
	} {
		counts, err := s.List(ctx, f, func(e submission.ListedEntry) error { tell("listed", e); return nil })
		tell("counts", counts, err)
	}
	groups, err := s.GroupsOfEntries(ctx, all[:1])
	if err != nil {
		t.Fatal(err)
	}
	revisable := submission.RevisableFilter{Organism: storetest.WestNile, GroupID: groups[all[0]]}
	read := func(submitted bool) {
		begin := func(h submission.SubmittedHead) error { tell("head", h.Count); return nil }
		yield := func(e submission.SubmittedEntry) error { tell("read", e.AccessionVersion); return nil }
		if submitted {
			f := submission.SubmittedFilter{Organism: storetest.WestNile, Statuses: []seqlease.Status{seqlease.Processed}}
			tell("submitted", s.ReadSubmitted(ctx, f, begin, yield))
			return
		}
		tell("revisable", s.ReadRevisable(ctx, revisable, begin, yield))
	}
	read(true)
	read(false)
	standings, err := s.Standings(ctx, all)
	tell("standings", standings, err)
	for _, av := range []seqlease.AccessionVersion{all[0], all[4]} {
		newest, err := s.NewestStandings(ctx, []seqlease.Accession{av.Accession})
		tell("newest", newest, err)
		edit, err := s.EntryToEdit(ctx, av)
		tell("to edit", edit, err)
		h, err := s.History(ctx, storetest.WestNile, av, 10)
		tell("history", h, err)
	}
	return seen.String()
}

// From the decision on everybody sees the release, whether it is in the rows or not.
func TestApprove_L13_NobodySeesTheRowsFollow(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	all, _ := submitJudged(t, s)
	before := seenOf(t, s, all)
	_, next := begun(t, s, approvalOf(), ready)
	if diff := cmp.Diff(before, seenOf(t, s, all)); diff != "" {
		t.Errorf("before the decision something is seen (-want +got):\n%s", diff)
	}
	if _, err := goOn(t, next, 1); err != nil {
		t.Fatal(err)
	}
	want := seenOf(t, s, all)
	if want == before {
		t.Fatal("nothing is seen of the decision")
	}
	for more := 1; more > 0; {
		var err error
		if more, err = goOn(t, next, 1); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, seenOf(t, s, all)); diff != "" {
			t.Fatalf("something else is seen while the rows follow (-want +got):\n%s", diff)
		}
	}
	wantNoApproval(t, s, good)
}

// What is decided is final, before it is in the rows, too: nobody edits, deletes or
// releases it again, and it can be revised and revoked.
func TestApprove_L10_DecisionIsFinal(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	all, fit := submitJudged(t, s)
	ap, next := begun(t, s, approvalOf(), settled)
	if got := ap.approved(); len(got) != good {
		t.Fatalf("approved %d entries, want %d", len(got), good)
	}
	s.changes.end(storetest.WestNile) // as when it has settled
	data := []byte(`{"metadata":{},"unalignedNucleotideSequences":{}}`)
	wantState := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, seqlease.ErrState) {
			t.Errorf("%s: %v, want %v", what, err, seqlease.ErrState)
		}
	}
	wantState("edit", s.Edit(t.Context(), submission.Edit{Organism: storetest.WestNile, User: "anna", AccessionVersion: fit[7], Data: data}))
	wantState("delete", remove(t.Context(), s, fit[:1]))
	_, err := s.Approve(t.Context(), approvalOf(fit[:2]...))
	wantState("approve by name", err)
	if again, err := s.Approve(t.Context(), approvalOf()); err != nil || len(again) != 0 {
		t.Errorf("approved %d entries once more, %v", len(again), err)
	}
	if deleted, err := s.Delete(t.Context(), deletionOf(nil)); err != nil || len(deleted) != judged-good {
		t.Errorf("deleted %d entries, %v, want the %d with errors", len(deleted), err, judged-good)
	}
	if made, err := s.Revise(t.Context(), revisionOf(s, fit[10:13])); err != nil || len(made) != 3 {
		t.Errorf("revised %d entries, %v, want 3", len(made), err)
	}
	if made, err := s.Revoke(t.Context(), revocationOf(fit[20:22])); err != nil || len(made) != 2 {
		t.Errorf("revoked %d entries, %v, want 2", len(made), err)
	}
	if _, err := goOn(t, next, 1000); err != nil {
		t.Fatal(err)
	}
	wantNoApproval(t, s, good)
	if n := seen(t, s, all); n != good {
		t.Errorf("%d entries are left, want %d", n, good)
	}
}

// What happens to entries before the decision counts as if it had come before the
// approval: it doesn't take those that aren't fit any more, and is refused if it names them.
func TestApprove_L13_WhatChangesMeanwhileIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	wrongStatus := func(e *submission.StateError) int { return len(e.WrongStatus) }
	withErrors := func(e *submission.StateError) int { return len(e.WithErrors) }
	for _, c := range []struct {
		name   string
		gone   int
		fault  func(e *submission.StateError) int
		change func(t *testing.T, s *Store, fit []seqlease.AccessionVersion) (change func())
	}{
		{"edited", 1, wrongStatus, editFit},
		{"released", 3, wrongStatus, releaseFit},
		{"processed with errors", 1, withErrors, processAnew(seqlease.HasErrors)},
		{"processed well again", 0, nil, processAnew(seqlease.HasWarnings)},
		{"very many, of which one is edited", 1, wrongStatus, editLast},
	} {
		for _, byName := range []bool{false, true} {
			for _, steps := range []int{1, ready} {
				t.Run(fmt.Sprintf("%s, by name %v, after %d steps", c.name, byName, steps), func(t *testing.T) {
					t.Parallel()
					s := newStore(t)
					_, fit := submitJudged(t, s)
					a := approvalOf()
					if byName {
						a = approvalOf(fit...)
					}
					change := c.change(t, s, fit)
					ap, next := begun(t, s, a, steps)
					change()
					_, err := goOn(t, next, 1000)
					if byName && c.gone > 0 {
						var state *submission.StateError
						if !errors.As(err, &state) || c.fault(state) != c.gone {
							t.Fatalf("the approval ended with %v, want a fault for each of %d", err, c.gone)
						}
						if err := s.callOffApproval(t.Context(), ap.id); err != nil {
							t.Fatal(err)
						}
						if n := count(t, s, "SELECT count(*) FROM approval_run") + count(t, s, "SELECT count(*) FROM approval"); n != 0 {
							t.Errorf("%d rows of the approval are left", n)
						}
						return
					}
					if err != nil {
						t.Fatal(err)
					}
					if got := len(ap.approved()); got != good-c.gone {
						t.Errorf("approved %d entries, want %d less %d", got, good, c.gone)
					}
					if n := count(t, s, "SELECT count(*) FROM entry WHERE released_at = (SELECT max(released_at) FROM entry)"); n != good-c.gone {
						t.Errorf("%d entries were released by it, want %d less %d", n, good, c.gone)
					}
					wantIntact(t, s)
				})
			}
		}
	}
}

func editEntry(t *testing.T, s *Store, av seqlease.AccessionVersion) {
	t.Helper()
	data := []byte(`{"metadata":{},"unalignedNucleotideSequences":{}}`)
	if err := s.Edit(t.Context(), submission.Edit{Organism: storetest.WestNile, User: "anna", AccessionVersion: av, Data: data}); err != nil {
		t.Fatal(err)
	}
}

func editFit(t *testing.T, s *Store, fit []seqlease.AccessionVersion) func() {
	return func() { editEntry(t, s, fit[700]) }
}

// editLast has more entries looked at again than fit into one transaction, the edited one last.
func editLast(t *testing.T, s *Store, fit []seqlease.AccessionVersion) func() {
	return func() {
		s.changes.note(storetest.WestNile, fit...)
		editEntry(t, s, fit[700])
	}
}

func releaseFit(t *testing.T, s *Store, fit []seqlease.AccessionVersion) func() {
	return func() {
		released, err := s.Approve(t.Context(), approvalOf(fit[3:6]...))
		if err != nil || len(released) != 3 {
			t.Fatalf("released %d entries, %v, want 3", len(released), err)
		}
		mustExec(t, outsider(t, s), "UPDATE entry SET released_at = released_at - 1000000") // another instant
	}
}

// processAnew has an entry claimed again, whose result is replaced.
func processAnew(outcome seqlease.ProcessingResult) func(t *testing.T, s *Store, fit []seqlease.AccessionVersion) func() {
	return func(t *testing.T, s *Store, fit []seqlease.AccessionVersion) func() {
		again := fit[700:701]
		if n, _, err := s.Reprocess(t.Context(), queue.Selection{Organism: storetest.WestNile, Entries: again}, 0, 10); err != nil || n != 1 {
			t.Fatalf("%d entries are processed again, %v, want 1", n, err)
		}
		lease, err := s.Claim(t.Context(), benchClaim(1))
		if err != nil || !cmp.Equal(entriesOf(lease), again) {
			t.Fatalf("claimed %v, %v, want %v", entriesOf(lease), err, again)
		}
		r := benchResults(lease, packedBody(50))
		r.Lines[0].Result = outcome
		return func() {
			if _, err := s.AcceptResults(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// If another version becomes the current one before the decision, its results decide.
func TestApprove_V1_SwitchBeforeTheDecision(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	_, fit := submitJudged(t, s)
	ap, next := begun(t, s, approvalOf(), ready)
	db := outsider(t, s)
	mustExec(t, db, `INSERT INTO result (pipeline_version, entry_id, revision, attempt_id, organism_id, outcome, digest, dictionary_id, processed_at, claimed_by, body)
		SELECT 2, entry_id, revision, attempt_id, organism_id, iif(entry_id > 700, 'HAS_ERRORS', outcome), digest, dictionary_id, 0, '', body FROM result`)
	mustExec(t, db, "UPDATE organism SET current_pipeline_version = 2 WHERE id = (SELECT organism_id FROM entry LIMIT 1)")
	if _, err := goOn(t, next, 1); !errors.Is(err, errVersionMoved) {
		t.Fatalf("the decision ended with %v", err)
	}
	if err := s.callOffApproval(t.Context(), ap.id); err != nil {
		t.Fatal(err)
	}
	approved, err := s.Approve(t.Context(), approvalOf())
	if err != nil || !cmp.Equal(approved, fit[:560]) {
		t.Errorf("approved %d entries, %v, want 560", len(approved), err)
	}
	wantNoApproval(t, s, 560)
}

// An approval that was decided, and whose rows could not be written, is ended by the next one.
func TestApprove_NextOneEndsWhatIsLeft(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	_, fit := submitJudged(t, s)
	begun(t, s, approvalOf(fit[:600]...), settled)
	approved, err := s.approveMany(t.Context(), approvalOf())
	if err != nil || len(approved) != good-600 {
		t.Errorf("approved %d entries, %v, want %d", len(approved), err, good-600)
	}
	if n := count(t, s, "SELECT count(*) FROM approval") + count(t, s, "SELECT count(*) FROM approval_run"); n != 0 {
		t.Errorf("%d rows of approvals are left", n)
	}
	if n := count(t, s, "SELECT count(*) FROM entry WHERE released_at IS NOT NULL"); n != good {
		t.Errorf("%d entries are released, want %d", n, good)
	}
}

// Claims and results go on while very many entries are released: as many as the approval
// has transactions.
func TestApprove_L2_ClaimsGoOn(t *testing.T) {
	t.Parallel()
	const n = 30_000
	s := newStore(t)
	versions := mustSubmit(t, s, groupUpload(t, s, n))
	if err := giveResults(t.Context(), outsider(t, s), "FALSE", packedBody(400)); err != nil {
		t.Fatal(err)
	}
	mustSubmit(t, s, groupUpload(t, s, 20_000)) // there is always something to claim
	type answer struct {
		approved []seqlease.AccessionVersion
		err      error
	}
	done := make(chan answer, 1)
	go func() {
		approved, err := s.Approve(t.Context(), approvalOf(versions...))
		done <- answer{approved, err}
	}()
	turns := 0
	for {
		select {
		case got := <-done:
			if got.err != nil || !slices.Equal(got.approved, versions) {
				t.Errorf("approved %d entries, %v, want %d", len(got.approved), got.err, n)
			}
			if least := n / partEntries; turns < least {
				t.Errorf("%d claims and submissions were answered while %d entries were released, want at least %d", turns, n, least)
			}
			wantNoApproval(t, s, n)
			return
		default:
			lease, err := s.Claim(t.Context(), benchClaim(5))
			if err != nil || len(lease.Entries) != 5 {
				t.Fatalf("claimed %d entries, %v, want 5", len(lease.Entries), err)
			}
			if _, err := s.AcceptResults(t.Context(), benchResults(lease, packedBody(50))); err != nil {
				t.Fatal(err)
			}
			turns += 2
		}
	}
}

// A process that is killed while it approves releases all entries or none, wherever it is:
// here once before and once after the decision, as an outsider sees it.
func TestOpen_L13_KilledInAnApproval(t *testing.T) {
	t.Parallel()
	const entries = 40 * partEntries
	for _, c := range []struct {
		name, until string
		released    []int
	}{
		{"before the decision", "SELECT EXISTS (SELECT 1 FROM approval_run) + EXISTS (SELECT 1 FROM entry WHERE released_at IS NOT NULL)", []int{0, entries}}, // the signal may be late
		{"while it writes", "SELECT EXISTS (SELECT 1 FROM entry WHERE released_at IS NOT NULL)", []int{entries}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := killedOnce(t, c.until, childApproves+"="+strconv.Itoa(entries))
			n := count(t, s, "SELECT count(*) FROM entry WHERE released_at IS NOT NULL")
			if !slices.Contains(c.released, n) {
				t.Errorf("%d entries are released, want one of %v", n, c.released)
			}
			wantNoApproval(t, s, n)
		})
	}
}
