package storetest

import (
	"slices"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

func textCases() []testCase {
	return []testCase{
		{name: "L18_EveryTextColumnKeepsAnyText", check: textL18Columns},
		{name: "L18_TextIsComparedByteByByte", check: textL18Compared},
	}
}

// texts are valid UTF-8 without NUL that stores and drivers have stumbled over.
var texts = []string{
	"plain",
	"",
	" leading, trailing ",
	"é and e\u0301 are different texts",
	"line\nbreak\r\ntab\t\v\f",
	"\u2028 and \u2029 end lines in JavaScript",
	"\U0001f9a0 virus, \U0001f468\u200d\U0001f52c scientist, \U0010ffff last",
	"\u202eright to left\u202c",
	"\ufeffbyte order mark",
	"\x01\x1b[31m\x7f\u0085 control characters",
	"\ufffd \ufffe \uffff are no surrogates",
	`quotes ' " and backslashes \ \u0000 \\`,
	"'; DROP TABLE entry; --",
	"100 % _ of $1 :name @name ?1",
	"ſſ ß ẞ İ ı: letters that change their number with their case",
}

func textL18Columns(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for _, text := range texts {
		name := text + "x" // users and groups have a name
		group, err := f.CreateGroup(t.Context(), seqlease.NewGroup{
			GroupName: name, Institution: text, ContactEmail: text,
			Address: seqlease.Address{Line1: text, Line2: text, City: text, State: text, PostalCode: text, Country: text},
		}, name)
		if err != nil {
			t.Errorf("create group of %q: %v", text, err)
			continue
		}
		read, members, err := f.Group(t.Context(), group.GroupID)
		if err != nil {
			t.Fatalf("read group of %q: %v", text, err)
		}
		wantSame(t, "group", read, group)
		wantSame(t, "group name", read.GroupName, name)
		wantSame(t, "country", read.Address.Country, text)
		wantSame(t, "members", members, []string{name})
		textL18Entry(t, f, group, text)
	}
}

// textL18Entry takes one entry that says the text everywhere through its life.
func textL18Entry(t *testing.T, f *fixture, group seqlease.Group, text string) {
	t.Helper()
	data := document(seqlease.SubmittedData{Metadata: map[string]string{text + "x": text}})
	u := f.upload(0)
	u.GroupID, u.Submitter, u.AccessionPrefix = group.GroupID, text, text
	u.Entries = func(yield func(submission.PackedEntry, error) bool) {
		yield(submission.PackedEntry{SubmissionID: text, Data: f.pack(WestNile, data)}, nil)
	}
	mappings, err := f.Submit(t.Context(), u)
	if err != nil {
		t.Errorf("submit with %q: %v", text, err)
		return
	}
	av := mappings[0].AccessionVersion
	wantSame(t, "submission id", mappings[0].SubmissionID, text)

	c := ask(1)
	c.ClaimedBy, c.WorkerID = text, text
	lease := f.claimAs(t, c)
	if len(lease.Entries) != 1 {
		t.Fatalf("claimed %d entries of %q, want 1", len(lease.Entries), text)
	}
	e := lease.Entries[0]
	wantSame(t, "claimed entry", e.AccessionVersion, av)
	wantSame(t, "claimed texts", []string{e.SubmissionID, e.Submitter, f.data(t, e)}, []string{text, text, string(data)})

	s := results(f.line(t, 1, av, lease.AttemptID, text, seqlease.NoIssues))
	s.ClaimedBy = text
	if err := f.submitResults(t, s); err != nil {
		t.Errorf("accept with %q: %v", text, err)
		return
	}
	listed, _ := f.list(t, submission.ListFilter{Organism: WestNile, GroupIDs: []int64{group.GroupID}})
	wantSame(t, "listed texts", []string{listed[0].SubmissionID, listed[0].Submitter}, []string{text, text})

	a := approval(av)
	a.Approver, a.Submitters = text, []string{text}
	f.wantApproved(t, "with "+text, a, av)
	_, released := f.released(t)
	i := slices.IndexFunc(released, func(e submission.ReleasedEntry) bool { return e.AccessionVersion == av })
	if i < 0 {
		t.Fatalf("the entry of %q is not released", text)
	}
	r := released[i]
	wantSame(t, "released texts", []string{r.SubmissionID, r.Submitter, r.GroupName, string(r.Result)},
		[]string{text, text, text + "x", string(processed(text, seqlease.NoIssues))})
}

func textL18Compared(t *testing.T, h Harness) {
	f := newFixture(t, h)
	names := []string{"é", "e\u0301", "E\u0301", "ss", "ß", "SS", "ss ", "ﬀ"}
	groups := map[string]seqlease.Group{}
	for _, name := range names {
		groups[name] = f.newGroup(t, name, name)
		u := f.upload(1)
		u.Submitter = name
		f.submitUpload(t, u)
	}
	f.mustAccept(t, f.lines(t, f.claim(t, len(names)))...)
	for _, name := range names {
		of, err := f.GroupsOf(t.Context(), name)
		if err != nil {
			t.Fatalf("groups of %q: %v", name, err)
		}
		wantSame(t, "groups of "+name, of, []seqlease.Group{groups[name]})
		a := approval()
		a.Submitters = []string{name}
		approved, err := f.Approve(t.Context(), a)
		if err != nil {
			t.Fatalf("approve: %v", err)
		}
		wantSame(t, "entries approved of "+name, len(approved), 1)
	}
}
