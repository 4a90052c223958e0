package client_test

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
)

// groupCall is what a server was asked.
type groupCall struct{ Method, Path, Query, Body string }

// recording returns a client of a server that answers so, and what it was asked last.
func recording(t *testing.T, status int, body string) (*client.Client, *groupCall) {
	t.Helper()
	var last groupCall
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		content, _ := io.ReadAll(r.Body)
		last = groupCall{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, string(content)}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
	return c, &last
}

const labJSON = `{"groupId":7,"groupName":"Lab","institution":"I","address":{"line1":"1","line2":"2","city":"c","state":"s","postalCode":"p","country":"CH"},"contactEmail":"a@b"}`

var lab = seqlease.Group{GroupID: 7, NewGroup: seqlease.NewGroup{
	GroupName: "Lab", Institution: "I", ContactEmail: "a@b",
	Address: seqlease.Address{Line1: "1", Line2: "2", City: "c", State: "s", PostalCode: "p", Country: "CH"},
}}

func TestGroups_AskAndRead(t *testing.T) {
	t.Parallel()
	c, last := recording(t, 200, "["+labJSON+"]")
	for want, list := range map[groupCall]func() ([]seqlease.Group, error){
		{"GET", "/groups", "", ""}:                  func() ([]seqlease.Group, error) { return c.Groups(t.Context()) },
		{"GET", "/groups", "name=A%26B+%C3%A9", ""}: func() ([]seqlease.Group, error) { return c.GroupsNamed(t.Context(), "A&B é") },
		{"GET", "/groups", "name=", ""}:             func() ([]seqlease.Group, error) { return c.GroupsNamed(t.Context(), "") },
		{"GET", "/user/groups", "", ""}:             func() ([]seqlease.Group, error) { return c.UserGroups(t.Context()) },
	} {
		groups, err := list()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(groups, []seqlease.Group{lab}); diff != "" || *last != want {
			t.Errorf("asked %v, want %v (-got +want):\n%s", *last, want, diff)
		}
	}
}

func TestGroup_WithAndWithoutToken(t *testing.T) {
	t.Parallel()
	c, last := recording(t, 200, `{"group":`+labJSON+`,"users":[{"name":"ann"},{"name":"bert"}]}`)
	group, users, err := c.Group(t.Context(), 7)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(group, lab) + cmp.Diff(users, []string{"ann", "bert"}); diff != "" || last.Path != "/groups/7" {
		t.Errorf("asked %v (-got +want):\n%s", *last, diff)
	}
	c, _ = recording(t, 200, `{"group":{"groupId":7,"groupName":"Lab","institution":"","address":{"line1":"","line2":"","city":"","state":"","postalCode":"","country":""},"contactEmail":null},"users":null}`)
	if group, users, err = c.Group(t.Context(), 7); err != nil || group.ContactEmail != "" || users != nil {
		t.Errorf("got %+v, %v, %v", group, users, err)
	}
}

func TestEditGroup_Puts(t *testing.T) {
	t.Parallel()
	c, last := recording(t, 200, labJSON)
	group, err := c.EditGroup(t.Context(), 7, lab.NewGroup)
	if err != nil {
		t.Fatal(err)
	}
	want := groupCall{"PUT", "/groups/7", "", `{"groupName":"Lab","institution":"I","address":{"line1":"1","line2":"2","city":"c","state":"s","postalCode":"p","country":"CH"},"contactEmail":"a@b"}`}
	if diff := cmp.Diff(group, lab); diff != "" || *last != want {
		t.Errorf("asked %v, want %v (-got +want):\n%s", *last, want, diff)
	}
}

func TestMembers_NamesAreNotPartOfTheWay(t *testing.T) {
	t.Parallel()
	c, last := recording(t, 204, "")
	for name, escaped := range map[string]string{
		"ann": "ann", "a/b": "a%2Fb", "..": "%2E%2E", ".": "%2E", "a.b": "a.b", "100%": "100%25", "é ?#": "%C3%A9%20%3F%23",
	} {
		for method, act := range map[string]func() error{
			"PUT":    func() error { return c.AddMember(t.Context(), 7, name) },
			"DELETE": func() error { return c.RemoveMember(t.Context(), 7, name) },
		} {
			if err := act(); err != nil {
				t.Errorf("%s %q: %v", method, name, err)
			}
			if want := (groupCall{method, "/groups/7/users/" + escaped, "", ""}); *last != want {
				t.Errorf("%q: asked %v, want %v", name, *last, want)
			}
		}
	}
	c = serve(t, answer(409, `{"type":"urn:seqlease:problem:conflict","title":"Conflict","status":409,"detail":"a member already"}`,
		"Content-Type", "application/problem+json"))
	if err := c.AddMember(t.Context(), 7, "ann"); !errors.Is(err, seqlease.ErrConflict) {
		t.Errorf("got %v, want %v", err, seqlease.ErrConflict)
	}
}

func TestDataUseTerms_AskAndRead(t *testing.T) {
	t.Parallel()
	day := time.Date(2027, 2, 28, 0, 0, 0, 0, time.UTC)
	c, last := recording(t, 204, "")
	for body, terms := range map[string]seqlease.DataUseTerms{
		`{"accessions":["A","B"],"newDataUseTerms":{"type":"OPEN"}}`: {Type: seqlease.TermsOpen},
		`{"accessions":["A","B"],"newDataUseTerms":{"type":"RESTRICTED","restrictedUntil":"2027-02-28"}}`: {
			Type: seqlease.TermsRestricted, RestrictedUntil: day,
		},
	} {
		if err := c.ChangeDataUseTerms(t.Context(), []seqlease.Accession{"A", "B"}, terms); err != nil {
			t.Fatal(err)
		}
		if want := (groupCall{"PUT", "/data-use-terms", "", body}); *last != want {
			t.Errorf("asked %v, want %v", *last, want)
		}
	}
	c, last = recording(t, 200, `[{"accession":"A","changeDate":"2026-03-04T05:06:07.000000","dataUseTerms":{"type":"RESTRICTED","restrictedUntil":"2027-02-28"},"userName":"ann"},`+
		`{"accession":"A","changeDate":"2026-03-05T05:06:07.123456","dataUseTerms":{"type":"OPEN"},"userName":"bert"}]`)
	history, err := c.DataUseTerms(t.Context(), "A")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(history, []client.TermsRecord{
		{ChangedAt: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), Terms: seqlease.DataUseTerms{Type: seqlease.TermsRestricted, RestrictedUntil: day}, User: "ann"},
		{ChangedAt: time.Date(2026, 3, 5, 5, 6, 7, 123456000, time.UTC), Terms: seqlease.DataUseTerms{Type: seqlease.TermsOpen}, User: "bert"},
	}); diff != "" || last.Path != "/data-use-terms/A" {
		t.Errorf("asked %v (-got +want):\n%s", *last, diff)
	}
	c, _ = recording(t, 200, `[{"accession":"A","changeDate":"yesterday","dataUseTerms":{"type":"OPEN"},"userName":"ann"}]`)
	if _, err := c.DataUseTerms(t.Context(), "A"); err == nil {
		t.Error("a date that can't be read is no error")
	}
}
