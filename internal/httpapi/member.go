package httpapi

import "net/http"

// AddMember makes a user a member of a group.
func (s *server) AddMember(w http.ResponseWriter, r *http.Request, groupID int64, name string) {
	person, _ := personOf(r.Context())
	if err := s.submissions.AddMember(r.Context(), person, groupID, name); err != nil {
		s.fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// RemoveMember ends the membership of a user.
func (s *server) RemoveMember(w http.ResponseWriter, r *http.Request, groupID int64, name string) {
	person, _ := personOf(r.Context())
	if err := s.submissions.RemoveMember(r.Context(), person, groupID, name); err != nil {
		s.fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
