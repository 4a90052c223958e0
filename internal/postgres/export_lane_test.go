package postgres

import "github.com/seqlease/seqlease"

// Bound is beyond which entry id this process's claims look first, and of which organism.
func (s *Store) Bound(key seqlease.Organism, version seqlease.PipelineVersion) (organismID int32, after int64) {
	s.mu.RLock()
	organismID = s.organisms[key].id
	s.mu.RUnlock()
	l := s.lane(organismID, version)
	l.mu.Lock()
	defer l.mu.Unlock()
	return organismID, l.after
}
