package drain

import (
	"context"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease/bench/measure"
)

// floorDesign stores results and nothing else: what no queue can beat.
type floorDesign struct {
	database
	work Work
	last atomic.Int64 // number that was taken
	end  atomic.Int64 // greatest number to be taken
}

// Floor copies the results into a table with their key, a batch for each commit.
func Floor(w Work) measure.Contender {
	return measure.Contender{Name: nameFloor, Run: func(ctx context.Context, b *measure.Bench) (measure.Sample, error) {
		w := w.quickly(b)
		return inDatabase(ctx, b, func(address string) (measure.Sample, error) {
			q, err := openFloor(ctx, address, w)
			if err != nil {
				return nil, err
			}
			defer q.close()
			return run(ctx, b, q, w, false)
		})
	}}
}

func openFloor(ctx context.Context, address string, w Work) (*floorDesign, error) {
	d, err := openPool(ctx, address, "floor_schema")
	if err != nil {
		return nil, err
	}
	return &floorDesign{database: d, work: w}, nil
}

func (q *floorDesign) fill(_ context.Context, first int64, n int) error {
	q.last.Store(first - 1)
	q.end.Store(first - 1 + int64(n))
	return nil
}

func (q *floorDesign) step(ctx context.Context) ([]int64, error) {
	last := q.last.Add(Batch)
	numbers := make([]int64, 0, Batch)
	for number := last - Batch + 1; number <= min(last, q.end.Load()); number++ {
		numbers = append(numbers, number)
	}
	if len(numbers) == 0 {
		return nil, nil
	}
	rows := pgx.CopyFromSlice(len(numbers), func(i int) ([]any, error) {
		return []any{int64(1), numbers[i], document(numbers[i], q.work.Result)}, nil
	})
	_, err := q.pool.CopyFrom(ctx, pgx.Identifier{"result"}, []string{"pipeline_version", "entry_id", "body"}, rows)
	return numbers, err
}

func (q *floorDesign) check(ctx context.Context, done, left int) error {
	return q.checkWith(ctx, "floor_check", q.work.Result, done, left)
}
