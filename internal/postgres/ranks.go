package postgres

import (
	_ "embed"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

//go:embed sql/reserve_ranks.sql
var reserveRanksSQL string

// knownBounds are the lower bounds of lane 0 that this process knows: a statement that
// looks for the head of a queue begins there. The slices are parallel.
type knownBounds struct {
	organisms            []int32
	versions, ranks, ids []int64
}

// knownBounds returns the bounds in every queue of the organism; 0 means every one.
func (s *Store) knownBounds(organismID int32) knownBounds {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var b knownBounds
	for key, m := range s.memories {
		if organismID != 0 && key.organism != organismID {
			continue
		}
		m.mu.Lock()
		p := m.after[queue.LaneFresh]
		m.mu.Unlock()
		b.organisms, b.versions = append(b.organisms, key.organism), append(b.versions, int64(key.version))
		b.ranks, b.ids = append(b.ranks, p.rank), append(b.ids, p.id)
	}
	return b
}

// moveBack makes claims of this process look at the lane from the rank on, since
// something was put there. Organism or version 0 means every one.
func (s *Store) moveBack(organismID int32, version seqlease.PipelineVersion, lane queue.Lane, rank int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for key, m := range s.memories {
		if (organismID == 0 || key.organism == organismID) && (version == 0 || key.version == version) {
			m.moveBack(lane, rank)
		}
	}
}

// moveSuspectsBack is moveBack for both lanes of suspects.
func (s *Store) moveSuspectsBack(organismID int32, version seqlease.PipelineVersion, rank int64) {
	s.moveBack(organismID, version, queue.LaneSuspect, rank)
	s.moveBack(organismID, version, queue.LaneAlone, rank)
}

// ranksOf reads rows of a pipeline version and a rank, and returns how many there
// are and the least rank of each version.
func ranksOf(rows pgx.Rows) (n int, ranks map[seqlease.PipelineVersion]int64, err error) {
	ranks = map[seqlease.PipelineVersion]int64{}
	var version seqlease.PipelineVersion
	var rank int64
	_, err = pgx.ForEachRow(rows, []any{&version, &rank}, func() error {
		n++
		if least, known := ranks[version]; !known || rank < least {
			ranks[version] = rank
		}
		return nil
	})
	return n, ranks, err
}
