package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

func externalCases() []testCase {
	return []testCase{
		{name: "External_IsReleasedBesideTheResult", check: externalIsReleased},
		{name: "External_ReplacesWhatTheUpdaterSaidBefore", check: externalReplaces},
		{name: "External_UpdatersDoNotTouchEachOther", check: externalUpdaters},
		{name: "External_OneBadEntryChangesNothing", check: externalAllOrNothing},
		{name: "External_CheckOnlyChangesNothing", check: externalCheckOnly},
		{name: "External_ManyEntriesAreOneChange", needs: Large, check: externalMany},
		{name: "External_AtOnceTheLastCounts", check: externalAtOnce},
		{name: "L13_ExternalChangesTheReleasedMarkOnce", check: externalMark},
	}
}

// external is what the herbarium says of entries: of each the same.
func external(body string, entries ...seqlease.AccessionVersion) submission.ExternalUpdate {
	u := submission.ExternalUpdate{Organism: WestNile, Updater: "herbarium", User: "updater"}
	for _, av := range entries {
		u.Entries = append(u.Entries, submission.ExternalEntry{AccessionVersion: av, Body: []byte(body)})
	}
	return u
}

func (f *fixture) mustSet(t *testing.T, u submission.ExternalUpdate) {
	t.Helper()
	if err := f.SetExternalMetadata(t.Context(), u); err != nil {
		t.Fatalf("set external metadata: %v", err)
	}
}

// wantExternal checks what updaters say of each released entry, as "updater body".
func (f *fixture) wantExternal(t *testing.T, want map[seqlease.AccessionVersion][]string) {
	t.Helper()
	_, released := f.released(t)
	got := map[seqlease.AccessionVersion][]string{}
	for _, e := range released {
		for _, d := range e.External {
			got[e.AccessionVersion] = append(got[e.AccessionVersion], d.Updater+" "+string(d.Body))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("external metadata (-want +got):\n%s", diff)
	}
}

type said = map[seqlease.AccessionVersion][]string

func externalIsReleased(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues, seqlease.NoIssues)
	f.approveAll(t)
	f.wantExternal(t, said{})
	const body = `{"archiveId":"Ä-1 \"x\"","gone":null}`
	f.mustSet(t, external(body, versions[1]))
	f.wantExternal(t, said{versions[1]: {"herbarium " + body}})
	_, released := f.released(t)
	wantSame(t, "result beside it", string(released[1].Result), string(processed("result of "+versions[1].String(), seqlease.NoIssues)))
}

func externalReplaces(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues, seqlease.NoIssues)
	f.approveAll(t)
	f.mustSet(t, external(`{"a":1,"b":2}`, versions...))
	f.mustSet(t, external(`{"b":3}`, versions[0]))
	f.wantExternal(t, said{versions[0]: {`herbarium {"b":3}`}, versions[1]: {`herbarium {"a":1,"b":2}`}})
	f.mustSet(t, external(`{}`, versions[1]))
	f.wantExternal(t, said{versions[0]: {`herbarium {"b":3}`}, versions[1]: {`herbarium {}`}})
}

func externalUpdaters(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues)
	f.approveAll(t)
	for _, updater := range []string{"zoo", "Archive", "herbarium"} {
		u := external(`{"of":"`+updater+`"}`, versions[0])
		u.Updater = updater
		f.mustSet(t, u)
	}
	f.mustSet(t, external(`{}`, versions[0]))
	f.wantExternal(t, said{versions[0]: {`Archive {"of":"Archive"}`, `herbarium {}`, `zoo {"of":"zoo"}`}}) // byte by byte
}

func externalAllOrNothing(t *testing.T, h Harness) {
	f := newFixture(t, h)
	released := f.process(t, seqlease.NoIssues)
	f.approveAll(t)
	processed := f.process(t, seqlease.NoIssues)[0]
	waiting := f.submit(t, 1)[0]
	foreign := f.submitTo(t, CCHF, 1)[0]
	missing := seqlease.AccessionVersion{Accession: "LOC_GONE", Version: 1}
	mark := f.releasedMark(t)
	all := []seqlease.AccessionVersion{missing, foreign, processed, waiting, released[0]}
	slices.SortFunc(all, seqlease.AccessionVersion.Compare)
	err := f.SetExternalMetadata(t.Context(), external(`{"a":1}`, all...))
	wantError(t, err, seqlease.ErrState)
	var state *submission.StateError
	if !errors.As(err, &state) {
		t.Fatalf("got %v, want a *StateError", err)
	}
	want := &submission.StateError{
		Missing:      []seqlease.AccessionVersion{missing},
		Foreign:      map[seqlease.Organism][]seqlease.AccessionVersion{CCHF: {foreign}},
		WrongStatus:  map[seqlease.AccessionVersion]seqlease.Status{processed: seqlease.Processed, waiting: seqlease.Received},
		WantStatuses: []seqlease.Status{seqlease.ApprovedForRelease},
	}
	if diff := cmp.Diff(want, state); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
	f.wantExternal(t, said{})
	wantSame(t, "mark of what is released", f.releasedMark(t), mark)
}

func externalCheckOnly(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues)
	u := external(`{"a":1}`, versions[0])
	u.CheckOnly = true
	wantError(t, f.SetExternalMetadata(t.Context(), u), seqlease.ErrState)
	f.approveAll(t)
	mark := f.releasedMark(t)
	f.mustSet(t, u)
	f.wantExternal(t, said{})
	wantSame(t, "mark of what is released", f.releasedMark(t), mark)
}

func externalMany(t *testing.T, h Harness) {
	f := newFixture(t, h)
	const entries = 2500 // more than stores write at a time
	versions := f.process(t, slices.Repeat([]seqlease.ProcessingResult{seqlease.NoIssues}, entries)...)
	f.approveAll(t)
	before := f.releasedMark(t)
	u := external("", versions...)
	for i := range u.Entries {
		u.Entries[i].Body = fmt.Appendf(nil, `{"n":%d,"text":%q}`, i, strings.Repeat("x", i%50))
	}
	f.mustSet(t, u)
	head, released := f.released(t)
	wantSame(t, "released entries", len(released), entries)
	for i, e := range released {
		if len(e.External) != 1 || string(e.External[0].Body) != string(u.Entries[i].Body) {
			t.Fatalf("of %s it is said %v, want %s", e.AccessionVersion, e.External, u.Entries[i].Body)
		}
	}
	if head.Mark <= before {
		t.Errorf("the mark %q doesn't rise over %q", head.Mark, before)
	}
}

func externalAtOnce(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues, seqlease.NoIssues, seqlease.NoIssues, seqlease.NoIssues)
	f.approveAll(t)
	const calls = 8
	failed := make(chan error, calls)
	for i := range calls {
		go func() {
			failed <- f.SetExternalMetadata(t.Context(), external(fmt.Sprintf(`{"call":%d}`, i), versions...))
		}()
	}
	for range calls {
		if err := <-failed; err != nil {
			t.Errorf("set external metadata: %v", err)
		}
	}
	_, released := f.released(t)
	for _, e := range released {
		if len(e.External) != 1 || string(e.External[0].Body) != string(released[0].External[0].Body) {
			t.Errorf("of %s it is said %q, and of the first %q: one call didn't come as a whole", e.AccessionVersion, e.External, released[0].External)
		}
	}
}

func externalMark(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues, seqlease.NoIssues)
	f.approveAll(t)
	f.submitTo(t, CCHF, 1)
	other, err := f.ReleasedMark(t.Context(), CCHF)
	if err != nil {
		t.Fatal(err)
	}
	queue, last := f.mark(t), f.releasedMark(t)
	for _, body := range []string{`{"a":1}`, `{"a":null}`, `{}`} {
		f.mustSet(t, external(body, versions...))
		mark := f.releasedMark(t)
		if mark <= last {
			t.Errorf("the mark %q after %s doesn't rise over %q", mark, body, last)
		}
		last = mark
		f.mustSet(t, external(body, versions...))
		wantSame(t, "mark after the same was said again", f.releasedMark(t), last)
	}
	f.mustSet(t, external("{}"))
	wantSame(t, "mark after nothing was said", f.releasedMark(t), last)
	wantSame(t, "mark of the queue", f.mark(t), queue)
	unchanged, err := f.ReleasedMark(t.Context(), CCHF)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "released mark of another organism", unchanged, other)
}
