package postgres

import (
	"maps"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// Bound is beyond which rank and entry id of a lane this process's claims look
// first, and of which organism.
func (s *Store) Bound(key seqlease.Organism, version seqlease.PipelineVersion, lane queue.Lane) (organismID int32, rank, id int64) {
	s.mu.RLock()
	organismID = s.organisms[key].id
	s.mu.RUnlock()
	m := s.memory(organismID, version)
	m.mu.Lock()
	defer m.mu.Unlock()
	return organismID, m.after[lane].rank, m.after[lane].id
}

// ClaimArguments are those of a claim of n that looks beyond the bound of lane 0,
// and at leases of any age, too.
func ClaimArguments(organismID int32, n int, rank, id int64, more pgx.StrictNamedArgs) pgx.StrictNamedArgs {
	arguments := look{after: bounds{{rank, id}}}.arguments(n)
	maps.Copy(arguments, more)
	return arguments
}

// ClaimFreshArguments are those of a claim that takes fresh entries alone.
func ClaimFreshArguments(rank, id int64, more pgx.StrictNamedArgs) pgx.StrictNamedArgs {
	arguments := look{after: bounds{{rank, id}}}.freshArguments()
	maps.Copy(arguments, more)
	return arguments
}

// JustLooked makes the last look at the whole queue have begun at this moment, and
// the last turns of suspects that looked at the whole lane a second before, and
// claims look at suspects from now on only beyond the present instant.
func (s *Store) JustLooked(organismID int32, version seqlease.PipelineVersion) {
	m := s.memory(organismID, version)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.scannedAt, m.scannedMark = time.Now(), m.newestMark
	m.probedAt = m.scannedAt
	for _, lane := range []queue.Lane{queue.LaneSuspect, queue.LaneAlone} {
		m.after[lane] = spot{m.scannedAt.UnixMicro(), 0}
		m.turnedAt[lane] = m.scannedAt.Add(-scanInterval)
	}
}

// JustReplaced makes results have replaced others at this moment.
func (s *Store) JustReplaced(organismID int32, version seqlease.PipelineVersion) {
	s.memory(organismID, version).replaced()
}

// Remembered is of how many queues this process remembers anything.
func (s *Store) Remembered() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.memories)
}

// LookLater makes claims take fresh entries and nothing else for a minute, beyond the
// bounds: nothing else is due.
func (s *Store) LookLater(organismID int32, version seqlease.PipelineVersion) {
	m := s.memory(organismID, version)
	m.mu.Lock()
	defer m.mu.Unlock()
	later := time.Now().Add(time.Minute)
	m.newestMark = max(m.newestMark, "0") // nothing is known at no mark
	m.scannedAt, m.scannedMark, m.probedAt, m.nothing = later, m.newestMark, later, nil
	for _, lane := range []queue.Lane{queue.LaneSuspect, queue.LaneAlone} {
		m.turnedAt[lane], m.noneAt[lane] = later, m.newestMark
	}
}
