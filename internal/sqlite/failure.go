package sqlite

import (
	"context"
	"strconv"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// lastFailures is how many failures of an entry are shown beside it.
const lastFailures = 10

// failuresOf names an entry at a revision and a pipeline version.
type failuresOf struct {
	entryID  int64
	version  seqlease.PipelineVersion
	revision int
}

// readFailures calls add with the place in keys of each of the last failures,
// newest first.
func readFailures(ctx context.Context, t *tx, keys []failuresOf, add func(place int, f queue.Failure)) error {
	list := jsonList(keys, func(b []byte, k failuresOf) []byte {
		b = strconv.AppendInt(append(b, '['), k.entryID, 10)
		b = strconv.AppendInt(append(b, ','), int64(k.version), 10)
		return append(strconv.AppendInt(append(b, ','), int64(k.revision), 10), ']')
	})
	return t.rows(ctx, "failures", named("keys", list, "limit", int64(lastFailures)), func(scan func(...any) error) error {
		var place int
		f, err := scanFailure(scan, &place)
		if err == nil {
			add(place, f)
		}
		return err
	})
}

// scanFailure scans a failure behind other columns.
func scanFailure(scan func(...any) error, before ...any) (queue.Failure, error) {
	var f queue.Failure
	var at int64
	var id []byte
	err := scan(append(before, &at, &f.PipelineVersion, &id, &f.Kind, &f.WorkerID, &f.ClaimedBy, &f.Counted, &f.Reason)...)
	f.At = instant(at)
	copy(f.AttemptID[:], id)
	return f, err
}
