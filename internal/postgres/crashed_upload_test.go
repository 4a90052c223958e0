package postgres_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/pgcluster"
	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

// stopBefore yields the entries, and waits before the n-th of them until goOn.
func stopBefore(n int, entries iter.Seq2[submission.PackedEntry, error]) (stopped iter.Seq2[submission.PackedEntry, error], goOn func()) {
	wait := make(chan struct{})
	return func(yield func(submission.PackedEntry, error) bool) {
		i := 0
		for e, err := range entries {
			if i++; i == n {
				<-wait
			}
			if !yield(e, err) {
				return
			}
		}
	}, func() { close(wait) }
}

// A PostgreSQL that is killed while an upload and a revision have stored their first
// parts has nothing of them when it is back, neither entries nor tickets, terms or
// keys: the same uploads under the same keys are stored whole.
func TestSubmit_L1_WhatWasUnderWayAtACrashIsGone(t *testing.T) {
	t.Parallel()
	const n = 3500 // more than the first two parts
	c, address := newCluster(t)
	h := newHarness("", postgres.Options{})
	before := h.join(t, &database{address: address})
	group := register(t, before).GroupID
	released := submitN(t, before, group, n)
	run(t, connect(t, address), "UPDATE entry SET approver = 'root', released_at = submitted_at", "CHECKPOINT")

	upload := smallUpload(before, group, n)
	upload.Terms = seqlease.DataUseTerms{Type: seqlease.TermsRestricted, RestrictedUntil: time.Now().AddDate(0, 1, 0)}
	upload.Key = &submission.UploadKey{Key: "new", Digest: [32]byte{1}}
	revision := submission.Revision{
		Organism: storetest.WestNile, Submitter: "anna", Entries: smallUpload(before, group, n).Entries,
		Key: &submission.UploadKey{Key: "next", Digest: [32]byte{2}},
	}
	for _, av := range released {
		revision.Accessions = append(revision.Accessions, av.Accession)
	}
	heldUpload, heldRevision := upload, revision
	var goOn [2]func()
	heldUpload.Entries, goOn[0] = stopBefore(n, upload.Entries)
	heldRevision.Entries, goOn[1] = stopBefore(n, revision.Entries)
	uploaded := later(func() error { _, err := before.Submit(context.Background(), heldUpload); return err })
	revised := later(func() error { _, err := before.Revise(context.Background(), heldRevision); return err })
	observer := connect(t, address)
	waitFor(t, func() bool {
		var parts int
		err := observer.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction' "+
			"AND query LIKE '%COPY %' AND pid <> pg_backend_pid()").Scan(&parts)
		return err == nil && parts == 2
	})

	outage, err := c.Kill9()
	if errors.Is(err, pgcluster.ErrNotOurs) {
		goOn[0]()
		goOn[1]()
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, resume := range goOn {
		resume()
	}
	for what, ended := range map[string]<-chan error{"upload": uploaded, "revision": revised} {
		if err := <-ended; err == nil {
			t.Errorf("the %s was stored by a server that was killed", what)
		}
	}
	if err := outage.End(t.Context()); err != nil {
		t.Fatal(err)
	}

	s := h.join(t, &database{address: address}) // as a server that is started again
	if err := s.Register(t.Context(), storetest.Organisms()); err != nil {
		t.Fatal(err)
	}
	g := &stage{Store: s, other: connect(t, address)}
	g.wantCounts(t, map[string]int64{"entry": n, "ticket": n, "data_use_terms": 0, "upload_key": 0, "audit WHERE action = 'revise'": 0})
	made, err := s.Submit(t.Context(), upload)
	if err != nil || len(made) != n {
		t.Errorf("submitted %d entries again, %v, want %d", len(made), err, n)
	}
	if made, err = s.Revise(t.Context(), revision); err != nil || len(made) != n {
		t.Errorf("revised %d entries again, %v, want %d", len(made), err, n)
	}
	g.wantCounts(t, map[string]int64{"entry": 3 * n, "ticket": 3 * n, "data_use_terms": n, "upload_key": 2, "entry WHERE version = 2": n})
}
