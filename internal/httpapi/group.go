package httpapi

import (
	"net/http"
	"strings"

	"github.com/seqlease/seqlease"
)

// groupBody is a [seqlease.NewGroup] of which every text must be there.
type groupBody struct {
	GroupName    *string      `json:"groupName"`
	Institution  *string      `json:"institution"`
	Address      *addressBody `json:"address"`
	ContactEmail *string      `json:"contactEmail"`
}

type addressBody struct {
	Line1      *string `json:"line1"`
	Line2      *string `json:"line2"`
	City       *string `json:"city"`
	State      *string `json:"state"`
	PostalCode *string `json:"postalCode"`
	Country    *string `json:"country"`
}

// newGroup returns the group, or names the first member that is missing.
func (b *groupBody) newGroup() (seqlease.NewGroup, error) {
	var g seqlease.NewGroup
	address := b.Address
	if address == nil {
		address = &addressBody{}
	}
	for _, text := range []struct {
		name  string
		value *string
		into  *string
	}{
		{"groupName", b.GroupName, &g.GroupName},
		{"institution", b.Institution, &g.Institution},
		{"address.line1", address.Line1, &g.Address.Line1},
		{"address.line2", address.Line2, &g.Address.Line2},
		{"address.city", address.City, &g.Address.City},
		{"address.state", address.State, &g.Address.State},
		{"address.postalCode", address.PostalCode, &g.Address.PostalCode},
		{"address.country", address.Country, &g.Address.Country},
		{"contactEmail", b.ContactEmail, &g.ContactEmail},
	} {
		switch {
		case text.value != nil:
			*text.into = *text.value
		case b.Address == nil && strings.HasPrefix(text.name, "address."):
			return g, missingMember("address")
		default:
			return g, missingMember(text.name)
		}
	}
	return g, nil
}

// readGroup reads the body that describes a group.
func (s *server) readGroup(r *http.Request) (seqlease.NewGroup, error) {
	var body groupBody
	if err := s.readJSON(r, &body, maxGroupBody); err != nil {
		return seqlease.NewGroup{}, err
	}
	return body.newGroup()
}

// CreateGroup stores a group.
func (s *server) CreateGroup(w http.ResponseWriter, r *http.Request) {
	g, err := s.readGroup(r)
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

// EditGroup replaces what is said about a group.
func (s *server) EditGroup(w http.ResponseWriter, r *http.Request, groupID int64) {
	g, err := s.readGroup(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	person, _ := personOf(r.Context())
	edited, err := s.submissions.EditGroup(r.Context(), person, groupID, g)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, edited)
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

// GetGroups lists all groups, or those of a name.
func (s *server) GetGroups(w http.ResponseWriter, r *http.Request, params GetGroupsParams) {
	writeArray(s, w, r, s.submissions.Groups(r.Context(), params.Name))
}

// GetUserGroups lists the groups of the user.
func (s *server) GetUserGroups(w http.ResponseWriter, r *http.Request) {
	person, _ := personOf(r.Context())
	writeArray(s, w, r, s.submissions.UserGroups(r.Context(), person))
}
