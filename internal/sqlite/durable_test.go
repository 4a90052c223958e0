package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// Results are answered when they are on the disk; claims needn't be, and nobody
// else waits meanwhile.
func TestWrite_AnswersWaitForTheDisk(t *testing.T) {
	t.Parallel()
	s, _, _ := submitted(t, 2)
	reached, disk := make(chan struct{}), make(chan error)
	s.writer.log.sync = func() error {
		reached <- struct{}{}
		return <-disk
	}
	lease, err := s.Claim(t.Context(), benchClaim(1)) // would never return if it waited
	if err != nil || len(lease.Entries) != 1 {
		t.Fatalf("claimed %d entries, %v, want 1", len(lease.Entries), err)
	}
	accepted := make(chan error, 1)
	go func() {
		_, err := s.AcceptResults(t.Context(), benchResults(lease, packedBody()))
		accepted <- err
	}()
	<-reached
	if n := count(t, s, "SELECT count(*) FROM result"); n != 1 {
		t.Errorf("%d results are committed, want 1", n)
	}
	other, err := s.Claim(t.Context(), benchClaim(1))
	if err != nil || len(other.Entries) != 1 {
		t.Errorf("claimed %d entries meanwhile, %v, want 1", len(other.Entries), err)
	}
	select {
	case err := <-accepted:
		t.Errorf("the results were answered with %v before they were on the disk", err)
	default:
	}
	disk <- nil
	if err := <-accepted; err != nil {
		t.Errorf("accept: %v", err)
	}
	s.writer.log.sync = func() error { return nil }
}

// Commits that wait for the disk at the same time share the wait.
func TestWrite_WaitsForTheDiskAreShared(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	const n = 20
	reached, disk := make(chan struct{}), make(chan error)
	syncs := 0
	s.writer.log.sync = func() error {
		syncs++
		reached <- struct{}{}
		return <-disk
	}
	done := make(chan error, n)
	create := func() {
		_, err := s.CreateGroup(t.Context(), seqlease.NewGroup{GroupName: "lab"}, "anna")
		done <- err
	}
	go create()
	<-reached
	for range n - 1 {
		go create()
	}
	committed := func() int64 { return int64(count(t, s, "SELECT count(*) FROM submitting_group")) }
	for before := committed(); before < n; before = committed() {
		if err := s.writeLosing(t.Context(), func(context.Context, *tx) error { return nil }); err != nil { // lets others pass
			t.Fatal(err)
		}
	}
	// What the writer commits is handed over before the next write begins.
	if err := s.writeLosing(t.Context(), func(context.Context, *tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	disk <- nil
	<-reached
	disk <- nil
	for range n {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if syncs != 2 {
		t.Errorf("the disk was waited for %d times, want twice", syncs)
	}
}

// After the disk failed nothing tells what it holds: nothing is accepted any more,
// until the store is opened again.
func TestWrite_FailedDiskRefusesWrites(t *testing.T) {
	t.Parallel()
	s, _, _ := submitted(t, 2)
	lease, err := s.Claim(t.Context(), benchClaim(1))
	if err != nil {
		t.Fatal(err)
	}
	failed := errors.New("the disk is gone")
	s.writer.log.sync = func() error { return failed }
	if _, err := s.AcceptResults(t.Context(), benchResults(lease, packedBody())); !errors.Is(err, failed) {
		t.Errorf("got error %v for results that may be lost, want %v", err, failed)
	}
	s.writer.log.sync = func() error { return nil }
	before := snapshot(t, s)
	if _, err := s.Claim(t.Context(), benchClaim(1)); !errors.Is(err, failed) {
		t.Errorf("claim: got error %v, want %v", err, failed)
	}
	if _, err := s.GiveBack(t.Context(), queue.GiveBack{AttemptID: lease.AttemptID, ClaimedBy: "pipeline"}); !errors.Is(err, failed) {
		t.Errorf("give back: got error %v, want %v", err, failed)
	}
	if after := snapshot(t, s); after != before {
		t.Errorf("refused writes changed %s to %s", before, after)
	}
	if err := s.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), failed.Error()) {
		t.Errorf("ready: got error %v, want %v", err, failed)
	}
}

// The log comes into the file beside the writer, and begins anew then.
func TestCheckpoint_EmptiesTheLog(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	u := groupUpload(t, s, 10)
	for range 3 {
		release := holdWriter(t, s) // the checkpoint doesn't need it
		s.writer.checkpoint.look()
		release()
		u.Entries = benchEntries(s, 10_000)
		mustSubmit(t, s, u)
		s.writer.checkpoint.look()
		pages, kept, err := checkpoint(t.Context(), s.writer.checkpoint.db, "NOOP")
		if err != nil || pages-kept >= checkpointPages {
			t.Errorf("%d of the log's %d pages are in the file, %v", kept, pages, err)
		}
		if pages > logPages {
			t.Errorf("the log has %d pages, want it to begin anew", pages)
		}
	}
	signal(s.writer.checkpoint.rest)
	if err := s.write(t.Context(), func(context.Context, *tx) error { return nil }); err != nil {
		t.Error(err)
	}
	wantIntact(t, s)
}

// A log that the disk failed to take stays as it is: what it seems to hold may be
// something else when it is read back, and only opening the store again tests it.
func TestCheckpoint_LeavesAFailedLogAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	u := groupUpload(t, s, 20_000)
	err = s.read(t.Context(), func(r *tx) error { // an old snapshot keeps what follows in the log
		if err := r.row(t.Context(), "any_ended", nil, new(bool)); err != nil {
			return err
		}
		mustSubmit(t, s, u)
		s.writer.log.sync = func() error { return errors.New("the disk is gone") }
		if _, err := s.CreateGroup(t.Context(), seqlease.NewGroup{GroupName: "lab"}, "anna"); err == nil {
			return errors.New("a write is accepted")
		}
		for range 2 { // the second has room when a look from before the failure has ended
			s.writer.checkpoint.wake <- struct{}{}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	pages, before, err := checkpoint(t.Context(), s.writer.checkpoint.db, "NOOP")
	if err != nil || pages-before < checkpointPages {
		t.Fatalf("%d of the log's %d pages are in the file, %v", before, pages, err)
	}
	s.writer.checkpoint.look()
	signal(s.writer.checkpoint.rest)
	if err := s.write(t.Context(), func(context.Context, *tx) error { return nil }); err == nil {
		t.Error("a write is accepted")
	}
	if _, kept, err := checkpoint(t.Context(), s.writer.checkpoint.db, "NOOP"); kept != before || err != nil {
		t.Errorf("%d pages are in the file, %v, want %d as before", kept, err, before)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() < checkpointPages<<12 {
		t.Errorf("the log was brought into the file: %v, %v", info, err)
	}
}
