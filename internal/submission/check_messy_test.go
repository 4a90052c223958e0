package submission_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/intake"
	"github.com/seqlease/seqlease/internal/spool"
	"github.com/seqlease/seqlease/internal/submission"
)

// arriving is a file that is written while it is read, in small pieces. wrote is
// called when it is whole.
func arriving(t *testing.T, dir *spool.Dir, f *intake.File, wrote chan<- error) *intake.File {
	t.Helper()
	disk, err := dir.CreateScratch()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = disk.Close() })
	go func() {
		source, err := f.Open()
		if err == nil {
			_, err = io.CopyBuffer(struct{ io.Writer }{disk}, struct{ io.Reader }{source}, make([]byte, 37))
			err = errors.Join(err, source.Close())
		}
		disk.Finish(err)
		wrote <- err
	}()
	return &intake.File{Name: f.Name, Open: func() (io.ReadCloser, error) { return disk.Follow(time.Minute), nil }}
}

// TestCheck_BothWaysAgree has each set of messy files checked while its sequences
// arrive and when all have come: the answers are the same to the letter.
func TestCheck_BothWaysAgree(t *testing.T) {
	t.Parallel()
	const messy = "../../testdata/messy"
	folders, err := os.ReadDir(messy)
	if err != nil {
		t.Fatal(err)
	}
	early := 0
	for _, folder := range folders {
		metadata, _ := filepath.Glob(filepath.Join(messy, folder.Name(), "metadata*"))
		sequences, _ := filepath.Glob(filepath.Join(messy, folder.Name(), "sequences*"))
		if len(metadata) != 1 || len(sequences) != 1 {
			continue
		}
		h := open(t, submission.TermsOptions{}, nil)
		request := submission.SubmitRequest{
			Organism: zika, GroupID: h.group, Metadata: onDisk(metadata[0]), Sequences: onDisk(sequences[0]),
		}
		wrote := make(chan error, 1)
		ahead := request
		var opened atomic.Int64
		ahead.Sequences = counted(request.Sequences, &opened)
		ahead.Check = h.BeginCheck(t.Context(), submission.Arriving{
			Organism: zika, Metadata: request.Metadata, Sequences: arriving(t, h.spool, request.Sequences, wrote),
		}, func(int64) bool { return true })
		made, err := h.Submit(t.Context(), anna, ahead)
		ahead.Check.Close()
		if failed := <-wrote; failed != nil {
			t.Fatal(failed)
		}
		again, errAgain := h.Submit(t.Context(), anna, request)
		if got, want := outcome(made, err), outcome(again, errAgain); got != want {
			t.Errorf("%s, while it arrived and when it was there (-, +):\n%s", folder.Name(), cmp.Diff(got, want))
		}
		if opened.Load() == 0 {
			early++
		}
	}
	if early < 60 {
		t.Errorf("%d sets were checked while they arrived; the others were looked at twice", early)
	}
}

// outcome is what a submission answers, without what differs each time.
func outcome(made []seqlease.SubmissionIDMapping, err error) string {
	if err != nil {
		return err.Error()
	}
	ids := make([]string, len(made))
	for i, m := range made {
		ids[i] = m.SubmissionID
	}
	return strings.Join(ids, "\n")
}
