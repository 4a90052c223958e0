package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"iter"
	"strconv"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// accepted is what a submission stored of an attempt's lines.
type accepted struct {
	attempt seqlease.AttemptID
	lines   []*queue.Line
	stored  int // of the lines
}

// leave ends what the stored results end: places in the lease, and quarantine. It
// looks at what the lines name alone, for the lease may hold a hundred times that;
// if they are all that it holds, the lease tells which entries these are.
func (a accepted) leave(ctx context.Context, t *tx, state acceptState, version seqlease.PipelineVersion) error {
	whole := false
	if a.stored == len(a.lines) {
		err := t.row(ctx, "lease_holds", []any{attempt(a.attempt), sql.Named("entries", int64(a.stored))}, &whole)
		if err != nil {
			return err
		}
	}
	if !whole || state.quarantine {
		return a.leaveByEntries(ctx, t, state, version)
	}
	if version == state.current {
		if _, err := t.exec(ctx, "bump_released_by_lease", attempt(a.attempt), sql.Named("organism_id", state.id)); err != nil {
			return err
		}
	}
	for _, statement := range []string{"cut_lease", "end_lease"} {
		if _, err := t.exec(ctx, statement, attempt(a.attempt)); err != nil {
			return err
		}
	}
	return nil
}

func (a accepted) leaveByEntries(ctx context.Context, t *tx, state acceptState, version seqlease.PipelineVersion) error {
	found := make([]int64, 0, a.stored)
	err := t.returnRows(ctx, "accepted_entries", len(a.lines), func(values []any, i int) []any {
		return append(values, string(a.lines[i].Accession), int64(a.lines[i].Version))
	}, func(scan func(...any) error) error {
		var id int64
		err := scan(&id)
		found = append(found, id)
		return err
	}, attempt(a.attempt), sql.Named("pipeline_version", int64(version)))
	if err != nil {
		return err
	}
	ids := sql.Named("entry_ids", jsonIDs(found))
	if version == state.current {
		if _, err := t.exec(ctx, "bump_released_by_entries", ids); err != nil {
			return err
		}
	}
	if state.quarantine {
		places := jsonList(found, func(b []byte, id int64) []byte {
			b = strconv.AppendInt(append(b, '['), int64(version), 10)
			return append(strconv.AppendInt(append(b, ','), id, 10), ']')
		})
		if _, err := t.exec(ctx, "end_quarantine", sql.Named("places", places)); err != nil {
			return err
		}
	}
	if _, err := t.exec(ctx, "cut_accepted", sql.Named("pipeline_version", int64(version)), ids); err != nil {
		return err
	}
	_, err = dropEmptyLeases(ctx, t, []string{hex.EncodeToString(a.attempt[:])})
	return err
}

// byAttempt yields the lines of each attempt in their order, the attempt of the
// first line first.
func byAttempt(lines []queue.Line) iter.Seq2[seqlease.AttemptID, []*queue.Line] {
	var order []seqlease.AttemptID
	of := map[seqlease.AttemptID][]*queue.Line{}
	for i := range lines {
		id := lines[i].AttemptID
		if of[id] == nil {
			order = append(order, id)
			if i == 0 {
				of[id] = make([]*queue.Line, 0, len(lines))
			}
		}
		of[id] = append(of[id], &lines[i])
	}
	return func(yield func(seqlease.AttemptID, []*queue.Line) bool) {
		for _, id := range order {
			if !yield(id, of[id]) {
				return
			}
		}
	}
}
