package httpapi

import (
	"net/http"

	"github.com/seqlease/seqlease"
)

// groupBody is a [seqlease.NewGroup] of which every text must be there.
type groupBody struct {
	GroupName   *string `json:"groupName"`
	Institution *string `json:"institution"`
	Address     *struct {
		Line1      *string `json:"line1"`
		Line2      *string `json:"line2"`
		City       *string `json:"city"`
		State      *string `json:"state"`
		PostalCode *string `json:"postalCode"`
		Country    *string `json:"country"`
	} `json:"address"`
	ContactEmail *string `json:"contactEmail"`
}

// newGroup returns the group, or names the first text that is missing.
func (b *groupBody) newGroup() (seqlease.NewGroup, error) {
	var g seqlease.NewGroup
	if b.Address == nil {
		return g, missingMember("address")
	}
	for _, text := range []struct {
		name  string
		value *string
		into  *string
	}{
		{"groupName", b.GroupName, &g.GroupName},
		{"institution", b.Institution, &g.Institution},
		{"address.line1", b.Address.Line1, &g.Address.Line1},
		{"address.line2", b.Address.Line2, &g.Address.Line2},
		{"address.city", b.Address.City, &g.Address.City},
		{"address.state", b.Address.State, &g.Address.State},
		{"address.postalCode", b.Address.PostalCode, &g.Address.PostalCode},
		{"address.country", b.Address.Country, &g.Address.Country},
		{"contactEmail", b.ContactEmail, &g.ContactEmail},
	} {
		if text.value == nil {
			return g, missingMember(text.name)
		}
		*text.into = *text.value
	}
	return g, nil
}

// CreateGroup stores a group.
func (s *server) CreateGroup(w http.ResponseWriter, r *http.Request) {
	var body groupBody
	if err := s.readJSON(r, &body, maxGroupBody); err != nil {
		s.fail(w, r, err)
		return
	}
	g, err := body.newGroup()
	if err != nil {
		s.fail(w, r, err)
		return
	}
	person, _ := personOf(r.Context())
	created, err := s.submissions.CreateGroup(r.Context(), person, g)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, created)
}

// GetGroup shows a group; without a token neither contact nor members.
func (s *server) GetGroup(w http.ResponseWriter, r *http.Request, groupID int64) {
	var asker *seqlease.Person
	if person, known := personOf(r.Context()); known {
		asker = &person
	}
	details, err := s.submissions.Group(r.Context(), asker, groupID)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	g := details.Group
	answer := GroupDetails{Group: PublicGroup{
		GroupId: g.GroupID, GroupName: g.GroupName, Institution: g.Institution, Address: g.Address,
	}}
	if !details.Hidden {
		answer.Group.ContactEmail = &g.ContactEmail
		members := make([]GroupMember, len(details.Users))
		for i, name := range details.Users {
			members[i] = GroupMember{Name: name}
		}
		answer.Users = &members
	}
	writeJSON(w, answer)
}

// GetUserGroups lists the groups of the user.
func (s *server) GetUserGroups(w http.ResponseWriter, r *http.Request) {
	person, _ := personOf(r.Context())
	groups, err := s.submissions.UserGroups(r.Context(), person)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, groups)
}
