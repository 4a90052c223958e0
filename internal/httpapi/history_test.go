package httpapi_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/httpapi"
	"github.com/seqlease/seqlease/internal/queue"
)

// TestHistory_L9_TheSubmitterReadsWhyAnEntryIsInQuarantine has an operator
// quarantine an entry, and another use up its attempts.
func TestHistory_L9_TheSubmitterReadsWhyAnEntryIsInQuarantine(t *testing.T) {
	t.Parallel()
	withBothStores(t, doorOptions{}, func(t *testing.T, o doorOptions) {
		var kept store
		o.wrap = func(s store) store { kept = s; return s }
		d := newDoor(t, o)
		stored := d.submit(t, d.newGroup(t, anna), 2, 20)
		first, second := stored[0].AccessionVersion, stored[1].AccessionVersion
		d.post(t, "quarantine", root, `{"accessionVersions":`+jsonList(seqlease.Entry{AccessionVersion: first})+`,"reason":"two samples mixed up"}`).want(t, 200)
		for i := range queue.DefaultRetry.Attempts {
			claimed := d.claim(t, pipe, 1)
			if len(claimed) != 1 {
				t.Fatalf("attempt %d: %d entries", i+1, len(claimed))
			}
			d.post(t, "return-lease", pipe, ofAttempt(claimed[0].AttemptID, `,"countsAsAttempt":true,"reason":"no memory"`)).want(t, 200)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		keeper := queue.NewKeeper(kept, queue.KeeperOptions{})
		go func() { ended <- keeper.Run(ctx) }()
		t.Cleanup(func() {
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
		why := func(av seqlease.AccessionVersion) []httpapi.QuarantineRecord {
			return d.history(t, anna, av).Quarantine
		}
		eventually(t, "the attempts are used up", func() bool { return len(why(second)) == 1 })
		for _, tt := range []struct {
			entry              seqlease.AccessionVersion
			by, reason         string
			attempts, handOuts int
		}{{first, root, "two samples mixed up", 0, 0}, {second, "", "no memory", 5, 5}} {
			q := why(tt.entry)
			if len(q) != 1 || q[0].By != tt.by || !strings.Contains(q[0].Reason, tt.reason) || q[0].PipelineVersion != 1 ||
				q[0].Attempts != tt.attempts || q[0].HandOuts != tt.handOuts || time.Since(q[0].At).Abs() > time.Hour {
				t.Errorf("the submitter of %s reads %+v", tt.entry, q)
			}
		}
		d.post(t, "quarantine/requeue", root, `{"all":true}`).want(t, 200)
		if a := d.call(t, "GET", historyPath("zika", first), anna, nil); !strings.Contains(string(a.body), `"quarantine":[]`) {
			t.Errorf("after the requeue: %s", a.body)
		}
	})
}
