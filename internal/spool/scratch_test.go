package spool

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/seqlease/seqlease"
)

func newScratch(t *testing.T, d *Dir) *Scratch {
	t.Helper()
	s, err := d.CreateScratch()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestScratch_IsReadFromAnyPlaceAndHasNoName(t *testing.T) {
	t.Parallel()
	d := NewDir(t.TempDir(), 0)
	s := newScratch(t, d)
	for _, piece := range []string{"ACGT", "", "TTGCA"} {
		if _, err := io.WriteString(s, piece); err != nil {
			t.Fatal(err)
		}
	}
	if names, err := os.ReadDir(d.Path()); err != nil || len(names) > 0 {
		t.Errorf("files %v, error %v: a killed process would leave them behind", names, err)
	}
	for range 2 {
		if got, err := io.ReadAll(s.Open()); string(got) != "ACGTTTGCA" || err != nil {
			t.Errorf("read %q, %v", got, err)
		}
	}
	middle := make([]byte, 3)
	if _, err := s.ReadAt(middle, 3); string(middle) != "TTT" || err != nil {
		t.Errorf("read %q, %v", middle, err)
	}
	if s.Size() != 9 || d.Used() != 9 {
		t.Errorf("size %d, used %d, want 9", s.Size(), d.Used())
	}
	for range 2 {
		if err := s.Close(); err != nil || d.Used() != 0 {
			t.Errorf("closed: %v, used %d", err, d.Used())
		}
	}
}

func TestScratch_CountsTowardsTheLimitOfAllFiles(t *testing.T) {
	t.Parallel()
	d := NewDir(t.TempDir(), 100)
	first, second := newScratch(t, d), newScratch(t, d)
	if _, err := io.WriteString(first, strings.Repeat("x", 60)); err != nil {
		t.Fatal(err)
	}
	n, err := io.WriteString(second, strings.Repeat("x", 41))
	if n != 0 || !errors.Is(err, ErrFull) || !errors.Is(err, seqlease.ErrBusy) {
		t.Errorf("wrote %d bytes beyond the limit: %v", n, err)
	}
	if _, err := io.WriteString(second, strings.Repeat("x", 40)); err != nil {
		t.Errorf("up to the limit: %v", err)
	}
	if _, err := d.CreateScratch(); !errors.Is(err, ErrFull) {
		t.Errorf("a further file: %v, want that the space is used up", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(second, strings.Repeat("x", 60)); err != nil {
		t.Errorf("with space given back: %v", err)
	}
}

// TestScratch_FindsRoomBesideHeldAnswers fills all that answers may take.
func TestScratch_FindsRoomBesideHeldAnswers(t *testing.T) {
	t.Parallel()
	d := NewDir(t.TempDir(), 4<<20)
	held := create(t, d)
	content := lines(1000)
	var err error
	for err == nil {
		_, err = held.Write(content)
	}
	if err := held.Finish(err); !errors.Is(err, ErrFull) {
		t.Fatalf("got %v, want %v", err, ErrFull)
	}
	s := newScratch(t, d)
	if _, err := s.Write(make([]byte, 1<<20)); err != nil {
		t.Errorf("an upload beside %d bytes of answers: %v", d.Used(), err)
	}
	held.Release()
	if d.Used() != 1<<20 || d.answers.Load() != 0 {
		t.Errorf("%d bytes used, %d by answers, want 1 MiB by the upload alone", d.Used(), d.answers.Load())
	}
	next := create(t, d)
	if err := next.Finish(nil); err != nil {
		t.Errorf("an answer when there is room again: %v", err)
	}
	next.Release()
}

func TestScratch_FullDiskIsStorageFull(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no /dev/full here:", err)
	}
	d := NewDir(t.TempDir(), 0)
	s := &Scratch{growth: growth{disk: full}, dir: d, unnamed: true}
	_, err = s.Write([]byte("x"))
	if !errors.Is(err, seqlease.ErrStorageFull) || errors.Is(err, seqlease.ErrBusy) || strings.Contains(seqlease.Explanation(err), "/dev") {
		t.Errorf("got %v, want that the storage is full, and no path in its explanation", err)
	}
	if err := s.Close(); err != nil || d.Used() != 0 {
		t.Errorf("closed: %v, used %d", err, d.Used())
	}
}
