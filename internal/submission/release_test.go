package submission_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// journey submits real genomes, processes and approves them.
func journey(t *testing.T, wrap func(submission.Store) submission.Store) *house {
	t.Helper()
	h := open(t, submission.TermsOptions{Enabled: true}, wrap)
	h.submitZika(t)
	h.process(t, func(r *seqlease.Result, id string) {
		if id == "PRVABC59" {
			r.Errors = annotation("looks odd")
		}
	})
	if _, err := h.Approve(t.Context(), anna, submission.ApproveRequest{Organism: zika, Scope: seqlease.ApproveAll}); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestReleased_FromSubmissionToDownload(t *testing.T) {
	t.Parallel()
	h := journey(t, nil)
	release, body := h.download(t)
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	if got, want := int64(len(lines)), release.Count; got != want || want != 44 {
		t.Errorf("got %d lines, %d counted, want 44", got, want)
	}
	if got := release.ETag; !regexp.MustCompile(`^"[!#-~]+\|\d{4}-\d\d-\d\d\|[0-9a-f]{16}"$`).MatchString(got) {
		t.Errorf("ETag %s is not \"mark|day|fingerprint\"", got)
	}
	var accessions []string
	for _, text := range lines {
		var line map[string]map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		var members []string
		for member := range line {
			members = append(members, member)
		}
		slices.Sort(members)
		want := []string{
			"alignedAminoAcidSequences", "alignedNucleotideSequences", "aminoAcidInsertions", "metadata", "nucleotideInsertions",
			"unalignedNucleotideSequences",
		}
		if diff := cmp.Diff(members, want); diff != "" {
			t.Fatalf("members (-got +want):\n%s", diff)
		}
		accessions = append(accessions, line["metadata"]["accession"].(string))
		sequence, _ := line["unalignedNucleotideSequences"]["main"].(string)
		if len(sequence) < 9_000 || sequence != strings.ToUpper(sequence) {
			t.Errorf("%v: a sequence of %d characters, want a genome in capitals", line["metadata"]["accessionVersion"], len(sequence))
		}
		if diff := cmp.Diff(line["nucleotideInsertions"], map[string]any{"main": []any{"61:T"}}); diff != "" {
			t.Errorf("insertions (-got +want):\n%s", diff)
		}
		if got, want := line["metadata"]["dataUseTerms"], "OPEN"; got != want {
			t.Errorf("terms: got %v, want %v", got, want)
		}
	}
	if !slices.IsSorted(accessions) {
		t.Errorf("not in order of accession: %v", accessions)
	}
}

func TestReleased_CompressedIsTheSameInOneFrame(t *testing.T) {
	t.Parallel()
	h := journey(t, nil)
	release, err := h.Released(t.Context(), zika, "")
	if err != nil {
		t.Fatal(err)
	}
	defer release.Close()
	frame := read(t, release, true)
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer decoder.Close()
	text, err := decoder.DecodeAll([]byte(frame), nil)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != read(t, release, false) {
		t.Error("the compressed body differs from the plain one")
	}
}

func TestReleased_NothingIsAnEmptyBody(t *testing.T) {
	t.Parallel()
	h := open(t, submission.TermsOptions{}, nil)
	release, body := h.download(t)
	if release.Count != 0 || body != "" {
		t.Errorf("got %d entries and %q, want nothing", release.Count, body)
	}
}

func TestReleased_NotModifiedUntilSomethingChanges(t *testing.T) {
	t.Parallel()
	h := journey(t, nil)
	first, _ := h.download(t)
	same, err := h.Released(t.Context(), zika, first.ETag)
	if err != nil {
		t.Fatal(err)
	}
	same.Close()
	if !same.NotModified || same.ETag != first.ETag {
		t.Errorf("got %+v, want not modified and %s", same, first.ETag)
	}
	h.submitSmall(t, anna, h.group, "later")
	h.process(t, nil)
	if _, err := h.Approve(t.Context(), anna, submission.ApproveRequest{Organism: zika, Scope: seqlease.ApproveAll}); err != nil {
		t.Fatal(err)
	}
	next, err := h.Released(t.Context(), zika, first.ETag)
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if next.NotModified || next.Count != first.Count+1 || next.ETag <= first.ETag {
		t.Errorf("got %+v after %+v, want one entry more and a higher ETag", next, first)
	}
	if _, err := h.Released(t.Context(), "fern", ""); !errors.Is(err, seqlease.ErrUnknownOrganism) {
		t.Errorf("unknown organism: got %v, want %v", err, seqlease.ErrUnknownOrganism)
	}
}

// gate is a store whose reading of released data waits and may break; it
// stands for a database that is slow or goes away.
type gate struct {
	submission.Store
	pass  chan struct{} // nil: doesn't wait
	after int           // breaks after so many entries; below 0 before the first word
	err   error
}

func (g *gate) ReadReleased(ctx context.Context, o seqlease.Organism, begin func(submission.ReleasedHead) error, yield func(submission.ReleasedEntry) error) error {
	if g.err != nil && g.after < 0 {
		return g.err
	}
	seen := 0
	return g.Store.ReadReleased(ctx, o, begin, func(e submission.ReleasedEntry) error {
		if g.pass != nil {
			select {
			case <-g.pass:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if seen++; g.err != nil && seen > g.after {
			return g.err
		}
		return yield(e)
	})
}

// TestReleased_L12_ClientsShareOneReading: those who ask for the same state while
// somebody still reads it get the same file; the file goes with the last of them.
func TestReleased_L12_ClientsShareOneReading(t *testing.T) {
	t.Parallel()
	g := &gate{pass: make(chan struct{})}
	h := journey(t, func(s submission.Store) submission.Store { g.Store = s; return g })
	first, err := h.Released(t.Context(), zika, "")
	if err != nil {
		t.Fatal(err)
	}
	second, err := h.Released(t.Context(), zika, `"an older one"`)
	if err != nil {
		t.Fatal(err)
	}
	if !first.SharesExport(second) || first.ETag != second.ETag {
		t.Error("two clients of one state don't share it")
	}
	gone, err := h.Released(t.Context(), zika, "")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close() // one who leaves early takes nothing from the others
	close(g.pass)
	var readers errgroup.Group
	bodies := make([]string, 2)
	for i, r := range []*submission.Release{first, second} {
		readers.Go(func() error {
			defer r.Close()
			body, err := r.Open(t.Context(), false)
			if err != nil {
				return err
			}
			defer func() { _ = body.Close() }()
			all, err := io.ReadAll(body)
			bodies[i] = string(all)
			return err
		})
	}
	if err := readers.Wait(); err != nil {
		t.Fatal(err)
	}
	if bodies[0] != bodies[1] || strings.Count(bodies[0], "\n") != 44 {
		t.Errorf("bodies of %d and %d bytes, want the same 44 lines", len(bodies[0]), len(bodies[1]))
	}
	if got := h.spool.Used(); got != 0 {
		t.Errorf("%d bytes of spool after the last reader, want 0", got)
	}
}

func TestReleased_TheLastToLeaveStopsTheReading(t *testing.T) {
	t.Parallel()
	g := &gate{pass: make(chan struct{})} // never passes
	h := journey(t, func(s submission.Store) submission.Store { g.Store = s; return g })
	release, err := h.Released(t.Context(), zika, "")
	if err != nil {
		t.Fatal(err)
	}
	release.Close() // returns only when the reading has ended
	if got := h.spool.Used(); got != 0 {
		t.Errorf("%d bytes of spool, want 0", got)
	}
}

// TestReleased_L15_FailureMidwayIsSeen breaks the database after some entries.
func TestReleased_L15_FailureMidwayIsSeen(t *testing.T) {
	t.Parallel()
	broken := errors.New("the database went away")
	for _, after := range []int{0, 1, 43} {
		g := &gate{after: after, err: broken}
		h := journey(t, func(s submission.Store) submission.Store { g.Store = s; return g })
		release, err := h.Released(t.Context(), zika, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, compressed := range []bool{false, true} {
			body, err := release.Open(t.Context(), compressed)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, body); !errors.Is(err, broken) {
				t.Errorf("after %d entries: got %v, want %v", after, err, broken)
			}
			_ = body.Close()
		}
		g.err = nil
		if again, body := h.download(t); again.SharesExport(release) || int64(strings.Count(body, "\n")) != again.Count {
			t.Error("a broken reading is shared or repeated")
		}
		release.Close()
	}
}

func TestReleased_FailureBeforeTheFirstByteIsAnAnswer(t *testing.T) {
	t.Parallel()
	g := &gate{after: -1, err: seqlease.ErrBusy}
	h := journey(t, func(s submission.Store) submission.Store { g.Store = s; return g })
	if _, err := h.Released(t.Context(), zika, ""); !errors.Is(err, seqlease.ErrBusy) {
		t.Errorf("got %v, want %v", err, seqlease.ErrBusy)
	}
	g.err = nil
	if r, _ := h.download(t); r.Count != 44 {
		t.Errorf("afterwards %d entries, want 44", r.Count)
	}
}

func TestReleased_ClientThatLeavesBeforeTheBeginning(t *testing.T) {
	t.Parallel()
	h := journey(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Released(ctx, zika, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// TestReleased_SlowReaderSeesOneState reads slowly while entries are approved.
func TestReleased_SlowReaderSeesOneState(t *testing.T) {
	t.Parallel()
	h := journey(t, nil)
	release, err := h.Released(t.Context(), zika, "")
	if err != nil {
		t.Fatal(err)
	}
	defer release.Close()
	body, err := release.Open(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = body.Close() }()
	lines := bufio.NewReader(body)
	seen := int64(0)
	for {
		if _, err := lines.ReadString('\n'); err != nil {
			if !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			break
		}
		if seen++; seen%10 == 1 {
			h.submitSmall(t, anna, h.group, "more")
			h.process(t, nil)
			if _, err := h.Approve(t.Context(), anna, submission.ApproveRequest{Organism: zika, Scope: seqlease.ApproveAll}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if seen != release.Count {
		t.Errorf("read %d lines, want %d as counted", seen, release.Count)
	}
	if now, _ := h.download(t); now.Count != release.Count+5 {
		t.Errorf("afterwards %d entries, want %d", now.Count, release.Count+5)
	}
}

// turns is a store whose readings of released data wait to be let go on, and
// which counts them.
type turns struct {
	submission.Store
	pass            chan struct{} // one word for each reading
	running, begins atomic.Int64
	most            atomic.Int64
}

func (c *turns) ReadReleased(ctx context.Context, o seqlease.Organism, begin func(submission.ReleasedHead) error, yield func(submission.ReleasedEntry) error) error {
	c.begins.Add(1)
	c.most.Store(max(c.most.Load(), c.running.Add(1)))
	defer c.running.Add(-1)
	return c.Store.ReadReleased(ctx, o, func(head submission.ReleasedHead) error {
		if err := begin(head); err != nil {
			return err
		}
		select {
		case <-c.pass:
		case <-ctx.Done():
		}
		return ctx.Err()
	}, yield)
}

// TestReleased_L12_OneReadingAtATime has approvals between clients while the
// first one's data is still being read: all that come later wait for one
// reading, which shows every one of them at least what was released when it asked.
func TestReleased_L12_OneReadingAtATime(t *testing.T) {
	t.Parallel()
	c := &turns{pass: make(chan struct{})}
	h := journey(t, func(s submission.Store) submission.Store { c.Store = s; return c })
	first, err := h.Released(t.Context(), zika, "")
	if err != nil {
		t.Fatal(err)
	}
	type answer struct {
		release *submission.Release
		asked   int64 // entries that were released when it asked
	}
	const clients = 12
	answers := make(chan answer, clients)
	var group errgroup.Group
	for i := range int64(clients) {
		h.submitSmall(t, anna, h.group, "later")
		h.process(t, nil)
		if _, err := h.Approve(t.Context(), anna, submission.ApproveRequest{Organism: zika, Scope: seqlease.ApproveAll}); err != nil {
			t.Fatal(err)
		}
		group.Go(func() error {
			r, err := h.Released(t.Context(), zika, first.ETag)
			if err == nil {
				answers <- answer{r, first.Count + i + 1}
			}
			return err
		})
	}
	if got := c.begins.Load(); got != 1 {
		t.Errorf("%d readings began while the first was under way, want 1", got)
	}
	c.pass <- struct{}{}
	go func() { // for each reading that follows
		for {
			select {
			case c.pass <- struct{}{}:
			case <-t.Context().Done():
				return
			}
		}
	}()
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	first.Close()
	close(answers)
	for a := range answers {
		if a.release.Count < a.asked || a.release.NotModified {
			t.Errorf("%d entries, want at least the %d that were released when the client asked", a.release.Count, a.asked)
		}
		a.release.Close()
	}
	if c.most.Load() != 1 || c.begins.Load() > 3 {
		t.Errorf("%d readings, %d at once, want 2 or 3, one at a time", c.begins.Load(), c.most.Load())
	}
	if got := h.spool.Used(); got != 0 {
		t.Errorf("%d bytes of spool after the last reader, want 0", got)
	}
}

// TestReleased_PlainReadersAreBounded: a reader of the text beyond the bound is
// busy after a while, one of the frame is not, and who leaves makes room.
func TestReleased_PlainReadersAreBounded(t *testing.T) {
	t.Parallel()
	h := journey(t, nil)
	release, err := h.Released(t.Context(), zika, "")
	if err != nil {
		t.Fatal(err)
	}
	defer release.Close()
	var bodies []io.ReadCloser
	defer func() {
		for _, b := range bodies {
			_ = b.Close()
		}
	}()
	for range submission.MaxPlainReaders {
		body, err := release.Open(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, body)
	}
	if _, err := release.Open(t.Context(), false); !errors.Is(err, seqlease.ErrBusy) {
		t.Errorf("one more: got %v, want %v", err, seqlease.ErrBusy)
	}
	read(t, release, true)
	_ = bodies[0].Close()
	_ = bodies[0].Close() // gives no second place
	bodies = bodies[1:]
	if body, err := release.Open(t.Context(), false); err != nil {
		t.Errorf("after one left: %v", err)
	} else {
		bodies = append(bodies, body)
	}
}
