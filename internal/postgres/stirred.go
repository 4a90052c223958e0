package postgres

import (
	"context"
	_ "embed"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seqlease/seqlease/internal/queue"
)

//go:embed sql/stirred.sql
var stirredSQL string

// Stirred says which of the awaited queues may have something (L14), as
// [queue.WaitStore] says. Tickets that others have locked are passed over by the
// claim that found nothing, and when they are let go by a rollback no mark changes:
// so it says that a queue stirs also while it has any ticket.
func (s *Store) Stirred(ctx context.Context, awaited []queue.Awaited) ([]bool, error) {
	if len(awaited) == 0 {
		return nil, nil
	}
	organisms, versions, marks := make([]string, len(awaited)), make([]int64, len(awaited)), make([]string, len(awaited))
	for i, a := range awaited {
		organisms[i], versions[i], marks[i] = string(a.Organism), int64(a.PipelineVersion), a.Mark
	}
	tickets := s.ticketLooks.due()
	if tickets {
		defer s.ticketLooks.begin()()
	}
	arguments := pgx.StrictNamedArgs{"organisms": organisms, "versions": versions, "marks": marks, "tickets": tickets}
	var list []bool
	err := s.repeat(ctx, func() error {
		return s.with(ctx, func(c *pgxpool.Conn) error {
			return withSettings(ctx, c, planSettingsSQL, stirredSQL, arguments, func(rows pgx.Rows) (err error) {
				list, err = pgx.CollectRows(rows, pgx.RowTo[bool])
				return err
			})
		})
	})
	if err != nil {
		return nil, fmt.Errorf("look at %d awaited queues: %w", len(awaited), err)
	}
	return list, nil
}

// ticketLookShare bounds the looks for tickets to a twentieth of the time: with an
// old snapshot open each wades through the dead rows of all tickets that were claimed.
const ticketLookShare = 20

// ticketLooks says when the next look for tickets may be.
type ticketLooks struct {
	mu   sync.Mutex
	next time.Time
}

func (l *ticketLooks) due() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !time.Now().Before(l.next) //nolint:forbidigo // paces looks at the queue; says nothing about leases
}

// begin begins a look, which the returned function ends.
func (l *ticketLooks) begin() (end func()) {
	began := time.Now() //nolint:forbidigo // as above
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.next = began.Add(ticketLookShare * time.Since(began))
	}
}
