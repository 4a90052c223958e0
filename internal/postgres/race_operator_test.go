package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
)

// call is one of the two of a race; l is what was claimed before, if anything.
type call func(ctx context.Context, g *stage, l queue.Lease) error

// everything are all entries of West Nile virus.
var everything = queue.Selection{Organism: storetest.WestNile, All: true}

// counted compares the number that a call returns.
func counted(want int, f func(ctx context.Context, g *stage) (int, int64, error)) call {
	return func(ctx context.Context, g *stage, _ queue.Lease) error {
		n, _, err := f(ctx, g)
		if err == nil && n != want {
			err = fmt.Errorf("%d entries were changed, want %d", n, want)
		}
		return err
	}
}

func setAside(want int) call {
	return counted(want, func(ctx context.Context, g *stage) (int, int64, error) {
		packed, err := g.Pack(storetest.WestNile, []byte(`{}`))
		if err != nil {
			return 0, 0, err
		}
		return g.PutInQuarantine(ctx, everything, queue.OperatorVerdict{By: "olga", Reason: "bad", Result: queue.PackedResult{Packed: packed}}, 0, 100)
	})
}

func requeue(want int) call {
	return counted(want, func(ctx context.Context, g *stage) (int, int64, error) { return g.Requeue(ctx, everything, 0, 100) })
}

func processAgain(want int) call {
	return counted(want, func(ctx context.Context, g *stage) (int, int64, error) { return g.Reprocess(ctx, everything, 0, 100) })
}

func pause(version seqlease.PipelineVersion) call {
	return func(ctx context.Context, g *stage, _ queue.Lease) error {
		return g.SetPaused(ctx, storetest.WestNile, version, true, nil)
	}
}

// claims claims all that waits; paused says what the answer has to say.
func claims(want int, paused bool) call {
	return func(ctx context.Context, g *stage, _ queue.Lease) error {
		l, err := g.Claim(ctx, askFor(9))
		if err == nil && (len(l.Entries) != want || l.Paused != paused) {
			err = fmt.Errorf("claimed %d entries, paused: %t; want %d, %t", len(l.Entries), l.Paused, want, paused)
		}
		return err
	}
}

// replacing makes results be expected to replace others.
func replacing(_ context.Context, g *stage, _ queue.Lease) error {
	organismID, _, _ := g.Bound(storetest.WestNile, 1, queue.LaneFresh)
	g.JustReplaced(organismID, 1)
	return nil
}

func accept(ctx context.Context, g *stage, l queue.Lease) error {
	return only(g.AcceptResults(ctx, answer(l, []byte("x"))))
}

// acceptLost wants every result refused because the entry is no longer held.
func acceptLost(ctx context.Context, g *stage, l queue.Lease) error {
	err := accept(ctx, g, l)
	var refused *seqlease.RefusedError
	if !errors.As(err, &refused) || len(refused.Refused) != 2 || refused.Refused[0].Reason != seqlease.RefusedLeaseLost {
		return fmt.Errorf("got %w, want two results refused for a lost lease", err)
	}
	return nil
}

// operatorRace stops first at the point and begins second, which waits for first
// or not.
type operatorRace struct {
	before        []call // by which what submit left comes into its state
	claimed       bool   // and then is claimed
	point         string
	first, second call
	waits         bool
	then          call // after both
	want          map[string]int64
}

// operatorRaces are of an operator's call against a claim or results, each of them
// first.
func operatorRaces() map[string]operatorRace {
	again := []call{setAside(2), processAgain(2)} // in quarantine, and processed again beside it
	processed := []call{func(ctx context.Context, g *stage, _ queue.Lease) error {
		l, err := g.Claim(ctx, askFor(2))
		if err != nil {
			return err
		}
		return accept(ctx, g, l)
	}}
	aside := map[string]int64{"quarantine": 2, "result WHERE outcome = 2": 2, "ticket": 0, "lease": 0}
	return map[string]operatorRace{
		"accept, quarantine": {
			nil, true, "BEFORE INSERT ON result", accept, setAside(0), true, claims(0, false),
			map[string]int64{"quarantine": 0, "result WHERE outcome = 0": 2, "ticket": 0, "lease": 0},
		},
		"quarantine, accept": {nil, true, "BEFORE INSERT ON quarantine", setAside(2), acceptLost, true, claims(0, false), aside},
		"claim, quarantine":  {nil, false, "BEFORE DELETE ON ticket", claims(2, false), setAside(2), true, claims(0, false), aside},
		"quarantine, claim":  {nil, false, "BEFORE INSERT ON quarantine", setAside(2), claims(0, false), false, claims(0, false), aside},

		"accept, requeue": {
			// If results are expected to be there: else they are refused at first, and either
			// of the two may come next.
			append(slices.Clone(again), replacing), true, "BEFORE INSERT ON result", accept, requeue(0), true, claims(0, false),
			map[string]int64{"quarantine": 0, "result WHERE outcome = 0": 2, "ticket": 0, "lease": 0},
		},
		"requeue, accept": {
			again, true, "BEFORE INSERT ON ticket", requeue(2), acceptLost, true, claims(2, false),
			map[string]int64{"quarantine": 0, "result": 0, "ticket": 0, "lease": 1},
		},
		"claim, requeue": {
			again, false, "BEFORE DELETE ON ticket", claims(2, false), requeue(2), true, claims(2, false),
			map[string]int64{"quarantine": 0, "result": 0, "ticket": 0, "lease": 1},
		},
		"requeue, claim": {
			again, false, "BEFORE INSERT ON ticket", requeue(2), claims(0, false), false, claims(2, false),
			map[string]int64{"quarantine": 0, "result": 0, "ticket": 0, "lease": 1},
		},

		"accept, reprocess": {
			again, true, "BEFORE INSERT ON result", accept, processAgain(0), false, claims(0, false),
			map[string]int64{"quarantine": 0, "result WHERE outcome = 0": 2, "ticket": 0, "lease": 0},
		},
		"first accept, reprocess": {
			nil, true, "BEFORE INSERT ON result", accept, processAgain(0), false, processAgain(2),
			map[string]int64{"result": 2, "ticket WHERE lane = 1": 2, "lease": 0},
		},
		"claim, reprocess": {
			again, false, "BEFORE DELETE ON ticket", claims(2, false), processAgain(0), false, claims(0, false),
			map[string]int64{"result": 2, "ticket": 0, "lease": 1},
		},
		"reprocess, claim": {
			processed, false, "BEFORE INSERT ON ticket", processAgain(2), claims(0, false), false, claims(2, false),
			map[string]int64{"result": 2, "ticket": 0, "lease": 1},
		},

		"claim, pause": {
			nil, false, "BEFORE DELETE ON ticket", claims(2, false), pause(0), false, claims(0, true),
			map[string]int64{"ticket": 0, "lease": 1},
		},
		"pause, claim": {
			nil, false, "BEFORE UPDATE ON organism", pause(0), claims(2, false), false, claims(0, true),
			map[string]int64{"ticket": 0, "lease": 1},
		},
		"pause of a version, claim": {
			nil, false, "BEFORE UPDATE ON pipeline_version", pause(1), claims(2, false), false, claims(0, true),
			map[string]int64{"ticket": 0, "lease": 1},
		},
		"accept, pause": {
			nil, true, "BEFORE INSERT ON result", accept, pause(0), false, claims(0, true),
			map[string]int64{"result": 2, "ticket": 0, "lease": 0},
		},
		"pause, accept": {
			nil, true, "BEFORE UPDATE ON organism", pause(0), accept, false, claims(0, true),
			map[string]int64{"result": 2, "ticket": 0, "lease": 0},
		},
	}
}

// An operator's call beside a claim or results: one of them decides, nobody waits
// who needn't, and every entry is in one place.
func TestRace_L16_OperatorsAgainstWorkers(t *testing.T) {
	t.Parallel()
	for name, c := range operatorRaces() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newStage(t)
			submitN(t, g.Store, g.group.GroupID, 2)
			for _, act := range c.before {
				if err := act(t.Context(), g, queue.Lease{}); err != nil {
					t.Fatal(err)
				}
			}
			var held queue.Lease
			if c.claimed {
				if held = g.mustClaim(t, askFor(2)); len(held.Entries) != 2 {
					t.Fatalf("claimed %v, want both entries", names(held))
				}
			}
			g.stopAt(t, c.point)
			one := later(func() error { return c.first(context.Background(), g, held) })
			g.awaitStopped(t, 1)
			ctx := soon(t)
			two := later(func() error { return c.second(ctx, g, held) })
			if c.waits {
				g.awaitStopped(t, 2)
				g.goOn(t)
			}
			if err := <-two; err != nil {
				t.Errorf("the second: %v", err)
			}
			if !c.waits {
				g.goOn(t)
			}
			if err := <-one; err != nil {
				t.Errorf("the first: %v", err)
			}
			g.Forget() // what this process knows of the queue is for another test
			if err := c.then(t.Context(), g, held); err != nil {
				t.Errorf("after both: %v", err)
			}
			g.wantCounts(t, c.want)
		})
	}
}
