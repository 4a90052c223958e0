package reprocess_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/reprocess"
)

const moss seqlease.Organism = "mossvirus"

// versionStore says of versions what it is told to, and notes what it is asked, with
// the seconds since it was made.
type versionStore struct {
	reprocess.Store
	began time.Time

	mu         sync.Mutex
	candidates []reprocess.Candidate
	blockers   map[seqlease.PipelineVersion][]int64 // ids of entries, ascending
	entries    int64                                // ids are 1 to that
	standing   reprocess.Standing
	refusal    error         // of switches
	slow       time.Duration // how long a look takes
	underWay   bool          // keeps switches from happening
	outdated   map[reprocess.Version]int64
	switched   func() // what a switch does besides; nil: nothing
	kept       int
	asked      []string
}

func newVersionStore(candidates ...reprocess.Candidate) *versionStore {
	return &versionStore{
		began: time.Now(), candidates: candidates, blockers: map[seqlease.PipelineVersion][]int64{},
		standing: reprocess.Standing{Current: 1, Candidate: 1}, outdated: map[reprocess.Version]int64{},
	}
}

func (s *versionStore) note(format string, args ...any) {
	s.asked = append(s.asked, fmt.Sprintf("%.0f s ", time.Since(s.began).Seconds())+fmt.Sprintf(format, args...))
}

// take returns what was asked since, without the seconds.
func (s *versionStore) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var calls []string
	for _, call := range s.asked {
		_, what, _ := strings.Cut(call, " s ")
		calls = append(calls, what)
	}
	s.asked = nil
	return calls
}

func (s *versionStore) Unfinished(context.Context) ([]reprocess.Version, error) { return nil, nil }

func (s *versionStore) Candidates(context.Context) ([]reprocess.Candidate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.candidates), nil
}

func (s *versionStore) FindBlocker(_ context.Context, c reprocess.Candidate, after int64, limit int) (reprocess.Look, error) {
	s.mu.Lock()
	slow := s.slow
	s.mu.Unlock()
	<-time.After(slow)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("look %s %d from %d for %d", c.Organism, c.Version, after, limit)
	last := min(after+int64(limit), s.entries)
	for _, id := range s.blockers[c.Version] {
		if id > after && id <= last {
			return reprocess.Look{Blocker: id, Last: last, End: last == s.entries}, nil
		}
	}
	return reprocess.Look{Last: last, End: last == s.entries}, nil
}

func (s *versionStore) MaySwitch(_ context.Context, c reprocess.Candidate) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("may %s %d", c.Organism, c.Version)
	return !s.underWay, nil
}

func (s *versionStore) Compare(_ context.Context, c reprocess.Candidate) (reprocess.Standing, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("compare %s %d", c.Organism, c.Version)
	return s.standing, nil
}

func (s *versionStore) Switch(_ context.Context, c reprocess.Candidate) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("switch %s %d", c.Organism, c.Version)
	if s.refusal != nil {
		return false, s.refusal
	}
	if s.switched != nil {
		s.switched()
	}
	s.candidates = slices.DeleteFunc(s.candidates, func(o reprocess.Candidate) bool { return o.Organism == c.Organism && o.Version <= c.Version })
	return true, nil
}

func (s *versionStore) Outdated(_ context.Context, keep int) ([]reprocess.Version, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = keep
	var list []reprocess.Version
	for of := range s.outdated {
		list = append(list, of)
	}
	return list, nil
}

func (s *versionStore) Retire(_ context.Context, of reprocess.Version, after int64, limit int) (reprocess.Retired, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("retire %s %d from %d", of.Organism, of.PipelineVersion, after)
	last := min(after+int64(limit), s.outdated[of])
	if last < s.outdated[of] {
		return reprocess.Retired{Last: last}, nil
	}
	delete(s.outdated, of)
	return reprocess.Retired{Last: last, Gone: true}, nil
}

func (s *versionStore) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// running runs the versions of the store for the rest of the test's bubble.
func running(t *testing.T, s *versionStore, log *bytes.Buffer, test func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		ended <- reprocess.New(s, reprocess.Options{Logger: slog.New(slog.NewTextHandler(log, nil))}).Run(ctx)
	}()
	test()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// next lets time pass until something is asked, for the longest pause of the usual
// ones at most.
func (s *versionStore) next() []string {
	for range 13 * 100 {
		<-time.After(10 * time.Millisecond)
		synctest.Wait()
		if calls := s.take(); len(calls) > 0 {
			return calls
		}
	}
	return nil
}

func wantNext(t *testing.T, s *versionStore, when string, want ...string) {
	t.Helper()
	if got := s.next(); !slices.Equal(got, want) {
		t.Errorf("%s it asked\n%s\nwant\n%s", when, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSwitch_V5_LooksWhereSomethingBlockedItLast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newVersionStore(reprocess.Candidate{Organism: fern, Current: 1, Version: 2})
		s.entries, s.blockers[2] = 50_000, []int64{25_000, 45_000}
		var log bytes.Buffer
		running(t, s, &log, func() {
			began := time.Now()
			wantNext(t, s, "at first", "look fernvirus 2 from 0 for 20000", "look fernvirus 2 from 20000 for 20000")
			if waited := time.Since(began); waited < 7500*time.Millisecond || waited > 12510*time.Millisecond {
				t.Errorf("the first look came after %s, want ten seconds, give or take a quarter", waited)
			}
			wantNext(t, s, "while it is blocked", "look fernvirus 2 from 24999 for 100")
			s.change(func() { s.blockers[2] = s.blockers[2][1:] })
			wantNext(t, s, "when the next one blocks it", "look fernvirus 2 from 24999 for 100", "look fernvirus 2 from 25099 for 20000")
			s.change(func() { s.blockers[2] = []int64{3} })
			wantNext(t, s, "when an earlier one came to block it",
				"look fernvirus 2 from 44999 for 100", "look fernvirus 2 from 45099 for 20000", "look fernvirus 2 from 0 for 20000")
			s.change(func() { s.blockers[2] = nil })
			wantNext(t, s, "when nothing blocks it",
				"look fernvirus 2 from 2 for 100", "look fernvirus 2 from 102 for 20000", "look fernvirus 2 from 20102 for 20000",
				"look fernvirus 2 from 40102 for 20000", "look fernvirus 2 from 0 for 20000", "look fernvirus 2 from 20000 for 20000",
				"look fernvirus 2 from 40000 for 20000", "may fernvirus 2", "compare fernvirus 2", "switch fernvirus 2")
			wantNext(t, s, "after the switch")
		})
		if n := strings.Count(log.String(), `msg="pipeline version is current" organism=fernvirus pipeline_version=2 before=1`); n != 1 {
			t.Errorf("%d switches are in the log, want one:\n%s", n, log.String())
		}
	})
}

func TestSwitch_V5_TheHighestThatMayWins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var list []reprocess.Candidate
		for _, version := range []seqlease.PipelineVersion{9, 5, 2} {
			list = append(list, reprocess.Candidate{Organism: fern, Current: 1, Version: version})
		}
		s := newVersionStore(append(list, reprocess.Candidate{Organism: moss, Current: 1, Version: 2})...)
		s.entries, s.blockers[9] = 10, []int64{4}
		running(t, s, &bytes.Buffer{}, func() {
			wantNext(t, s, "of three", "look fernvirus 9 from 0 for 20000", "look fernvirus 5 from 0 for 20000", "may fernvirus 5", "compare fernvirus 5", "switch fernvirus 5",
				"look mossvirus 2 from 0 for 20000", "may mossvirus 2", "compare mossvirus 2", "switch mossvirus 2")
		})
	})
}

// A version that lost nothing good, but has processed less, never goes live.
func TestSwitch_V5_AVersionThatLagsBehindWaits(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		standing reprocess.Standing
		switches bool
	}{
		"nothing was processed at all, and it never began": {reprocess.Standing{}, false},
		"nothing was processed at all, and it began":       {reprocess.Standing{Held: true}, true},
		"it has less":                         {reprocess.Standing{Current: 5, Candidate: 4, Held: true}, false},
		"it has as much":                      {reprocess.Standing{Current: 5, Candidate: 5}, true},
		"it is ahead":                         {reprocess.Standing{Current: 4, Candidate: 5}, true},
		"it has them all":                     {reprocess.Standing{Candidate: 5}, true},
		"it only holds it":                    {reprocess.Standing{Current: 1, Held: true}, false},
		"both are about to process the first": {reprocess.Standing{Held: true, CurrentHeld: true}, false},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newVersionStore(reprocess.Candidate{Organism: fern, Current: 1, Version: 5})
				s.standing = c.standing
				running(t, s, &bytes.Buffer{}, func() {
					if asked := s.next(); slices.Contains(asked, "switch fernvirus 5") != c.switches {
						t.Errorf("it asked %v; want a switch: %t", asked, c.switches)
					}
				})
			})
		})
	}
}

// Looking costs a twentieth of the time at most.
func TestSwitch_V5_IsPaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newVersionStore(reprocess.Candidate{Organism: fern, Current: 1, Version: 2})
		s.slow, s.entries, s.blockers[2] = 3*time.Second, 10, []int64{5}
		running(t, s, &bytes.Buffer{}, func() {
			<-time.After(time.Hour)
			if looks := len(s.take()); looks < 3600/(63*5/4)-1 || looks > 3600/60+1 {
				t.Errorf("%d looks of 3 s in an hour, want one a minute", looks)
			}
		})
	})
}

// While only what is under way keeps it from being current, it is asked every second,
// without looking at all entries again but every ten minutes.
func TestSwitch_V5_WaitsForAMomentWithoutAnythingUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newVersionStore(reprocess.Candidate{Organism: fern, Current: 1, Version: 2})
		s.entries, s.underWay = 10, true
		running(t, s, &bytes.Buffer{}, func() {
			<-time.After(25 * time.Minute)
			asked := s.take()
			looks := len(slices.DeleteFunc(slices.Clone(asked), func(call string) bool { return !strings.HasPrefix(call, "look") }))
			if asks := len(asked) - looks; looks < 2 || looks > 3 || asks < 25*60*4/5-20 || asks > 25*60*4/3 {
				t.Errorf("in 25 minutes it looked %d times and asked %d times, want about 3 and one a second", looks, asks)
			}
			s.change(func() { s.underWay = false })
			if got := s.next(); !slices.Equal(got[len(got)-3:], []string{"may fernvirus 2", "compare fernvirus 2", "switch fernvirus 2"}) {
				t.Errorf("it asked %v", got)
			}
		})
	})
}

// A switch that others keep from happening is tried less and less often.
func TestSwitch_V5_GivesWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newVersionStore(reprocess.Candidate{Organism: fern, Current: 1, Version: 2})
		s.refusal = seqlease.Explain(seqlease.ErrBusy, "others have the results")
		running(t, s, &bytes.Buffer{}, func() {
			<-time.After(time.Hour)
			busy := slices.DeleteFunc(s.take(), func(call string) bool { return call != "switch fernvirus 2" })
			if len(busy) < 8 || len(busy) > 24 {
				t.Errorf("%d tries in an hour, want about one every five minutes", len(busy))
			}
		})
	})
}

func TestSwitch_AFaultKeepsNobodyElseFromIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newVersionStore(reprocess.Candidate{Organism: fern, Current: 1, Version: 2}, reprocess.Candidate{Organism: moss, Current: 1, Version: 2})
		s.refusal = errors.New("broken")
		var log bytes.Buffer
		running(t, s, &log, func() {
			if asked := s.next(); !slices.Contains(asked, "switch fernvirus 2") || !slices.Contains(asked, "switch mossvirus 2") {
				t.Errorf("it asked %v", asked)
			}
		})
		if n := strings.Count(log.String(), `work="switching to a newer pipeline version"`); n != 1 {
			t.Errorf("the fault is in the log %d times:\n%s", n, log.String())
		}
	})
}

func TestRetire_V7_DeletesChunkByChunkSoonAfterASwitch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newVersionStore(reprocess.Candidate{Organism: fern, Current: 2, Version: 3})
		of := reprocess.Version{Organism: fern, PipelineVersion: 1}
		s.switched = func() { s.outdated[of] = 5000 }
		running(t, s, &bytes.Buffer{}, func() {
			calls := s.next()
			<-time.After(time.Second)
			synctest.Wait()
			want := []string{
				"look fernvirus 3 from 0 for 20000", "may fernvirus 3", "compare fernvirus 3", "switch fernvirus 3",
				"retire fernvirus 1 from 0", "retire fernvirus 1 from 2000", "retire fernvirus 1 from 4000",
			}
			if calls = append(calls, s.take()...); !slices.Equal(calls, want) {
				t.Errorf("it asked\n%s\nwant\n%s", strings.Join(calls, "\n"), strings.Join(want, "\n"))
			}
			if s.kept != reprocess.DefaultKeep {
				t.Errorf("it keeps %d versions, want %d", s.kept, reprocess.DefaultKeep)
			}
		})
	})
}
