package storetest

import (
	"slices"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// pauseCases check that an operator can stop the handing out of work (L16).
func pauseCases() []testCase {
	return []testCase{
		{name: "L16_PausedOrganismHandsNothingOut", check: pauseOrganism},
		{name: "L16_PausedVersionHandsNothingOut", check: pauseVersion},
		{name: "L1_PausedQueueStillGetsTickets", check: pauseL1},
		{name: "L16_LeasesGoOnWhilePaused", check: pauseLeases},
		{name: "L14_ResumingChangesTheMark", check: pauseL14},
		{name: "L16_PauseOfWhatIsUnknown", check: pauseUnknown},
		{name: "L16_PauseIsSeenByTheOtherServer", needs: SecondStore, check: pauseOtherServer},
	}
}

func (f *fixture) setPaused(t *testing.T, version seqlease.PipelineVersion, paused bool) {
	t.Helper()
	if err := f.SetPaused(t.Context(), WestNile, version, paused, nil); err != nil {
		t.Fatalf("set paused to %t: %v", paused, err)
	}
}

// wantPaused checks what is said to be paused, and that claims answer so.
func (f *fixture) wantPaused(t *testing.T, want queue.PauseState) {
	t.Helper()
	state, err := f.Paused(t.Context(), WestNile)
	if err != nil {
		t.Fatalf("paused: %v", err)
	}
	wantSame(t, "paused", state, want)
	paused := want.Organism || len(want.Versions) > 0
	wantSame(t, "a claim of 0 says that it is paused", f.claim(t, 0).Paused, paused)
	if paused {
		lease := f.claim(t, 100)
		wantSame(t, "entries of a paused queue", claimed(lease), nil)
		wantSame(t, "a claim says that it is paused", lease.Paused, true)
		if lease.Mark == "" {
			t.Error("the answer of a paused queue has no mark")
		}
	}
}

func pauseOrganism(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions, cchf := f.submit(t, 2), f.submitTo(t, CCHF, 1)
	f.wantPaused(t, queue.PauseState{})
	for range 2 { // a repetition is harmless
		f.setPaused(t, 0, true)
		f.wantPaused(t, queue.PauseState{Organism: true})
	}
	wantSame(t, "claimed of "+string(CCHF), claimed(f.claimFrom(t, CCHF, 10)), cchf)
	f.setPaused(t, 0, false)
	f.wantPaused(t, queue.PauseState{})
	lease := f.claim(t, 10)
	wantSame(t, "claimed", claimed(lease), versions)
	wantSame(t, "paused", lease.Paused, false)
}

func pauseVersion(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 2)
	f.setPaused(t, 1, true)
	f.wantPaused(t, queue.PauseState{Versions: []seqlease.PipelineVersion{1}})
	f.setPaused(t, 0, true)
	f.wantPaused(t, queue.PauseState{Organism: true, Versions: []seqlease.PipelineVersion{1}})
	f.setPaused(t, 0, false) // the version stays paused
	f.wantPaused(t, queue.PauseState{Versions: []seqlease.PipelineVersion{1}})
	f.setPaused(t, 1, false)
	wantSame(t, "claimed", claimed(f.claim(t, 10)), versions)
}

func pauseL1(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.setPaused(t, 0, true)
	f.setPaused(t, 1, true)
	versions := f.submit(t, 3)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 3})
	f.setPaused(t, 0, false)
	f.setPaused(t, 1, false)
	wantSame(t, "claimed", claimed(f.claim(t, 10)), versions)
}

// What is held when a queue is paused may be finished, renewed and given back.
func pauseLeases(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 4)
	done, back, ended := f.claim(t, 1), f.claim(t, 1), f.claim(t, 2)
	f.setPaused(t, 0, true)
	f.renew(t, done.AttemptID, 2*leaseTime, 2*leaseTime)
	f.giveBack(t, back.AttemptID, false, 1)
	f.age(t, leaseTime)
	f.mustAccept(t, f.lines(t, done)...)
	f.wantPaused(t, queue.PauseState{Organism: true})
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 1, seqlease.Received: 3})
	f.setPaused(t, 0, false)
	got := slices.Concat(claimed(f.claim(t, suspects(2))), claimed(f.claim(t, suspects(2))))
	slices.SortFunc(got, seqlease.AccessionVersion.Compare)
	wantSame(t, "claimed", got, slices.Concat(claimed(back), claimed(ended)))
}

func pauseL14(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 1)
	for _, version := range []seqlease.PipelineVersion{0, 1} {
		f.setPaused(t, version, true)
		mark := f.claim(t, 10).Mark
		wantSame(t, "mark while paused", f.claim(t, 10).Mark, mark)
		f.setPaused(t, version, false)
		if f.mark(t) == mark {
			t.Errorf("the mark is %q before and after resuming version %d", mark, version)
		}
	}
}

func pauseUnknown(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for _, version := range []seqlease.PipelineVersion{2, 1000} {
		wantError(t, f.SetPaused(t.Context(), WestNile, version, true, nil), seqlease.ErrPipelineUnknown)
	}
	wantError(t, f.SetPaused(t.Context(), "measles", 0, true, nil), seqlease.ErrUnknownOrganism)
	_, err := f.Paused(t.Context(), "measles")
	wantError(t, err, seqlease.ErrUnknownOrganism)
	f.wantPaused(t, queue.PauseState{})
}

func pauseOtherServer(t *testing.T, h Harness) {
	f := newFixture(t, h)
	other := f.second(t)
	versions := f.submit(t, 4)
	wantSame(t, "claimed", len(f.claim(t, 1).Entries)+len(other.claim(t, 1).Entries), 2)
	other.setPaused(t, 0, true)
	f.wantPaused(t, queue.PauseState{Organism: true})
	f.setPaused(t, 0, false)
	wantSame(t, "claimed by the other server", claimed(other.claim(t, 10)), versions[2:])
}
