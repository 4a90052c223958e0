package postgres

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// scanned is what a claim's statement answers.
type scanned struct {
	now         time.Time
	mark        string
	paused      bool
	earliestEnd *time.Time
	reached     [claimableLanes]reached
	surplusRank *int64 // of entries of ended leases that wait again; nil: none
	ended       []queue.EndedLease
	shares      [][]queue.ClaimedEntry // of the claims that went together
	took        time.Duration          // the statement
}

// count is how many entries were claimed.
func (f *scanned) count() (n int) {
	for _, share := range f.shares {
		n += len(share)
	}
	return n
}

// claimHead is the row without an entry. The statement that takes fresh entries
// alone answers the first five columns.
type claimHead struct {
	now                   time.Time // null in every other row
	mark                  *string   // null if the version was never registered
	current               int64
	registered, paused    bool
	earliest              *time.Time
	surplus               *int64
	endedOf, endedWorkers []string
}

func (h *claimHead) columns() []any {
	return []any{
		&h.now, &h.mark, &h.current, &h.registered, &h.paused, &h.earliest, &h.surplus, &h.endedOf, &h.endedWorkers,
	}
}

// claimRow is a row with an entry. Texts and the document are the driver's until
// the next row.
type claimRow struct {
	share                                         int32 // whose it is of the claims that went together, from 1 on
	lane, attempts                                int16 // lane -1: of an ended lease
	rank, id, version, group, dictionary          int64
	accession, submissionID, submitter, submitted pgtype.DriverBytes
	submittedAt                                   time.Time
}

func (r *claimRow) columns() []any {
	return []any{
		&r.share, &r.lane, &r.rank, &r.id, &r.accession, &r.version, &r.submissionID, &r.submitter, &r.group, &r.submittedAt, &r.attempts,
		&r.dictionary, &r.submitted,
	}
}

// claimedRows takes in the rows with the entries of one claim. Documents lie in one
// piece of memory, which nobody else's claim keeps.
type claimedRows struct {
	entries   []queue.ClaimedEntry
	order     []claimedAt
	texts     []byte
	documents []byte
	submitter string
}

// claimedAt is where the entry of a row waited.
type claimedAt struct {
	spot

	lane queue.Lane
	row  int
}

func (c *claimedRows) add(r *claimRow) {
	c.texts = append(append(c.texts[:0], r.accession...), r.submissionID...) // one string for both
	texts := string(c.texts)
	if c.submitter != string(r.submitter) {
		c.submitter = string(r.submitter)
	}
	e := queue.ClaimedEntry{
		AccessionVersion: seqlease.AccessionVersion{Accession: seqlease.Accession(texts[:len(r.accession)]), Version: seqlease.Version(r.version)},
		SubmissionID:     texts[len(r.accession):], Submitter: c.submitter, GroupID: r.group, SubmittedAt: r.submittedAt.UTC(), Attempt: int(r.attempts),
		Packed: seqlease.Packed{Dictionary: r.dictionary},
	}
	if r.submitted != nil {
		from := len(c.documents)
		c.documents = append(c.documents, r.submitted...)
		e.Packed.Bytes = c.documents[from:len(c.documents):len(c.documents)]
	}
	c.order = append(c.order, claimedAt{spot{r.rank, r.id}, queue.Lane(r.lane), len(c.entries)})
	c.entries = append(c.entries, e)
}

// inOrder returns the entries in claim order, by lane and rank, and notes in found
// how far the claim came.
func (c *claimedRows) inOrder(found *scanned, at look) []queue.ClaimedEntry {
	slices.SortFunc(c.order, func(a, b claimedAt) int {
		return cmp.Or(cmp.Compare(a.lane, b.lane), cmp.Compare(a.rank, b.rank), cmp.Compare(a.id, b.id))
	})
	sorted := make([]queue.ClaimedEntry, len(c.order))
	for place, o := range c.order {
		sorted[place] = c.entries[o.row]
		sorted[place].Place = place
		if o.lane >= 0 {
			found.reached[o.lane].note(at, o.lane, o.spot)
		}
	}
	return sorted
}

// read takes in the answer to as many claims of a queue as there are shares.
func (f *scanned) read(rows pgx.Rows, c queue.Claim, shares int, at look) error {
	var head claimHead
	var row claimRow
	ofEntry, ofHead := row.columns(), head.columns()
	width := len(rows.FieldDescriptions()) - len(ofEntry)
	ofEntry, ofHead = append(make([]any, width), ofEntry...), append(ofHead[:width], make([]any, len(ofEntry))...)
	claimed, headed := make([]claimedRows, shares), false
	for i := range claimed {
		claimed[i].documents = []byte{} // no document is nil, however short
	}
	for rows.Next() {
		if rows.RawValues()[0] == nil {
			if err := rows.Scan(ofEntry...); err != nil {
				return err
			}
			claimed[row.share-1].add(&row)
			continue
		}
		if err := rows.Scan(ofHead...); err != nil {
			return err
		}
		headed = true
		if err := queue.CheckLive(c.Organism, c.PipelineVersion, seqlease.PipelineVersion(head.current), head.registered); err != nil {
			return err
		}
		f.take(&head)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if !headed {
		return errors.New("a claim was answered without a head")
	}
	f.shares = make([][]queue.ClaimedEntry, shares)
	for i := range claimed {
		f.shares[i] = claimed[i].inOrder(f, at)
	}
	return nil
}

func (f *scanned) take(h *claimHead) {
	f.now, f.mark, f.paused, f.surplusRank = h.now.UTC(), *h.mark, h.paused, h.surplus
	if !f.paused {
		f.earliestEnd = h.earliest
	}
	for i, user := range h.endedOf {
		f.ended = append(f.ended, queue.EndedLease{ClaimedBy: user, WorkerID: h.endedWorkers[i]})
	}
}
