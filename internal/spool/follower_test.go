package spool

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
	"time"
)

const patient = time.Minute

// A follower sees all that is written, in whatever pieces, and then how it ended.
func TestFollower_ReadsWhatIsBeingWritten(t *testing.T) {
	t.Parallel()
	broken := errors.New("the client left")
	for name, end := range map[string]error{"whole": nil, "broken": broken} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScratch(t, NewDir(t.TempDir(), 0))
			want := bytes.Repeat([]byte("ACGTTGCA"), 10_000)
			written := make(chan error, 1)
			go func() {
				var err error
				for rest := want; len(rest) > 0 && err == nil; {
					piece := rest[:min(len(rest), 777)]
					rest = rest[len(piece):]
					_, err = s.Write(piece)
				}
				s.Finish(end)
				s.Finish(errors.New("said twice"))
				written <- err
			}()
			got, err := io.ReadAll(iotest.OneByteReader(s.Follow(patient)))
			if !bytes.Equal(got, want) || !errors.Is(err, end) {
				t.Errorf("read %d bytes and error %v, want %d and %v", len(got), err, len(want), end)
			}
			if err := <-written; err != nil {
				t.Error(err)
			}
			if again, err := io.ReadAll(s.Follow(patient)); !bytes.Equal(again, want) || !errors.Is(err, end) {
				t.Errorf("read again %d bytes and error %v", len(again), err)
			}
		})
	}
}

func TestFollower_DoesNotWaitForever(t *testing.T) {
	t.Parallel()
	s := newScratch(t, NewDir(t.TempDir(), 0))
	if _, err := s.Write([]byte("ACGT")); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(s.Follow(time.Millisecond)); string(got) != "ACGT" || !errors.Is(err, ErrStalled) {
		t.Errorf("read %q and error %v, want ErrStalled", got, err)
	}
	if _, err := s.Follow(time.Millisecond).Seek(0, io.SeekEnd); !errors.Is(err, ErrStalled) {
		t.Errorf("sought the end: %v, want ErrStalled", err)
	}
}

// A follower that has failed once doesn't go on when the file does.
func TestFollower_FailsForGood(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(f *Follower) error{
		"reading":  func(f *Follower) error { _, err := io.ReadAll(f); return err },
		"the size": func(f *Follower) error { _, err := f.Seek(0, io.SeekEnd); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScratch(t, NewDir(t.TempDir(), 0))
			f := s.Follow(time.Millisecond)
			if err := first(f); !errors.Is(err, ErrStalled) {
				t.Fatalf("got %v, want ErrStalled", err)
			}
			if _, err := s.Write([]byte("ACGT")); err != nil {
				t.Fatal(err)
			}
			s.Finish(nil)
			if n, err := f.Read(make([]byte, 4)); n != 0 || !errors.Is(err, ErrStalled) {
				t.Errorf("read %d bytes and error %v, want ErrStalled", n, err)
			}
			if size, err := f.Seek(0, io.SeekEnd); !errors.Is(err, ErrStalled) {
				t.Errorf("the end is at %d (%v), want ErrStalled", size, err)
			}
		})
	}
}

// The end of a file is where it is when it is whole.
func TestFollower_FindsTheEndOfAWholeFile(t *testing.T) {
	t.Parallel()
	s := newScratch(t, NewDir(t.TempDir(), 0))
	written := make(chan error, 1)
	go func() {
		var err error
		for range 10 {
			_, failed := s.Write([]byte("ACGT"))
			err = errors.Join(err, failed)
		}
		s.Finish(nil)
		written <- err
	}()
	f := s.Follow(patient)
	if size, err := f.Seek(0, io.SeekEnd); size != 40 || err != nil {
		t.Errorf("the end is at %d (%v), want 40", size, err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
	if _, err := f.Seek(3, io.SeekStart); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("sought another place: %v", err)
	}
	middle := make([]byte, 3)
	if _, err := f.ReadAt(middle, 2); string(middle) != "GTA" || err != nil {
		t.Errorf("read %q, %v", middle, err)
	}
	broken := newScratch(t, NewDir(t.TempDir(), 0))
	broken.Finish(io.ErrUnexpectedEOF)
	if _, err := broken.Follow(patient).Seek(0, io.SeekEnd); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("sought the end of a broken file: %v", err)
	}
}
