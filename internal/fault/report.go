//go:build linux

package fault

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
	"github.com/seqlease/seqlease/internal/fault/evidence"
)

// Report is what happened in a run.
type Report struct {
	Store       string               `json:"store"`
	Seed        uint64               `json:"seed"`
	Seconds     float64              `json:"seconds"`
	Entries     int                  `json:"entries"`
	Claims      int                  `json:"claims"`   // that brought entries
	Accepted    int                  `json:"accepted"` // entries
	Refused     int                  `json:"refused"`  // result lines
	Expired     int                  `json:"expired"`  // entries claimed again after another attempt got nothing accepted
	Quarantined int                  `json:"quarantined"`
	Poisoned    int                  `json:"poisoned"` // entries on which every worker dies
	Faults      map[string]int       `json:"faults"`
	FaultsInAll int                  `json:"faultsInAll"`
	Snapshots   int                  `json:"snapshots"` // of the database, checked on the way
	Operators   int                  `json:"operators"` // entries that operators freed, put in quarantine, requeued or had reprocessed
	Violations  []evidence.Violation `json:"violations"`
	// Lines are the workers' logs.
	Lines []evidence.Line `json:"-"`
	// Spells are when faults lasted, of those whose time matters.
	Spells []Spell `json:"-"`
}

// Spell is how long a fault lasted, by the clock of [evidence.Line].
type Spell struct {
	Kind Kind
	evidence.Span
	// Bytes is what a slow reader got in all, once it read on.
	Bytes int64
}

// lasted notes a spell.
func (f *Fleet) lasted(s Spell) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.spells = append(f.spells, s)
}

// String is the report in one line.
func (r *Report) String() string {
	kinds := make([]string, 0, len(r.Faults))
	for _, kind := range slices.Sorted(maps.Keys(r.Faults)) {
		kinds = append(kinds, fmt.Sprintf("%s %d", kind, r.Faults[kind]))
	}
	return fmt.Sprintf("%s seed=%d %.0fs entries=%d claims=%d accepted=%d refused=%d expired=%d quarantined=%d poisoned=%d operators=%d snapshots=%d faults=%d kinds=%d (%s) violations=%d",
		r.Store, r.Seed, r.Seconds, r.Entries, r.Claims, r.Accepted, r.Refused, r.Expired, r.Quarantined, r.Poisoned, r.Operators, r.Snapshots, r.FaultsInAll, len(kinds),
		strings.Join(kinds, ", "), len(r.Violations))
}

// conclude reads everything and checks it. Results without errors are released
// first, so that the released data shows which attempt each of them is from.
func (f *Fleet) conclude(ctx context.Context) (*Report, error) {
	submitter, err := f.direct(f.settings.submitter)
	if err != nil {
		return nil, err
	}
	if _, err := submitter.Approve(ctx, organism, client.Approval{Scope: seqlease.ApproveAll}); err != nil {
		return nil, err
	}
	e := evidence.Evidence{Jumps: f.jumps, Repeats: f.options.NetworkFaults > 0, Operated: f.operated}
	for _, s := range f.spells {
		if s.Kind == DatabaseKilled || s.Kind == DatabaseCrashed {
			e.Crashes = append(e.Crashes, s.Span)
		}
	}
	if e.Listed, err = listed(ctx, submitter); err != nil {
		return nil, err
	}
	if e.Released, err = released(ctx, submitter); err != nil {
		return nil, err
	}
	stored, storedErr := storedIn(ctx, f.store)
	lines, linesErr := f.lines()
	if err := errors.Join(storedErr, linesErr); err != nil {
		return nil, err
	}
	e.Stored, e.Lines = stored, lines
	e.Uploads, _ = f.submit.told()
	r := f.sum(e)
	r.Violations = append(append([]evidence.Violation{}, f.observed...), evidence.Check(e)...)
	for _, text := range append(f.house.endedThemselves(), f.submit.strange...) {
		r.Violations = append(r.Violations, evidence.Violation{Kind: evidence.Ended, Detail: text})
	}
	return r, nil
}

// sum sums the run up.
func (f *Fleet) sum(e evidence.Evidence) *Report {
	r := &Report{
		Store: f.options.Store, Seed: f.options.Seed, Seconds: time.Since(f.began).Seconds(),
		Entries: len(e.Stored), Faults: maps.Clone(f.faults), Snapshots: f.checks, Lines: e.Lines, Spells: f.spells, Operators: f.moved,
	}
	for _, s := range f.servers {
		for kind, n := range s.proxy.Counts() {
			r.Faults[string(kind)] += n
		}
	}
	for _, n := range r.Faults {
		r.FaultsInAll += n
	}
	accepted := map[seqlease.AccessionVersion]bool{}
	claimed := map[seqlease.AccessionVersion]int{}
	for i := range e.Lines {
		l := &e.Lines[i]
		if l.Call == evidence.CallClaim && len(l.Entries) > 0 {
			r.Claims++
		}
		r.Refused += len(l.Refused)
		for _, h := range l.Entries {
			switch {
			case l.Call == evidence.CallClaim:
				claimed[h.AccessionVersion]++
			case l.Accepted():
				accepted[h.AccessionVersion] = true
			}
		}
	}
	for _, n := range claimed {
		r.Expired += n - 1
	}
	r.Accepted = len(accepted)
	poisoned := map[string]bool{}
	for _, u := range e.Uploads {
		poisoned[u.Poisoned] = u.Poisoned != ""
	}
	for _, s := range e.Stored {
		if s.Quarantined {
			r.Quarantined++
		}
		if poisoned[s.SubmissionID] {
			r.Poisoned++
		}
	}
	return r
}

func listed(ctx context.Context, c *client.Client) (map[seqlease.AccessionVersion]seqlease.Status, error) {
	listing, err := c.ListEntries(ctx, organism, client.ListFilter{})
	if err != nil {
		return nil, err
	}
	statuses := map[seqlease.AccessionVersion]seqlease.Status{}
	for _, e := range listing.Entries {
		statuses[e.AccessionVersion] = e.Status
	}
	return statuses, nil
}

func released(ctx context.Context, c *client.Client) ([]evidence.Released, error) {
	var list []evidence.Released
	_, err := c.ReleasedData(ctx, organism, "", func(text []byte) error {
		var line struct {
			Metadata struct {
				Accession seqlease.Accession `json:"accession"`
				Version   seqlease.Version   `json:"version"`
				Attempt   string             `json:"attempt"`
				Proof     string             `json:"proof"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal(text, &line); err != nil {
			return err
		}
		m := line.Metadata
		list = append(list, evidence.Released{
			AccessionVersion: seqlease.AccessionVersion{Accession: m.Accession, Version: m.Version}, Attempt: m.Attempt, Proof: m.Proof,
		})
		return nil
	})
	return list, err
}
