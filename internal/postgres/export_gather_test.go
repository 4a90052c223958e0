package postgres

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
