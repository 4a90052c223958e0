package httpapi_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
)

// fleet are pipelines that share connections, as many as they are.
type fleet struct {
	d      *door
	client *http.Client
	claims atomic.Int64 // that brought entries
	stored atomic.Int64
}

func (d *door) newFleet(t *testing.T, workers int) *fleet {
	t.Helper()
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: workers}
	t.Cleanup(transport.CloseIdleConnections)
	return &fleet{d: d, client: &http.Client{Transport: transport}}
}

// send makes a pipeline's call and returns its answer.
func (f *fleet) send(t *testing.T, path, contentType, body string) (int, []byte, error) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.d.url+"/zika/"+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+pipe)
	r.Header.Set("Content-Type", contentType)
	response, err := f.client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answered, err := io.ReadAll(response.Body)
	return response.StatusCode, answered, err
}

// claim claims up to n entries for a worker. The lines stay as they came.
func (f *fleet) claim(t *testing.T, worker string, n int) ([]seqlease.Entry, error) {
	form := fmt.Sprintf("numberOfSequenceEntries=%d&pipelineVersion=1&workerId=%s", n, worker)
	status, body, err := f.send(t, "extract-unprocessed-data", "application/x-www-form-urlencoded", form)
	if err != nil || status != http.StatusOK {
		return nil, errors.Join(err, fmt.Errorf("a claim is answered %d: %.300s", status, body))
	}
	if len(body) > 0 {
		f.claims.Add(1)
	}
	return entriesOf(t, body), nil
}

// work claims and sends results until nothing waits. Nothing may be refused, and
// nothing be an entry's second attempt.
func (f *fleet) work(t *testing.T, worker string, n int) error {
	for {
		entries, err := f.claim(t, worker, n)
		if err != nil || len(entries) == 0 {
			return err
		}
		for _, e := range entries {
			if e.Attempt != 1 {
				return fmt.Errorf("%s: attempt %d", e.AccessionVersion, e.Attempt)
			}
		}
		status, body, err := f.send(t, "submit-processed-data?pipelineVersion=1", "application/x-ndjson", resultsOf(entries))
		if err != nil || status != http.StatusNoContent {
			return errors.Join(err, fmt.Errorf("results are answered %d: %.300s", status, body))
		}
		f.stored.Add(int64(len(entries)))
	}
}

// TestClaim_B023_NoRaceIsLost has 64 workers and batches of 100: as many claims as
// there are batches. Only what is left at the end may be shared by claims that come
// at once.
func TestClaim_B023_NoRaceIsLost(t *testing.T) {
	t.Parallel()
	const workers, batch, batches = 64, 100, 20
	for name, open := range map[string]func(*testing.T) doorOptions{
		"sqlite":   func(*testing.T) doorOptions { return doorOptions{} },
		"postgres": func(t *testing.T) doorOptions { return doorOptions{open: openPostgres(newPostgres(t), 8)} }, //nolint:thelper // makes options
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDoor(t, open(t))
			d.submit(t, d.newGroup(t, anna), batches*batch, 20)
			f := d.newFleet(t, workers)
			var working errgroup.Group
			for i := range workers {
				working.Go(func() error { return f.work(t, fmt.Sprintf("w%d", i), batch) })
			}
			if err := working.Wait(); err != nil {
				t.Error(err)
			}
			if most := int64(batches*102/100 + 2); f.claims.Load() > most {
				t.Errorf("%d claims for %d batches, want at most %d", f.claims.Load(), batches, most)
			}
			if n := f.stored.Load(); n != batches*batch {
				t.Errorf("%d results stored of %d", n, batches*batch)
			}
		})
	}
}

// attemptID is the member that pipelines of the old protocol don't send back.
var attemptID = regexp.MustCompile(`"processingAttemptId":"[^"]*",`)

// TestFleet_B055_OldPipelinesBesideNewOnes has four pipelines that don't send the
// attempt id back, and know neither renewal nor return, beside four that do: the
// old ones are told what to change, and the others finish everything. It is on SQLite
// alone, see [door.ageLeases].
func TestFleet_B055_OldPipelinesBesideNewOnes(t *testing.T) {
	t.Parallel()
	const old, entries, batch = 4, 200, 10
	d := newDoor(t, doorOptions{})
	d.submit(t, d.newGroup(t, anna), entries, 20)
	f := d.newFleet(t, 2*old)
	for i := range old {
		claimed, err := f.claim(t, fmt.Sprintf("old%d", i), batch)
		if err != nil || len(claimed) != batch {
			t.Fatalf("claimed %d entries, %v", len(claimed), err)
		}
		status, body, err := f.send(t, "submit-processed-data?pipelineVersion=1", "application/x-ndjson", attemptID.ReplaceAllString(resultsOf(claimed), ""))
		if err != nil {
			t.Fatal(err)
		}
		if status != 422 || bytes.Count(body, []byte("processingAttemptId is missing")) < batch {
			t.Errorf("an old pipeline's results are answered %d: %.500s", status, body)
		}
	}
	var working errgroup.Group
	for i := range old {
		working.Go(func() error { return f.work(t, fmt.Sprintf("new%d", i), batch) })
	}
	if err := working.Wait(); err != nil {
		t.Error(err)
	}
	if got := d.statusCounts(t, "zika"); got[seqlease.Processed] != entries-old*batch || got[seqlease.InProcessing] != old*batch {
		t.Errorf("statuses %v: the old ones hold %d, and all others are processed", got, old*batch)
	}
	d.ageLeases(t) // nobody gives back what the old ones have
	for again := 0; again < old*batch; {
		claimed := d.claim(t, pipe, batch)
		if len(claimed) == 0 {
			t.Fatalf("only %d of %d entries come back", again, old*batch)
		}
		for _, e := range claimed {
			if e.Attempt != 2 {
				t.Errorf("%s: attempt %d, want 2: a round of an old pipeline is one attempt", e.AccessionVersion, e.Attempt)
			}
		}
		d.sendResults(t, resultsOf(claimed)).want(t, 204)
		again += len(claimed)
	}
	if got := d.statusCounts(t, "zika"); got[seqlease.Processed] != entries {
		t.Errorf("statuses %v, want all %d processed", got, entries)
	}
}
