package httpapi_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/auth"
	"github.com/seqlease/seqlease/internal/submission"
)

// need is what an operation, or the object that it is about, asks of the caller.
type need string

const (
	public    need = "nothing"
	anyToken  need = "any token"
	member    need = "a member of the object's group, or a super user"
	pipelines need = "the role preprocessing_pipeline"
	updaters  need = "the role external_metadata_updater"
	operators need = "the role super_user"
)

// caller is one kind of person. The object of a call is always of anna's group.
type caller struct {
	name   string // and token; empty: none
	roles  []seqlease.Role
	member bool // of the object's group
}

// callers are all kinds of people: without and with each role, in the object's
// group, in another and in none, and with the roles together that don't imply each
// other.
func callers() []caller {
	const pipeline, updater, super = seqlease.PreprocessingPipeline, seqlease.ExternalMetadataUpdater, seqlease.SuperUser
	return []caller{
		{name: ""},
		{name: "anna", member: true},
		{name: "bob"},   // a member of another group
		{name: "loner"}, // of none
		{name: "pipe", roles: []seqlease.Role{pipeline}},
		{name: "updater", roles: []seqlease.Role{updater}},
		{name: "root", roles: []seqlease.Role{super}},
		{name: "anna-pipe", roles: []seqlease.Role{pipeline}, member: true},
		{name: "anna-updater", roles: []seqlease.Role{updater}, member: true},
		{name: "root-pipe", roles: []seqlease.Role{super, pipeline}},
		{name: "root-updater", roles: []seqlease.Role{super, updater}},
		{name: "all", roles: []seqlease.Role{super, pipeline, updater}, member: true},
	}
}

func (c caller) has(role seqlease.Role) bool { return slices.Contains(c.roles, role) }

// verdict is what a caller is told: by what of the answer it can be seen.
type verdict string

const (
	letIn       verdict = "let in"
	unknown     verdict = "without a token"
	lacksRole   verdict = "the role is missing"
	notOfAGroup verdict = "not a member"
)

// verdictOn says what should happen to a caller.
func (n need) verdictOn(c caller) verdict {
	if n != public && c.name == "" {
		return unknown
	}
	switch n {
	case pipelines:
		return roleVerdict(c.has(seqlease.PreprocessingPipeline))
	case updaters:
		return roleVerdict(c.has(seqlease.ExternalMetadataUpdater))
	case operators:
		return roleVerdict(c.has(seqlease.SuperUser))
	case member:
		if !c.member && !c.has(seqlease.SuperUser) {
			return notOfAGroup
		}
	case public, anyToken:
	}
	return letIn
}

func roleVerdict(has bool) verdict {
	if has {
		return letIn
	}
	return lacksRole
}

// request is one call of an operation.
type request struct {
	path, body, contentType string
}

func get(format string, args ...any) request { return request{path: fmt.Sprintf(format, args...)} }

func postJSON(path, format string, args ...any) request {
	return request{path, fmt.Sprintf(format, args...), "application/json"}
}

// accessRow is a row of the matrix: an operation of openapi.yaml, and a request that
// is right in every respect but who sends it. make is called anew for each caller
// who is let in, since the call changes things.
type accessRow struct {
	operation string
	about     string // where an operation has several rows
	need      need
	ok        int            // the status for those who are let in
	okFor     map[string]int // and for some of them another
	hidden    int            // the status for those who aren't members, where even that something exists is hidden; 0: 403
	make      func(t *testing.T, w *world) request
}

// fixed is for requests that need no object.
func fixed(r request) func(*testing.T, *world) request {
	return func(*testing.T, *world) request { return r }
}

// nowhere is a request for an organism that doesn't exist: who is let in gets a 400.
func nowhere(path string) func(*testing.T, *world) request {
	return fixed(postJSON("/nowhere"+path, `{"all":true,"reason":"to see who may"}`))
}

// world makes the objects that requests are about. All are of anna's group.
type world struct {
	*door
	group, other int64
	made         atomic.Int64
}

// accessOptions are those of a door for the callers.
func accessOptions(t *testing.T) doorOptions {
	t.Helper()
	var list []auth.StaticToken
	for _, c := range callers() {
		if c.name != "" {
			list = append(list, auth.StaticToken{SHA256: auth.Hash(c.name), Person: seqlease.Person{Name: c.name, Roles: c.roles}})
		}
	}
	verifier, err := auth.NewStatic(list)
	if err != nil {
		t.Fatal(err)
	}
	return doorOptions{verifier: verifier, terms: submission.TermsOptions{Enabled: true}, organisms: withUpdaters()}
}

// newWorld has the callers join their groups.
func newWorld(t *testing.T, d *door) *world {
	t.Helper()
	w := &world{door: d}
	w.group, w.other = w.newGroup(t, anna), w.newGroup(t, bob)
	for _, c := range callers() {
		if c.member && c.name != anna {
			w.join(t, c.name)
		}
	}
	return w
}

// join makes a person a member of anna's group.
func (w *world) join(t *testing.T, name string) {
	t.Helper()
	w.call(t, http.MethodPut, fmt.Sprintf("/groups/%d/users/%s", w.group, name), anna, nil).want(t, 204)
}

// submitPath is where an entry of anna's group is submitted, with terms that can be
// changed.
func (w *world) submitPath() string {
	return fmt.Sprintf("/zika/submit?groupId=%d&dataUseTermsType=RESTRICTED&restrictedUntil=%s", w.group, time.Now().AddDate(0, 1, 0).UTC().Format(time.DateOnly))
}

// upload makes a multipart request with one entry's files and the given columns
// beside the id.
func (w *world) upload(t *testing.T, path string, columns, values string) request {
	t.Helper()
	id := fmt.Sprintf("m%d", w.made.Add(1))
	body, contentType := upload(t, "metadataFile", "@metadata.tsv\nid\tcountry"+columns+"\n"+id+"\tKenya"+values+"\n",
		"sequenceFile", "@sequences.fasta\n>"+id+"\nACGT\n")
	content, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return request{path, string(content), contentType}
}

// received submits an entry of anna's group.
func (w *world) received(t *testing.T) seqlease.AccessionVersion {
	t.Helper()
	var stored []seqlease.SubmissionIDMapping
	r := w.upload(t, w.submitPath(), "", "")
	w.send(t, http.MethodPost, anna, r).want(t, 200).into(t, &stored)
	return stored[0].AccessionVersion
}

// claimed is an entry that the pipeline has claimed, and its line.
func (w *world) claimed(t *testing.T) seqlease.Entry {
	t.Helper()
	av := w.received(t)
	for _, e := range w.claim(t, pipe, 1000) {
		if e.AccessionVersion == av {
			return e
		}
	}
	t.Fatalf("%s was not claimed", av)
	return seqlease.Entry{}
}

// processed is an entry with a good result.
func (w *world) processed(t *testing.T) seqlease.AccessionVersion {
	t.Helper()
	e := w.claimed(t)
	w.sendResults(t, resultOf(e)).want(t, 204)
	return e.AccessionVersion
}

// released is an entry that was approved.
func (w *world) released(t *testing.T) seqlease.AccessionVersion {
	t.Helper()
	av := w.processed(t)
	w.send(t, http.MethodPost, anna, approval(av)).want(t, 200)
	return av
}

func approval(av seqlease.AccessionVersion) request {
	return postJSON("/zika/approve-processed-data", `{"scope":"ALL","accessionVersionsFilter":[{"accession":%q,"version":%d}]}`, av.Accession, av.Version)
}

// send sends a request as a caller.
func (w *world) send(t *testing.T, method, token string, r request) answer {
	t.Helper()
	return w.call(t, method, r.path, token, strings.NewReader(r.body), "Content-Type", r.contentType)
}

// verdictOf reads from an answer what the caller was told, and checks that it was
// told as the protocol says.
func verdictOf(t *testing.T, name, method string, a answer) verdict {
	t.Helper()
	challenge := a.Header.Get("WWW-Authenticate")
	switch {
	case a.StatusCode == http.StatusUnauthorized:
		if challenge != "Bearer" || method != http.MethodGet {
			t.Errorf("%s: 401 with %q to a %s", name, challenge, method)
		}
		return unknown
	case a.StatusCode != http.StatusForbidden:
		return letIn
	case strings.HasPrefix(challenge, `Bearer error="insufficient_scope"`):
		if len(a.body) != 0 {
			t.Errorf("%s: a missing role is told with the body %s", name, a.body)
		}
		return lacksRole
	}
	a.problem(t, http.StatusForbidden)
	if challenge == "" {
		if method == http.MethodGet {
			t.Errorf("%s: a read without a token is a 403", name)
		}
		return unknown
	}
	if challenge != "Bearer" {
		t.Errorf("%s: somebody of another group is told %q", name, challenge)
	}
	return notOfAGroup
}

// TestAccess_Matrix calls every operation of openapi.yaml as every kind of person, with
// real objects of a group that some are in and others aren't. What the group of an
// object is, and whether it is there, is said by the store: so by both.
func TestAccess_Matrix(t *testing.T) {
	t.Parallel()
	onBothStores(t, accessOptions(t), func(t *testing.T, d *door) { newWorld(t, d).checkAccess(t) })
}

// checkAccess goes through the rows one after another: they claim from one queue, each
// its own entry.
func (w *world) checkAccess(t *testing.T) {
	t.Helper()
	for _, row := range accessRows() {
		t.Run(strings.TrimSpace(row.operation+" "+row.about), func(t *testing.T) {
			method, _, _ := strings.Cut(row.operation, " ")
			shared := row.make(t, w)
			for _, c := range callers() {
				if row.need.verdictOn(c) != letIn {
					row.check(t, c, w.send(t, method, c.name, shared))
				}
			}
			for _, c := range callers() {
				if row.need.verdictOn(c) == letIn {
					row.check(t, c, w.send(t, method, c.name, row.make(t, w)))
				}
			}
			if a := w.send(t, method, "nonsense", shared); a.StatusCode != http.StatusUnauthorized || len(a.body) != 0 ||
				!strings.HasPrefix(a.Header.Get("WWW-Authenticate"), `Bearer error="invalid_token"`) {
				t.Errorf("a bad token: got %d, %q, %q", a.StatusCode, a.Header.Get("WWW-Authenticate"), a.body)
			}
		})
	}
}

func (row accessRow) check(t *testing.T, c caller, a answer) {
	t.Helper()
	method, _, _ := strings.Cut(row.operation, " ")
	name := fmt.Sprintf("as %q %v (member: %v)", c.name, c.roles, c.member)
	want := row.need.verdictOn(c)
	if want == notOfAGroup && row.hidden != 0 {
		if a.StatusCode != row.hidden {
			t.Errorf("%s: got %d, want %d: %.300s", name, a.StatusCode, row.hidden, a.body)
		}
		return
	}
	if got := verdictOf(t, name, method, a); got != want {
		t.Errorf("%s: got %q (%d), want %q; it needs %s: %.300s", name, got, a.StatusCode, want, row.need, a.body)
		return
	}
	ok := row.ok
	if other, differs := row.okFor[c.name]; differs {
		ok = other
	}
	if want == letIn && a.StatusCode != ok {
		t.Errorf("%s: got %d, want %d: %.300s", name, a.StatusCode, ok, a.body)
	}
}

// TestAccess_TheMatrixIsWhole holds the table against openapi.yaml: an operation that
// is missing from one of them is a hole in the other.
func TestAccess_TheMatrixIsWhole(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	var spec struct {
		Paths map[string]map[string]struct {
			Security []map[string][]string
		}
	}
	d.call(t, "GET", "/openapi.json", "", nil).want(t, 200).into(t, &spec)
	described := map[string]need{}
	for path, operations := range spec.Paths {
		for method, o := range operations {
			name := strings.ToUpper(method) + " " + path
			described[name] = anyToken
			switch {
			case len(o.Security) == 0:
				described[name] = public
			case slices.Equal(o.Security[0]["bearer"], []string{"preprocessing_pipeline"}):
				described[name] = pipelines
			case slices.Equal(o.Security[0]["bearer"], []string{"external_metadata_updater"}):
				described[name] = updaters
			case slices.Equal(o.Security[0]["bearer"], []string{"super_user"}):
				described[name] = operators
			}
		}
	}
	listed := map[string]need{}
	for _, row := range accessRows() {
		stated := row.need
		if stated == member {
			stated = anyToken // which group it is can't be said in openapi.yaml
		}
		listed[row.operation] = stated
	}
	for _, operation := range slices.Sorted(maps.Keys(described)) {
		if listed[operation] != described[operation] {
			t.Errorf("%s: openapi.yaml says %q, the matrix %q", operation, described[operation], listed[operation])
		}
		delete(listed, operation)
	}
	for operation := range listed {
		t.Errorf("%s is in the matrix, but not in openapi.yaml", operation)
	}
}

// TestAccess_WhatIsNoOperation: who asks for a path or method that doesn't exist is
// asked for a token first, except where nothing needs one.
func TestAccess_WhatIsNoOperation(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	for _, tt := range []struct {
		method, path                  string
		nobody, bad, a, sup, pipeline int
	}{
		{"GET", "/nothing", 401, 401, 404, 404, 404},
		{"GET", "/nowhere/nothing", 401, 401, 404, 404, 404},
		{"DELETE", "/nothing", 403, 401, 404, 404, 404},
		{"DELETE", "/nowhere/submit", 403, 401, 405, 405, 405},
		{"PATCH", "/nowhere/submit", 403, 401, 405, 405, 405},
		{"HEAD", "/nowhere/get-sequences", 401, 401, 400, 400, 400},
		{"GET", "/actuator/nothing", 404, 401, 404, 404, 404},
		{"GET", "/error/nothing", 404, 401, 404, 404, 404},
		{"GET", "/api-docs.yaml", 404, 401, 404, 404, 404},
		{"POST", "/debug/nothing", 403, 401, 403, 404, 403}, // all of it is for super users
		{"GET", "/admin/nothing", 401, 401, 403, 404, 403},
		// Methods that a path doesn't take are for those who may call the others.
		{"GET", "/nowhere/extract-unprocessed-data", 401, 401, 403, 403, 405},
		{"HEAD", "/zika/submit-processed-data", 401, 401, 403, 403, 405},
		{"PUT", "/zika/renew-lease", 403, 401, 403, 403, 405},
		{"GET", "/zika/submit-external-metadata", 401, 401, 403, 403, 403},
		{"DELETE", "/zika/quarantine", 403, 401, 403, 405, 403}, // which takes GET and POST
		{"GET", "/zika/reprocess", 401, 401, 403, 405, 403},
		{"POST", "/admin/audit-log", 403, 401, 403, 405, 403},
		{"GET", "/debug/delete-all-sequence-data", 401, 401, 403, 405, 403},
		{"POST", "/groups/1", 403, 401, 405, 405, 405}, // of which the GET is public
		{"POST", "/zika/get-released-data", 403, 401, 405, 405, 405},
		{"PUT", "/files/get/LOC_1/1/c/n", 403, 401, 405, 405, 405},
		{"PUT", "/", 405, 401, 405, 405, 405},
		{"POST", "/healthz", 405, 401, 405, 405, 405},
	} {
		for token, want := range map[string]int{"": tt.nobody, "nonsense": tt.bad, anna: tt.a, root: tt.sup, pipe: tt.pipeline} {
			if a := d.call(t, tt.method, tt.path, token, nil); a.StatusCode != want {
				t.Errorf("%s %s with token %q: got %d, want %d", tt.method, tt.path, token, a.StatusCode, want)
			}
		}
	}
	for _, token := range []string{"wrong", "two words", "\xff", ""} {
		a := d.call(t, "GET", "/user/groups", "", nil, "Authorization", "bearer "+token)
		if a.StatusCode != http.StatusUnauthorized || len(a.body) != 0 {
			t.Errorf("token %q: got %d, %q; want 401 and no body", token, a.StatusCode, a.body)
		}
	}
	d.call(t, "GET", "/user/groups", "", nil, "Authorization", "Basic YTpi").want(t, 401)
	d.call(t, "GET", "/user/groups?access_token=anna", "", nil, "Cookie", "token=anna").want(t, 401)
	for _, path := range []string{"/", "/zika/submit", "/nowhere/nothing", "/admin/nothing"} {
		d.call(t, "OPTIONS", path, "", nil).want(t, 204)
	}
	if strings.Contains(d.log.String(), "wrong") {
		t.Error("a token is in the log")
	}
}
