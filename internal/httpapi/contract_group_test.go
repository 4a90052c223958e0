package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
)

const jsonType = "application/json"

// putJSON sends a JSON body by PUT.
func (d *door) putJSON(t *testing.T, path, token, body string) answer {
	t.Helper()
	return d.call(t, "PUT", path, token, strings.NewReader(body), "Content-Type", jsonType)
}

// groupJSON is a whole group of the name.
func groupJSON(name string) string {
	return fmt.Sprintf(`{"groupName":%q,"institution":"I","address":{"line1":"1","line2":"2","city":"c","state":"s","postalCode":"p","country":"CH"},"contactEmail":"a@b"}`, name)
}

// groupWithout is a group without one member, which may be one of the address.
func groupWithout(t *testing.T, member string, instead ...any) string {
	t.Helper()
	var g map[string]any
	if err := json.Unmarshal([]byte(groupJSON("Lab")), &g); err != nil {
		t.Fatal(err)
	}
	of, name := g, member
	if part, isAddress := strings.CutPrefix(member, "address."); isAddress {
		of, name = g["address"].(map[string]any), part
	}
	delete(of, name)
	if len(instead) > 0 {
		of[name] = instead[0]
	}
	body, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// knowsOnly is an identity provider that has these users and is away when asked for
// the user "away".
func knowsOnly(names ...string) func(context.Context, string) (bool, error) {
	return func(_ context.Context, name string) (bool, error) {
		if name == "away" {
			return false, errors.New("dial secret-host: connection refused")
		}
		return slices.Contains(names, name), nil
	}
}

// namesOf asks for a list of groups and returns their names.
func (d *door) namesOf(t *testing.T, path, token string) []string {
	t.Helper()
	a := d.call(t, "GET", path, token, nil).want(t, 200)
	if got := a.Header.Get("Content-Type"); got != jsonType {
		t.Errorf("%s: content type %q", path, got)
	}
	var groups []seqlease.Group
	a.into(t, &groups)
	names := []string{}
	var last int64
	for _, g := range groups {
		if g.GroupID <= last {
			t.Errorf("%s: group %d comes after group %d", path, g.GroupID, last)
		}
		last = g.GroupID
		names = append(names, g.GroupName)
	}
	return names
}

func (d *door) members(t *testing.T, id int64) []string {
	t.Helper()
	var details struct{ Users []struct{ Name string } }
	d.call(t, "GET", fmt.Sprintf("/groups/%d", id), root, nil).want(t, 200).into(t, &details)
	names := []string{}
	for _, u := range details.Users {
		names = append(names, u.Name)
	}
	return names
}

func wantList[T any](t *testing.T, what string, got, want []T) {
	t.Helper()
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("%s (-got +want):\n%s", what, diff)
	}
}

func TestContract_CreateGroup(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		post := func(token, body string) answer {
			return d.call(t, "POST", "/groups", token, strings.NewReader(body), "Content-Type", jsonType)
		}
		members := []string{
			"groupName", "institution", "address.line1", "address.line2", "address.city", "address.state", "address.postalCode",
			"address.country", "contactEmail",
		}
		for _, member := range append(members, "address") {
			for _, body := range []string{groupWithout(t, member), groupWithout(t, member, nil)} {
				post(anna, body).problem(t, 400, member+" is missing")
			}
		}
		post(anna, `{"groupName":"Lab","contactEmail":"a@b"}`).problem(t, 400, "institution is missing") // the first
		post(anna, `{}`).problem(t, 400, "groupName is missing")
		for _, member := range members {
			post(anna, groupWithout(t, member, strings.Repeat("é", 256))).problem(t, 400, member, "255")
		}
		post(anna, groupWithout(t, "groupName", "a\x00b")).problem(t, 400, "groupName", "NUL")
		post(anna, groupWithout(t, "address", "Main Street")).problem(t, 400, "deserialised")
		post(anna, `{"groupName":`).problem(t, 400, "deserialised")
		d.call(t, "POST", "/groups", anna, strings.NewReader(groupJSON("Lab"))).problem(t, 415)
		post("", groupJSON("Lab")).problem(t, 403)
		wantList(t, "groups after refusals", d.namesOf(t, "/groups", anna), []string{})

		for i, body := range []string{
			groupJSON("Lab"), groupWithout(t, "groupName", strings.Repeat("é", 255)), groupWithout(t, "address.line2", ""),
			groupWithout(t, "address.postalCode", 8001), strings.Replace(groupJSON("Lab"), "{", `{"later":[1],`, 1),
		} {
			var g seqlease.Group
			post(anna, body).want(t, 200).into(t, &g)
			if g.GroupID != int64(i+1) {
				t.Errorf("the group has id %d, want %d", g.GroupID, i+1)
			}
			wantList(t, "members", d.members(t, g.GroupID), []string{anna})
		}
		var g any
		post(anna, groupJSON("Lab")).want(t, 200).into(t, &g)
		if diff := cmp.Diff(g, map[string]any{
			"groupId": 6., "groupName": "Lab", "institution": "I", "contactEmail": "a@b", "address": map[string]any{
				"line1": "1", "line2": "2", "city": "c", "state": "s", "postalCode": "p", "country": "CH",
			},
		}); diff != "" {
			t.Errorf("group (-got +want):\n%s", diff)
		}
	})
}

func TestContract_GroupsByName(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		all := []string{"Straße", "STRASSE", "Épidémie", "ÉPIDÉMIE", "e\u0301pide\u0301mie", "ΣΊΣΥΦΟΣ", "σίσυφος", "Lab", "lab ", "l_b", "l%", "", "İzmir"}
		for _, name := range all {
			body := groupWithout(t, "groupName", name)
			d.call(t, "POST", "/groups", anna, strings.NewReader(body), "Content-Type", jsonType).want(t, 200)
		}
		wantList(t, "all groups", d.namesOf(t, "/groups", bob), all)
		for name, want := range map[string][]string{
			"strasse": all[:2], "épidémie": all[2:5], "EPIDEMIE": {}, "ΣΊΣυφος": all[5:7],
			"LAB": {"Lab"}, "lab": {"Lab"}, "Lab ": {"lab "}, "la": {}, "l_b": {"l_b"}, "L%": {"l%"}, "%": {}, "": {""}, "i\u0307ZMIR": {"İzmir"},
			"\x00": {}, "\xff": {}, "Lab,lab ": {},
		} {
			wantList(t, fmt.Sprintf("groups named %q", name), d.namesOf(t, "/groups?name="+url.QueryEscape(name), bob), want)
		}
		d.call(t, "GET", "/groups?name=a&name=b", bob, nil).problem(t, 400, "name")
		d.call(t, "GET", "/groups", "", nil).problem(t, 401)
		d.call(t, "GET", "/groups?name=lab", "nobody", nil).want(t, 401)
	})
}

func TestContract_UserGroups(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		var mine, all []string
		for i := range 470 { // more than are read at once
			name, token := fmt.Sprintf("Group %d", i), anna
			if i%3 == 0 {
				token = bob
			} else {
				mine = append(mine, name)
			}
			all = append(all, name)
			d.call(t, "POST", "/groups", token, strings.NewReader(groupJSON(name)), "Content-Type", jsonType).want(t, 200)
		}
		wantList(t, "groups of anna", d.namesOf(t, "/user/groups", anna), mine)
		wantList(t, "groups of root", d.namesOf(t, "/user/groups", root), all)
		wantList(t, "groups of pipe", d.namesOf(t, "/user/groups", pipe), []string{})
		wantList(t, "all groups", d.namesOf(t, "/groups", pipe), all)
		wantList(t, "one group", d.namesOf(t, "/groups?name=group+469", pipe), all[469:])
		d.call(t, "GET", "/user/groups", "", nil).problem(t, 401)
	})
}

func TestContract_GetGroup(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		id := d.newGroup(t, anna)
		path := fmt.Sprintf("/groups/%d", id)
		for _, token := range []string{"", anna, bob} {
			var details struct {
				Group map[string]any
				Users any
			}
			d.call(t, "GET", path, token, nil).want(t, 200).into(t, &details)
			email, isThere := details.Group["contactEmail"]
			if hidden := token == ""; !isThere || (email == nil) != hidden || (details.Users == nil) != hidden {
				t.Errorf("with token %q: contact %v, users %v", token, email, details.Users)
			}
		}
		d.call(t, "GET", "/groups/99", anna, nil).problem(t, 404, "99")
		d.call(t, "GET", "/groups/99", "", nil).problem(t, 404, "99")
		d.call(t, "GET", "/groups/one", anna, nil).problem(t, 400, "groupId")
		d.call(t, "GET", path, "nobody", nil).want(t, 401)
	})
}

func TestContract_EditGroup(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{knows: knowsOnly(anna, bob, root)}, func(t *testing.T, d *door) {
		path := fmt.Sprintf("/groups/%d", d.newGroup(t, anna))
		// Each is refused for the first of its faults.
		d.putJSON(t, "/groups/99", pipe, groupWithout(t, "institution")).problem(t, 400, "institution is missing")
		d.putJSON(t, "/groups/99", pipe, groupWithout(t, "address.city", strings.Repeat("x", 256))).problem(t, 400, "address.city")
		d.putJSON(t, "/groups/99", pipe, groupJSON("New")).problem(t, 404, pipe)
		d.putJSON(t, path, pipe, groupJSON("New")).problem(t, 404, pipe)
		d.putJSON(t, "/groups/99", bob, groupJSON("New")).problem(t, 404, "group 99")
		d.putJSON(t, path, bob, groupJSON("New")).problem(t, 403, bob, "group 1")
		d.putJSON(t, path, "", groupJSON("New")).problem(t, 403)
		d.putJSON(t, path, "nobody", groupJSON("New")).want(t, 401)
		wantList(t, "groups after refusals", d.namesOf(t, "/groups", anna), []string{"Lab"})

		for name, token := range map[string]string{"By a member": anna, "By a super user": root} {
			var edited, read seqlease.Group
			d.putJSON(t, path, token, groupJSON(name)).want(t, 200).into(t, &edited)
			var details struct{ Group *seqlease.Group }
			details.Group = &read
			d.call(t, "GET", path, bob, nil).want(t, 200).into(t, &details)
			if diff := cmp.Diff(edited, read); diff != "" || edited.GroupName != name || edited.GroupID != 1 {
				t.Errorf("answered %+v (-answered +read):\n%s", edited, diff)
			}
		}
		wantList(t, "members", d.members(t, 1), []string{anna})
	})
}

func TestContract_AddMember(t *testing.T) {
	t.Parallel()
	const odd = "a/b?c#d%41 é,;.."
	onBothStores(t, doorOptions{knows: knowsOnly(anna, bob, root, odd, "..", "100%")}, func(t *testing.T, d *door) {
		path := fmt.Sprintf("/groups/%d/users/", d.newGroup(t, anna))
		put := func(path, token string) answer { return d.call(t, "PUT", path, token, nil) }
		// Each is refused for the first of its faults.
		put("/groups/99/users/%00", bob).problem(t, 400, "name", "NUL")
		put("/groups/99/users/%ff", bob).want(t, 400)
		put("/groups/99/users/"+strings.Repeat("x", 256), bob).want(t, 400)
		put("/groups/one/users/bob", bob).problem(t, 400, "groupId")
		put("/groups/99/users/nobody", bob).problem(t, 404, `"nobody"`)
		put(path+"Bob", anna).problem(t, 404, `"Bob"`)
		put("/groups/99/users/bob", bob).problem(t, 404, "group 99")
		put(path+"bob", bob).problem(t, 403, bob, "group 1")
		put(path+"anna", bob).problem(t, 403, bob)
		put(path+"anna", anna).problem(t, 409, anna, "group 1")
		put(path+"bob", "").problem(t, 403)
		a := put(path+"away", anna)
		a.problem(t, 503)
		if a.Header.Get("Retry-After") == "" || strings.Contains(string(a.body), "secret") || !strings.Contains(d.log.String(), "secret-host") {
			t.Errorf("identity provider away: Retry-After %q, %s", a.Header.Get("Retry-After"), a.body)
		}
		wantList(t, "members after refusals", d.members(t, 1), []string{anna})

		for name, token := range map[string]string{"bob": anna, url.PathEscape(odd): root, "%2E%2E": anna, "100%25": anna} {
			if a := put(path+name, token).want(t, 204); len(a.body) != 0 {
				t.Errorf("%s: body %q", name, a.body)
			}
			put(path+name, token).problem(t, 409)
		}
		wantList(t, "members", d.members(t, 1), []string{"..", "100%", odd, anna, bob})
		put(path+root, bob).want(t, 204) // as a member by now
		wantList(t, "groups of bob", d.namesOf(t, "/user/groups", bob), []string{"Lab"})
	})
}

func TestContract_RemoveMember(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{knows: knowsOnly(anna, bob)}, func(t *testing.T, d *door) {
		path := fmt.Sprintf("/groups/%d/users/", d.newGroup(t, anna))
		remove := func(path, token string) answer { return d.call(t, "DELETE", path, token, nil) }
		remove("/groups/99/users/%00", bob).problem(t, 400, "name")
		remove("/groups/99/users/anna", bob).problem(t, 404, "group 99")
		remove("/groups/99/users/nobody", bob).problem(t, 404, "group 99") // the user needn't be known
		remove(path+"anna", bob).problem(t, 403, bob, "group 1")
		remove(path+"anna", "").problem(t, 403)
		for _, name := range []string{"nobody", "bob", "Anna"} {
			if a := remove(path+name, anna).want(t, 204); len(a.body) != 0 {
				t.Errorf("%s: body %q", name, a.body)
			}
		}
		wantList(t, "members after removals of others", d.members(t, 1), []string{anna})
		d.call(t, "PUT", path+"bob", anna, nil).want(t, 204)
		remove(path+"anna", bob).want(t, 204)
		remove(path+"bob", anna).problem(t, 403) // is no member any more
		remove(path+"bob", bob).want(t, 204)     // the last one
		wantList(t, "members of a group that all have left", d.members(t, 1), []string{})
		wantList(t, "groups of bob", d.namesOf(t, "/user/groups", bob), []string{})
		d.call(t, "PUT", path+"anna", anna, nil).problem(t, 403)
		d.call(t, "PUT", path+"anna", root, nil).want(t, 204)
	})
}

// TestContract_MembersNeedNoDirectory: without a way to ask, everybody may exist.
func TestContract_MembersNeedNoDirectory(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		path := fmt.Sprintf("/groups/%d/users/", d.newGroup(t, anna))
		d.call(t, "PUT", path+"whoever", anna, nil).want(t, 204)
		d.call(t, "PUT", "/groups/99/users/whoever", anna, nil).problem(t, 404, "group 99")
		wantList(t, "members", d.members(t, 1), []string{anna, "whoever"})
	})
}

// publish has n entries of zika submitted by anna's group, processed and approved.
func (d *door) publish(t *testing.T, group int64, n int) []seqlease.SubmissionIDMapping {
	t.Helper()
	stored := d.submit(t, group, n, 20)
	d.sendResults(t, resultsOf(d.claim(t, pipe, n))).want(t, 204)
	d.call(t, "POST", "/zika/approve-processed-data", root, strings.NewReader(`{"scope":"ALL"}`), "Content-Type", jsonType).want(t, 200)
	return stored
}

// publishedMetadata returns the metadata of what is released of zika, and the ETag.
func (d *door) publishedMetadata(t *testing.T) ([]map[string]any, string) {
	t.Helper()
	a := d.call(t, "GET", "/zika/get-released-data", "", nil).want(t, 200)
	var all []map[string]any
	for line := range strings.Lines(string(a.body)) {
		var record struct{ Metadata map[string]any }
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatal(err)
		}
		all = append(all, record.Metadata)
	}
	return all, a.Header.Get("ETag")
}

// wantTag asks for released data with the tag in hand.
func (d *door) wantTag(t *testing.T, organism, tag string, status int) string {
	t.Helper()
	a := d.call(t, "GET", "/"+organism+"/get-released-data", "", nil, "If-None-Match", tag).want(t, status)
	if next := a.Header.Get("ETag"); status == http.StatusOK && next <= tag {
		t.Errorf("%s: the ETag %s doesn't rise over %s", organism, next, tag)
	}
	return a.Header.Get("ETag")
}

// TestContract_EditGroupShowsInReleasedData: a new name shows at once, and nobody
// who asks "since" is told that nothing has changed.
func TestContract_EditGroupShowsInReleasedData(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		d.publish(t, group, 2)
		_, tag := d.publishedMetadata(t)
		other := d.call(t, "GET", "/cchf/get-released-data", "", nil).want(t, 200).Header.Get("ETag")
		d.wantTag(t, "zika", tag, 304)
		for i := range 11 {
			name := fmt.Sprintf("Name %d", i)
			d.putJSON(t, "/groups/1", anna, groupJSON(name)).want(t, 200)
			tag = d.wantTag(t, "zika", tag, 200)
			other = d.wantTag(t, "cchf", other, 200)
			metadata, _ := d.publishedMetadata(t)
			for _, m := range metadata {
				if m["groupName"] != name {
					t.Errorf("%v shows group %v, want %s", m["accessionVersion"], m["groupName"], name)
				}
			}
		}
		d.putJSON(t, "/groups/1", bob, groupJSON("Refused")).problem(t, 403)
		d.putJSON(t, "/groups/1", anna, groupWithout(t, "groupName", "Name 10")).want(t, 200) // the same
		d.call(t, "PUT", "/groups/1/users/bob", anna, nil).want(t, 204)
		d.wantTag(t, "zika", tag, 304)
		d.wantTag(t, "cchf", other, 304)
	})
}
