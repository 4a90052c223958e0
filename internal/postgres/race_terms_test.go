package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

// What is done to groups, members and terms is in the audit log, and nothing else.
func TestAudit_GroupsAndTerms(t *testing.T) {
	t.Parallel()
	h := newHarness("", postgres.Options{})
	s := h.open(t)
	want := storetest.ChangeGroupsAndTerms(t, s)
	rows, err := s.Pool().Query(t.Context(), `
		SELECT concat_ws('|', a.user_name, a.action, coalesce(a.group_id, 0), coalesce(o.key, ''), a.entries, a.detail)
		FROM audit AS a LEFT JOIN organism AS o ON o.id = a.organism_id
		WHERE a.action = ANY ($1) ORDER BY a.number`, storetest.GroupAndTermsActions)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("audit log (-got +want):\n%s", diff)
	}
}

// A member who is removed while their own change waits for the group's lock may not
// make it any more.
func TestMember_MembershipIsTestedBehindTheLock(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	anna := submission.Actor{Name: "anna"}
	for name, change := range map[string]func() error{
		"edit": func() error {
			return g.EditGroup(context.Background(), g.group.GroupID, seqlease.NewGroup{GroupName: "X"}, anna)
		},
		"add":    func() error { return g.AddMember(context.Background(), g.group.GroupID, "carla", anna) },
		"remove": func() error { return g.RemoveMember(context.Background(), g.group.GroupID, "bert", anna) },
	} {
		g.exec(t, "INSERT INTO group_member VALUES (1, 'anna'), (1, 'bert') ON CONFLICT DO NOTHING")
		g.exec(t, "BEGIN")
		g.exec(t, "SELECT FROM submitting_group WHERE id = 1 FOR NO KEY UPDATE")
		changed := later(change)
		g.awaitStopped(t, 1)
		g.exec(t, "DELETE FROM group_member WHERE user_name = 'anna'")
		g.exec(t, "COMMIT")
		if err := <-changed; !errors.Is(err, seqlease.ErrForbidden) {
			t.Errorf("%s: got %v, want %v", name, err, seqlease.ErrForbidden)
		}
	}
	if n := g.ask(t, "SELECT count(*) FROM group_member WHERE user_name = 'bert'"); n != 1 {
		t.Error("bert was removed")
	}
}

// Terms that were changed while another change waited for the entry's lock decide
// whether that one is allowed.
func TestTerms_TransitionIsTestedBehindTheLock(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	accession := submitN(t, g.Store, g.group.GroupID, 1)[0].Accession
	g.exec(t, "INSERT INTO data_use_terms (accession, restricted, restricted_until, user_name) SELECT accession, true, '2030-05-06', 'anna' FROM entry")
	g.exec(t, "BEGIN")
	g.exec(t, "SELECT FROM entry FOR UPDATE")
	changed := later(func() error {
		return g.ChangeTerms(context.Background(), submission.TermsChange{
			Accessions: []seqlease.Accession{accession}, By: "bert",
			Terms: seqlease.DataUseTerms{Type: seqlease.TermsRestricted, RestrictedUntil: time.Date(2030, 5, 1, 0, 0, 0, 0, time.UTC)},
		})
	})
	g.awaitStopped(t, 1)
	g.exec(t, "INSERT INTO data_use_terms (accession, restricted, user_name) SELECT accession, false, 'carla' FROM entry")
	g.exec(t, "COMMIT")
	if err := <-changed; !errors.Is(err, seqlease.ErrState) {
		t.Errorf("got %v, want %v", err, seqlease.ErrState)
	}
	if n := g.ask(t, "SELECT count(*) FROM data_use_terms"); n != 2 {
		t.Errorf("the history has %d steps, want 2", n)
	}
}

// A rename reaches approvals of any organism that commit before it: it counts for
// all of them, whatever it saw as released.
func TestGroup_RenameCountsForWhatIsReleasedMeanwhile(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	versions := submitN(t, g.Store, g.group.GroupID, 1)
	if _, err := g.AcceptResults(t.Context(), packedAnswer(g.Store, g.mustClaim(t, askFor(1)))); err != nil {
		t.Fatal(err)
	}
	g.stopAt(t, "BEFORE UPDATE ON submitting_group")
	renamed := later(func() error {
		return g.EditGroup(context.Background(), g.group.GroupID, seqlease.NewGroup{GroupName: "New"}, submission.Actor{AnyGroup: true})
	})
	g.awaitStopped(t, 1)
	approved, err := g.Approve(t.Context(), submission.Approval{
		Organism: storetest.WestNile, Approver: "anna", Scope: seqlease.ApproveAll, Entries: versions,
	})
	if err != nil || len(approved) != 1 {
		t.Fatalf("approved %v: %v", approved, err)
	}
	before := g.releasedName(t)
	g.goOn(t)
	if err := <-renamed; err != nil {
		t.Fatal(err)
	}
	after := g.releasedName(t)
	if before.name == "New" || after.name != "New" || after.mark <= before.mark {
		t.Errorf("released as %+v and then as %+v", before, after)
	}
}

type nameUnderMark struct{ mark, name string }

func (g *stage) releasedName(t *testing.T) (n nameUnderMark) {
	t.Helper()
	err := g.ReadReleased(t.Context(), storetest.WestNile,
		func(head submission.ReleasedHead) error { n.mark = head.Mark; return nil },
		func(e submission.ReleasedEntry) error { n.name = e.GroupName; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return n
}
