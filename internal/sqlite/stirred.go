package sqlite

import (
	"context"
	"fmt"
	"strconv"

	"github.com/seqlease/seqlease/internal/queue"
)

// Stirred says for each of the queues whether something may have become claimable
// since its mark was read (L4, L14), as [queue.WaitStore] says. It needs no writer.
// No ticket is ever locked here: a claim waits for the one writer, and finds what a
// rollback left.
func (s *Store) Stirred(ctx context.Context, awaited []queue.Awaited) ([]bool, error) {
	stirred := make([]bool, 0, len(awaited))
	list := jsonList(awaited, func(b []byte, a queue.Awaited) []byte {
		b = appendText(append(b, '['), a.Organism)
		b = strconv.AppendInt(append(b, ','), int64(a.PipelineVersion), 10)
		return append(appendText(append(b, ','), a.Mark), ']')
	})
	err := s.readOnce().rows(ctx, "stirred", named("awaited", list), func(scan func(...any) error) error {
		var changed bool
		err := scan(&changed)
		stirred = append(stirred, changed)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for what became claimable: %w", storeError(err))
	}
	return stirred, nil
}
