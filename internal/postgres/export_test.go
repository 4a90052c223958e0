package postgres

import "github.com/jackc/pgx/v5/pgxpool"

// The statements whose plans are tested.
var (
	ClaimSQL         = claimSQL
	ClaimSettingsSQL = claimSettingsSQL
)

// Forget drops what this process remembers of the queues.
func (s *Store) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.memories = map[memoryKey]*memory{}
}

// Pool lets tests look at the database and stand in the way.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// Repetitions is how many transactions were tried again.
func (s *Store) Repetitions() int64 { return s.repetitions.Load() }
