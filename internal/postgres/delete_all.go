package postgres

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
)

//go:embed sql/lock_everything.sql
var lockEverythingSQL string

//go:embed sql/count_all_entries.sql
var countAllEntriesSQL string

//go:embed sql/delete_everything.sql
var deleteEverythingSQL string

//go:embed sql/reset_versions.sql
var resetVersionsSQL string

//go:embed sql/bump_everything.sql
var bumpEverythingSQL string

// DeleteAllSequenceData empties the database, as [queue.AdminStore] says. It waits
// for all transactions that are under way, and others wait for it: claims and
// results come before it or after it.
func (s *Store) DeleteAllSequenceData(ctx context.Context, by string) (int64, error) {
	var entries int64
	err := s.retry(ctx, func() error {
		return s.transaction(ctx, pgx.TxOptions{}, func(tx pgx.Tx) (err error) {
			entries, err = deleteAll(ctx, tx, by)
			return err
		})
	})
	if err != nil {
		return 0, fmt.Errorf("delete everything: %w", err)
	}
	for _, o := range s.forgetQueues() {
		s.bell.Ring(o)
	}
	return entries, nil
}

func deleteAll(ctx context.Context, tx pgx.Tx, by string) (entries int64, err error) {
	if _, err := tx.Exec(ctx, lockEverythingSQL); err != nil {
		return 0, err
	}
	if err := tx.QueryRow(ctx, countAllEntriesSQL).Scan(&entries); err != nil {
		return 0, err
	}
	for _, statement := range []string{deleteEverythingSQL, resetVersionsSQL} {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return 0, err
		}
	}
	if err := noteAction(ctx, tx, 0, seqlease.AuditNote{User: by, Action: seqlease.ActionDeleteAll, Entries: entries}); err != nil {
		return 0, err
	}
	_, err = tx.Exec(ctx, bumpEverythingSQL)
	return entries, err
}

// forgetQueues drops what this process remembers of the queues, and returns the
// organisms that it knows. Other processes find out by the marks.
func (s *Store) forgetQueues() []seqlease.Organism {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.memories = map[memoryKey]*memory{}
	s.ticketLooks.mu.Lock()
	defer s.ticketLooks.mu.Unlock()
	s.ticketLooks.next = time.Time{}
	return slices.Collect(maps.Keys(s.organisms))
}
