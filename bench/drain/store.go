package drain

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/bench/measure"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

const (
	organismKey = "benchvirus"
	user        = "pipeline"
	// leaseLength is longer than any drain.
	leaseLength = time.Hour
)

// storeDesign is the product's store, opened as a server opens it.
type storeDesign struct {
	*postgres.Store
	database
	work  Work
	group int64
	batch int // entries that a claim asks for
}

// openStore brings up the schema in an empty database and opens the store.
func openStore(ctx context.Context, address string, w Work) (_ *storeDesign, err error) {
	if err := postgres.Migrate(ctx, address); err != nil {
		return nil, err
	}
	q := &storeDesign{work: w, batch: Batch}
	if q.Store, err = postgres.Open(ctx, postgres.Options{Address: address, MaxConnections: Connections, Bell: &queue.Bell{}}); err != nil {
		return nil, err
	}
	// Figures of the server and checks go through connections of their own.
	if q.pool, err = pgxpool.New(ctx, address); err != nil {
		_ = q.Close() // the error says enough
		return nil, err
	}
	organisms := []*organism.Organism{{
		Key: organismKey, DisplayName: "Bench virus", ConsensusSequences: true,
		Segments: []organism.NamedSequence{{Name: organism.MainSegment, Sequence: "ACGT"}},
	}}
	if err := q.Register(ctx, organisms); err != nil {
		q.close()
		return nil, err
	}
	g, err := q.CreateGroup(ctx, seqlease.NewGroup{GroupName: "Institute"}, "anna")
	if err != nil {
		q.close()
		return nil, err
	}
	q.group = g.GroupID
	return q, nil
}

func (q *storeDesign) close() {
	_ = q.Close() // it only closes connections
	q.database.close()
}

// fill submits the entries in one upload, as a server does.
func (q *storeDesign) fill(ctx context.Context, first int64, n int) error {
	made, err := q.Submit(ctx, submission.Upload{
		Organism: organismKey, GroupID: q.group, Submitter: "anna", AccessionPrefix: "B_",
		Terms: seqlease.DataUseTerms{Type: seqlease.TermsOpen}, Entries: q.entries(first, n),
	})
	if err == nil && len(made) != n {
		err = fmt.Errorf("%d entries were made of %d", len(made), n)
	}
	return err
}

func (q *storeDesign) entries(first int64, n int) iter.Seq2[submission.PackedEntry, error] {
	return func(yield func(submission.PackedEntry, error) bool) {
		for number := first; number < first+int64(n); number++ {
			e := submission.PackedEntry{SubmissionID: strconv.FormatInt(number, 10), Data: seqlease.Packed{Bytes: document(number, q.work.Entry)}}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (q *storeDesign) step(ctx context.Context) ([]int64, error) {
	lease, err := q.Claim(ctx, queue.Claim{
		Organism: organismKey, PipelineVersion: 1, Entries: q.batch, AttemptID: seqlease.NewAttemptID(),
		Lease: leaseLength, ClaimedBy: user, WorkerID: "bench",
	})
	if err != nil || len(lease.Entries) == 0 {
		return nil, err
	}
	numbers, lines := make([]int64, len(lease.Entries)), make([]queue.Line, len(lease.Entries))
	for i, e := range lease.Entries {
		if numbers[i], err = numberOf(e.Packed.Bytes); err != nil {
			return nil, err
		}
		body := document(numbers[i], q.work.Result)
		lines[i] = queue.Line{
			AccessionVersion: e.AccessionVersion, Number: i + 1, AttemptID: lease.AttemptID, Result: seqlease.NoIssues,
			Digest: [16]byte(body), Packed: seqlease.Packed{Bytes: body},
		}
	}
	accepted, err := q.AcceptResults(ctx, queue.Submission{Organism: organismKey, PipelineVersion: 1, ClaimedBy: user, Lines: lines})
	if err == nil && accepted.Stored != len(lines) {
		err = fmt.Errorf("%d results of %d were stored", accepted.Stored, len(lines))
	}
	return numbers, err
}

func (q *storeDesign) check(ctx context.Context, done, left int) error {
	return q.checkWith(ctx, "store_check", q.work.Result, done, left)
}

// Store is the product's store, called directly.
func Store(w Work) measure.Contender {
	return measure.Contender{Name: nameStore, Run: func(ctx context.Context, b *measure.Bench) (measure.Sample, error) {
		return withStore(ctx, b, w.quickly(b), func(q *storeDesign, w Work) (measure.Sample, error) {
			return run(ctx, b, q, w, false)
		})
	}}
}

// withStore runs f with a store in an empty database.
func withStore(ctx context.Context, b *measure.Bench, w Work, f func(*storeDesign, Work) (measure.Sample, error)) (measure.Sample, error) {
	return inDatabase(ctx, b, func(address string) (measure.Sample, error) {
		q, err := openStore(ctx, address, w)
		if err != nil {
			return nil, err
		}
		defer q.close()
		return f(q, w)
	})
}
