package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
	"github.com/seqlease/seqlease/worker"
)

// fail notes a failed check.
func (r *Report) fail(format string, args ...any) {
	r.Failed = append(r.Failed, fmt.Sprintf(format, args...))
}

// lost counts refusals for a lost lease.
func lost(refused []seqlease.Refusal) int {
	n := 0
	for _, r := range refused {
		if r.Reason == seqlease.RefusedLeaseLost {
			n++
		}
	}
	return n
}

// checkLeases compares what the workers reported with what leases promise.
func (d *stage) checkLeases(r *Report, what incident) {
	for _, av := range sortedVersions(d.entries) {
		if n := len(d.ledger.accepted[av]); n != 1 {
			r.fail("%s: results were accepted %d times, not once", av, n)
		}
	}
	for _, av := range sortedVersions(d.ledger.accepted) {
		if _, ours := d.entries[av]; !ours {
			r.fail("%s: results were accepted, but nobody submitted it in this run", av)
		}
	}
	for name, attempt := range map[string]seqlease.AttemptID{"killed": what.killed, "stopped": what.frozen} {
		for _, e := range d.ledger.claims[attempt].entries {
			again, found := d.ledger.retakenBy(attempt, e.AccessionVersion)
			if !found {
				r.fail("%s: held by the %s worker and never claimed again", e.AccessionVersion, name)
				continue
			}
			i := slices.IndexFunc(again.entries, func(x worker.EventEntry) bool { return x.AccessionVersion == e.AccessionVersion })
			if got, want := again.entries[i].Attempt, e.Attempt+1; got != want {
				r.fail("%s: claimed again as attempt %d, not %d", e.AccessionVersion, got, want)
			}
		}
	}
	for _, id := range d.ledger.order {
		d.checkClaim(r, id, what)
	}
	if r.ExpiredLeases < 2 {
		r.fail("%s ran out, not 2", count(r.ExpiredLeases, "lease", "leases"))
	}
}

// checkClaim checks how a claim ended: with its results accepted, unless the
// worker was killed or lost its lease. On a very slow machine others than the
// stopped worker may lose one, too, and then they have to drop it, or be refused.
func (d *stage) checkClaim(r *Report, id seqlease.AttemptID, what incident) {
	c := d.ledger.claims[id]
	switch {
	case id == what.killed && c.outcome == "":
	case id != what.killed && id != what.frozen && c.outcome == worker.Submitted:
	case id != what.killed && id != what.frozen && c.outcome == worker.Dropped && c.retaken: // it asked first
	case id != what.killed && c.outcome == worker.Refused && c.retaken:
		if n := lost(c.refused); n != len(c.entries) {
			r.fail("worker %d lost its lease, but only %d of its %d late results were refused for that", c.worker, n, len(c.entries))
		}
	default:
		r.fail("the claim %s of worker %d ended as %q", id, c.worker, c.outcome)
	}
}

// release approves what can be approved, downloads it, and checks both.
func (d *stage) release(ctx context.Context, r *Report) error {
	submitter, err := d.as(d.tokens.submitter)
	if err != nil {
		return err
	}
	filter := client.ListFilter{GroupIDs: []int64{d.group.GroupID}}
	before, err := submitter.ListEntries(ctx, organism, filter)
	if err != nil {
		return err
	}
	good := d.checkListing(r, before)
	approved, err := submitter.Approve(ctx, organism, client.Approval{Scope: seqlease.ApproveAll, GroupIDs: []int64{d.group.GroupID}})
	if err != nil {
		return err
	}
	d.tell("%s approved", count(len(approved), "entry", "entries"))
	slices.SortFunc(approved, seqlease.AccessionVersion.Compare)
	if want := sortedVersions(good); !slices.Equal(approved, want) {
		r.fail("%d entries were approved, not the %d that have no errors", len(approved), len(want))
	}
	public, err := d.as("")
	if err != nil {
		return err
	}
	released := map[seqlease.AccessionVersion]int{}
	stream, err := public.ReleasedData(ctx, organism, "", func(line []byte) error {
		return d.checkReleased(r, line, good, released)
	})
	if err != nil {
		return err
	}
	r.Released = len(released)
	d.tell("released data downloaded: %s, %d of this run", count(int(stream.Records), "record", "records"), len(released))
	for _, av := range sortedVersions(good) {
		if n := released[av]; n != 1 {
			r.fail("%s: released %d times, not once", av, n)
		}
	}
	after, err := submitter.ListEntries(ctx, organism, filter)
	if err != nil {
		return err
	}
	want := map[seqlease.Status]int64{
		seqlease.ApprovedForRelease: int64(len(good)), seqlease.Processed: int64(len(d.entries) - len(good)),
	}
	for _, status := range seqlease.Statuses() {
		if got := after.StatusCounts[status]; got != want[status] {
			r.fail("after the release %d entries are %s, not %d", got, status, want[status])
		}
	}
	return nil
}

// checkListing counts the processed entries and returns those without errors.
func (d *stage) checkListing(r *Report, listing client.Listing) map[seqlease.AccessionVersion]bool {
	good := map[seqlease.AccessionVersion]bool{}
	seen := map[seqlease.AccessionVersion]bool{}
	for _, e := range listing.Entries {
		if id, ours := d.entries[e.AccessionVersion]; !ours || id != e.SubmissionID || seen[e.AccessionVersion] {
			r.fail("%s: listed as submission %q, which isn't what was submitted once as %q", e.AccessionVersion, e.SubmissionID, id)
		}
		seen[e.AccessionVersion] = true
		if e.Status != seqlease.Processed || e.Result == nil {
			r.fail("%s: is %s, not %s", e.AccessionVersion, e.Status, seqlease.Processed)
			continue
		}
		r.Processed++
		switch *e.Result {
		case seqlease.HasErrors:
			r.WithErrors++
			continue
		case seqlease.HasWarnings:
			r.WithWarnings++
		case seqlease.NoIssues:
		}
		good[e.AccessionVersion] = true
	}
	if r.Processed != r.Entries {
		r.fail("%d of %d entries are processed", r.Processed, r.Entries)
	}
	if got := listing.ResultCounts[seqlease.HasErrors]; got != int64(r.WithErrors) {
		r.fail("%d entries with errors are listed, but %d are counted", r.WithErrors, got)
	}
	return good
}

// releasedLine is what is checked of a released record.
type releasedLine struct {
	Metadata struct {
		Accession    seqlease.Accession `json:"accession"`
		Version      seqlease.Version   `json:"version"`
		SubmissionID string             `json:"submissionId"`
		GroupID      int64              `json:"groupId"`
	} `json:"metadata"`
	Unaligned map[string]*string `json:"unalignedNucleotideSequences"`
	Aligned   map[string]*string `json:"alignedNucleotideSequences"`
}

// checkReleased checks a released record if it is of this run.
func (d *stage) checkReleased(r *Report, line []byte, good map[seqlease.AccessionVersion]bool, released map[seqlease.AccessionVersion]int) error {
	var x releasedLine
	if err := json.Unmarshal(line, &x); err != nil {
		return fmt.Errorf("a released record: %w", err)
	}
	av := seqlease.AccessionVersion{Accession: x.Metadata.Accession, Version: x.Metadata.Version}
	id, ours := d.entries[av]
	if !ours {
		return nil // of an earlier run on the same database
	}
	released[av]++
	if !good[av] {
		r.fail("%s: released, but it can't be: it has errors", av)
	}
	if x.Metadata.SubmissionID != id || x.Metadata.GroupID != d.group.GroupID {
		r.fail("%s: released as submission %q of group %d, not %q of %d", av, x.Metadata.SubmissionID, x.Metadata.GroupID, id, d.group.GroupID)
	}
	unaligned, aligned := x.Unaligned["main"], x.Aligned["main"]
	if unaligned == nil || aligned == nil {
		r.fail("%s: released without a sequence", av)
		return nil
	}
	if *unaligned != d.material.genomes[id] {
		r.fail("%s: the released sequence isn't the submitted one", av)
	}
	if len(*aligned) != d.material.reference {
		r.fail("%s: the aligned sequence has %d positions, the reference %d", av, len(*aligned), d.material.reference)
	}
	return nil
}

// ErrChecksFailed is what a report with failed checks means to a caller.
var ErrChecksFailed = errors.New("checks failed")

// Err returns [ErrChecksFailed] with the failed checks, or nil.
func (r *Report) Err() error {
	if len(r.Failed) == 0 {
		return nil
	}
	return fmt.Errorf("%w, %d of them: %s", ErrChecksFailed, len(r.Failed), strings.Join(r.Failed, "; "))
}
