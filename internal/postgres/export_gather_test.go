package postgres

import "github.com/seqlease/seqlease"

// WaitingTogether is how many claims of fresh entries and how many submissions wait for
// their turn.
func (s *Store) WaitingTogether() (claims, submissions int) {
	return s.freshClaims.waiting(), s.acceptances.waiting()
}

func (g *gathering[K, R]) waiting() (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, q := range g.queues {
		n += len(q.waiting)
	}
	return n
}

// WaitingGlances is how many claims wait to be told whether their queue has changed.
func (s *Store) WaitingGlances() int { return s.glances.waiting() }

// LeadLook begins a look at a queue, for which all claims wait that find nothing fresh,
// and returns what ends it: it says that it found nothing.
func (s *Store) LeadLook(organismID int32, version seqlease.PipelineVersion) (end func()) {
	m := s.memory(organismID, version)
	lead := m.share(look{}).lead
	return func() { m.end(lead, &claimed{scanned: &scanned{}}) }
}
