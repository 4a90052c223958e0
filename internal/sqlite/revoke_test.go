package sqlite

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

// revocationOf revokes the accessions of the entries.
func revocationOf(versions []seqlease.AccessionVersion) submission.Revocation {
	r := submission.Revocation{Organism: storetest.WestNile, User: "anna", Data: []byte(`{"metadata":{},"unalignedNucleotideSequences":{}}`)}
	for _, av := range versions {
		r.Accessions = append(r.Accessions, av.Accession)
	}
	return r
}

// Revocations are seen all at once. A server that ends in the midst of them leaves
// nothing that the next one doesn't remove.
func TestOpen_L1_LeftoversOfRevocationsAreRemoved(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	versions := releasedEntries(t, s, 2*partEntries+1)
	r := revocationOf(versions)
	packed, err := s.Pack(r.Organism, r.Data)
	if err != nil {
		t.Fatal(err)
	}
	rev := &revocation{Revocation: r, packed: packed}
	if err := rev.look(t.Context(), s.readOnce()); err != nil {
		t.Fatal(err)
	}
	if err := s.write(t.Context(), rev.begin); err != nil {
		t.Fatal(err)
	}
	if err := s.storeParts(t.Context(), rev); err != nil {
		t.Fatal(err)
	}
	if n := seen(t, s, versionsOf(rev.mapping)); n != 0 || len(rev.mapping) != len(versions) {
		t.Errorf("%d of %d revocations that aren't complete are seen", n, len(rev.mapping))
	}
	if _, err := s.Revoke(t.Context(), revocationOf(versions[:1])); !errors.Is(err, seqlease.ErrBusy) {
		t.Errorf("a revocation over one that wasn't published: %v, want that the store is busy", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(t.Context(), Options{Path: path}); err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // the test is over
	if n := count(t, s, "SELECT count(*) FROM entry"); n != len(versions) {
		t.Errorf("%d entries are left, want the %d that were there", n, len(versions))
	}
	wantNoDeletion(t, s)
	if err := s.Register(t.Context(), storetest.Organisms()); err != nil {
		t.Fatal(err)
	}
	made, err := s.Revoke(t.Context(), revocationOf(versions))
	if err != nil || len(made) != len(versions) || made[0].Version != 2 || made[7].SubmissionID != "sample-7" {
		t.Fatalf("revoked %d entries, %v; want %d with version 2 and their submission ids", len(made), err, len(versions))
	}
	if n := count(t, s, "SELECT count(*) FROM submitted AS d JOIN entry AS e ON e.id = d.entry_id WHERE e.is_revocation"); n != len(versions) {
		t.Errorf("%d revocations have data, want %d", n, len(versions))
	}
	if n := count(t, s, "SELECT entries FROM audit WHERE action = 'revoke'"); n != len(versions) {
		t.Errorf("the audit log tells of %d revocations, want %d", n, len(versions))
	}
}

// Claims get their turns while very many entries are revoked.
func TestRevoke_L2_ClaimsGoOn(t *testing.T) {
	t.Parallel()
	const n = submission.MaxRevoked
	s := newStore(t)
	versions := releasedEntries(t, s, n)
	mustExec(t, outsider(t, s), "DELETE FROM ticket_run") // of entries that are released
	mustSubmit(t, s, groupUpload(t, s, 20_000))
	done := make(chan error, 1)
	go func() {
		made, err := s.Revoke(t.Context(), revocationOf(versions))
		if err == nil && len(made) != n {
			err = errRevisions
		}
		done <- err
	}()
	claims := 0
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			if least := n / partEntries; claims < least {
				t.Errorf("%d claims were answered while %d entries were revoked, want at least %d", claims, n, least)
			}
			return
		default:
			if list := mustClaim(t, s, 5); len(list) != 5 {
				t.Fatalf("claim %d got %d entries, want 5", claims+1, len(list))
			}
			claims++
		}
	}
}
