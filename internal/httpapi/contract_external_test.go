package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
)

// withUpdaters are the organisms with fields that updaters set, and one more.
func withUpdaters() []*organism.Organism {
	list := organisms()
	zika := list[0]
	zika.Metadata = append(zika.Metadata,
		organism.Field{Name: "archiveId", Type: organism.String}, organism.Field{Name: "archivedOn", Type: organism.Date},
		organism.Field{Name: "versionComment", Type: organism.String})
	set := func(updater, name string, kind organism.FieldType, required bool) {
		zika.ExternalMetadata = append(zika.ExternalMetadata, organism.ExternalField{
			Updater: updater, Field: organism.Field{Name: name, Type: kind, Required: required},
		})
	}
	set("ena", "archiveId", organism.String, true)
	set("ena", "archivedOn", organism.Date, false)
	set("ena", "reads", organism.Int, false) // not in released data
	set("museum", "archiveId", organism.String, false)
	set("museum", "country", organism.String, false)
	moss := *zika
	moss.Key = "moss"
	return append(list, &moss)
}

// release submits n entries of zika, has them processed and releases them.
func (d *door) release(t *testing.T, group int64, n int) []seqlease.AccessionVersion {
	t.Helper()
	d.submit(t, group, n, 40)
	d.sendResults(t, resultsOf(d.claim(t, pipe, n))).want(t, 204)
	var approved []seqlease.AccessionVersion
	d.approveAll(t).into(t, &approved)
	if len(approved) != n {
		t.Fatalf("%d entries were released, want %d", len(approved), n)
	}
	return approved
}

func (d *door) approveAll(t *testing.T) answer {
	t.Helper()
	return d.call(t, "POST", "/zika/approve-processed-data", anna, strings.NewReader(`{"scope":"ALL"}`), "Content-Type", "application/json").want(t, 200)
}

// sendExternal sends external metadata of zika.
func (d *door) sendExternal(t *testing.T, updater, body string, header ...string) answer {
	t.Helper()
	header = append([]string{"Content-Type", "application/x-ndjson"}, header...)
	return d.call(t, "POST", "/zika/submit-external-metadata?externalMetadataUpdater="+updater, ena, strings.NewReader(body), header...)
}

// about is a line of external metadata.
func about(av seqlease.AccessionVersion, metadata string) string {
	return fmt.Sprintf(`{"accession":%q,"version":%d,"externalMetadata":%s}`, av.Accession, av.Version, metadata)
}

// releasedMetadata returns the metadata of zika's released entries.
func (d *door) releasedMetadata(t *testing.T) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	for line := range bytes.Lines(d.call(t, "GET", "/zika/get-released-data", "", nil).want(t, 200).body) {
		var entry struct{ Metadata map[string]any }
		if err := json.Unmarshal(line, &entry); err != nil {
			t.Fatal(err)
		}
		all[entry.Metadata["accessionVersion"].(string)] = entry.Metadata
	}
	return all
}

func TestContract_ExternalMetadata_IsReleased(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{organisms: withUpdaters()}, func(t *testing.T, d *door) {
		entries := d.release(t, d.newGroup(t, anna), 3)
		want := func(i int, fields map[string]any) {
			t.Helper()
			metadata := d.releasedMetadata(t)[entries[i].String()]
			for name, value := range fields {
				if got, shown := metadata[name]; !cmp.Equal(got, value) || !shown {
					t.Errorf("%s of %s is %v, want %v", name, entries[i], got, value)
				}
			}
			if _, shown := metadata["reads"]; shown {
				t.Error("a field that isn't in the schema is shown")
			}
		}
		a := d.sendExternal(t, "ena", about(entries[0], `{"archiveId":"OX1","archivedOn":"2026-01-31","reads":7}`)).want(t, 204)
		if len(a.body) > 0 || a.Header.Get("X-Request-Id") == "" {
			t.Errorf("204 with %q and request id %q", a.body, a.Header.Get("X-Request-Id"))
		}
		want(0, map[string]any{"archiveId": "OX1", "archivedOn": "2026-01-31", "country": "Kenya", "age": float64(7)})
		want(1, map[string]any{"archiveId": nil, "archivedOn": nil})

		// It replaces all that the same updater said, and nothing of others. Explicit nulls win.
		d.sendExternal(t, "museum", about(entries[0], `{"country":null}`)+"\n"+about(entries[1], `{"archiveId":"M1","country":"Peru"}`)+"\n").want(t, 204)
		d.sendExternal(t, "ena", about(entries[0], `{"archiveId":"OX2"}`)).want(t, 204)
		want(0, map[string]any{"archiveId": "OX2", "archivedOn": nil, "country": nil})
		want(1, map[string]any{"archiveId": "M1", "country": "Peru"})

		// Of two updaters the last of the schema counts, whoever came last.
		d.sendExternal(t, "museum", about(entries[2], `{"archiveId":"M2"}`)).want(t, 204)
		d.sendExternal(t, "ena", about(entries[2], `{"archiveId":"OX3"}`)).want(t, 204)
		want(2, map[string]any{"archiveId": "M2"})
		d.sendExternal(t, "museum", about(entries[2], `{}`)).want(t, 204)
		want(2, map[string]any{"archiveId": "OX3"})
	})
}

func TestContract_ExternalMetadata_ReadsItsBody(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{organisms: withUpdaters()}, func(t *testing.T, d *door) {
		av := d.release(t, d.newGroup(t, anna), 1)[0]
		var zipped bytes.Buffer
		w := gzip.NewWriter(&zipped)
		_, _ = w.Write([]byte(about(av, `{"archiveId":"zipped"}`)))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			name, body string
			header     []string
			want       any
		}{
			{"no line at all", "", nil, nil},
			{"only blank lines", "\r\n\n", nil, nil},
			{"no final line end", about(av, `{"archiveId":"a"}`), nil, "a"},
			{"line ends of all kinds, and blank lines", about(av, `{"archiveId":"b"}`) + "\r\r\n\n" + about(av, `{"archiveId":"c"}`) + "\n", nil, "c"},
			{"members in any order, unknown ones, numbers as text", fmt.Sprintf(`{"x":1,"externalMetadata":{"archiveId":"d"},"version":"1","accession":%q}`, av.Accession), nil, "d"},
			{"escapes", about(av, `{"archiveId":"\u00e9\ud83e\udda0"}`), nil, "é🦠"},
			{"of several lines for an entry the last counts", about(av, `{"archiveId":"e"}`) + "\n" + about(av, `{"archiveId":"f"}`), nil, "f"},
			{"compressed", zipped.String(), []string{"Content-Encoding", "gzip"}, "zipped"},
		} {
			d.sendExternal(t, "ena", tt.body, tt.header...).want(t, 204)
			if got := d.releasedMetadata(t)[av.String()]["archiveId"]; got != tt.want {
				t.Errorf("%s: archiveId is %v, want %v", tt.name, got, tt.want)
			}
		}
	})
}

// TestContract_ExternalMetadata_Refusals goes through the checks in their order. A
// refused body changes nothing.
func TestContract_ExternalMetadata_Refusals(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{organisms: withUpdaters()}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		entries := d.release(t, group, 2)
		d.submit(t, group, 2, 40)
		processed := d.claim(t, pipe, 1)[0]
		d.sendResults(t, resultOf(processed)).want(t, 204)
		d.sendExternal(t, "museum", about(entries[0], `{"archiveId":"kept"}`)).want(t, 204)
		before := d.call(t, "GET", "/zika/get-released-data", "", nil).want(t, 200)
		good := about(entries[0], `{"archiveId":"x"}`)
		gone := seqlease.AccessionVersion{Accession: "LOC_GONE", Version: 1}
		const path, updater = "/submit-external-metadata", "?externalMetadataUpdater=ena"
		for _, tt := range []struct {
			name, path, token, kind, body string
			status                        int
			words                         []string // none: the body is empty
		}{
			{"no token", "/zika" + path + updater, "", "application/x-ndjson", good, 403, []string{"token"}},
			{"role of a user", "/zika" + path + updater, anna, "application/x-ndjson", good, 403, nil},
			{"role of a super user", "/zika" + path + updater, root, "application/x-ndjson", good, 403, nil},
			{"role of a pipeline", "/zika" + path + updater, pipe, "application/x-ndjson", good, 403, nil},
			{"role before the organism", "/nowhere" + path, anna, "application/x-ndjson", good, 403, nil},
			{"no updater", "/zika" + path, ena, "application/x-ndjson", good, 400, []string{"externalMetadataUpdater"}},
			{"empty updater", "/zika" + path + "?externalMetadataUpdater=", ena, "application/x-ndjson", good, 400, []string{"externalMetadataUpdater"}},
			{"long updater", "/zika" + path + "?externalMetadataUpdater=" + strings.Repeat("a", 256), ena, "application/x-ndjson", good, 400, []string{"externalMetadataUpdater"}},
			{"updater with a NUL", "/zika" + path + "?externalMetadataUpdater=a%00", ena, "application/x-ndjson", good, 400, []string{"externalMetadataUpdater"}},
			{"media type", "/zika" + path + updater, ena, "application/json", good, 415, []string{"application/x-ndjson"}},
			{"organism", "/nowhere" + path + updater, ena, "application/x-ndjson", good, 400, []string{"nowhere", "zika"}},
			{"no JSON", "/zika" + path + updater, ena, "application/x-ndjson", good + "\n{", 400, []string{"line 2", "deserialised"}},
			{"no object", "/zika" + path + updater, ena, "application/x-ndjson", "[]", 400, []string{"line 1", "deserialised"}},
			{"no accession", "/zika" + path + updater, ena, "application/x-ndjson", `{"version":1,"externalMetadata":{}}`, 400, []string{"line 1", "accession"}},
			{"no version", "/zika" + path + updater, ena, "application/x-ndjson", `{"accession":"x","version":null,"externalMetadata":{}}`, 400, []string{"line 1", "version"}},
			{"no metadata", "/zika" + path + updater, ena, "application/x-ndjson", `{"accession":"x","version":1,"externalMetadata":null}`, 400, []string{"line 1", "externalMetadata"}},
			{"a member twice", "/zika" + path + updater, ena, "application/x-ndjson", about(entries[0], `{"archiveId":"x","archiveId":"y"}`), 400, []string{"line 1", "archiveId"}},
			{"half a character", "/zika" + path + updater, ena, "application/x-ndjson", about(entries[0], `{"archiveId":"\ud83e"}`), 400, []string{"line 1", "archiveId"}},
			{"unknown entry", "/zika" + path + updater, ena, "application/x-ndjson", good + "\n" + about(gone, `{"archiveId":"x"}`), 422, []string{"line 2", "LOC_GONE.1", "exist"}},
			{"unknown version", "/zika" + path + updater, ena, "application/x-ndjson", about(seqlease.AccessionVersion{Accession: entries[0].Accession, Version: 2}, `{"archiveId":"x"}`), 422, []string{"exist"}},
			{"no version is 0", "/zika" + path + updater, ena, "application/x-ndjson", about(seqlease.AccessionVersion{Accession: entries[0].Accession, Version: 0}, `{"archiveId":"x"}`), 422, []string{"exist"}},
			{"accession with a NUL", "/zika" + path + updater, ena, "application/x-ndjson", `{"accession":"\u0000","version":1,"externalMetadata":{"archiveId":"x"}}`, 422, []string{"line 1", "accession"}},
			{"not released", "/zika" + path + updater, ena, "application/x-ndjson", about(processed.AccessionVersion, `{"archiveId":"x"}`), 422, []string{"APPROVED_FOR_RELEASE", processed.String() + " - PROCESSED"}},
			{"other organism", "/moss" + path + updater, ena, "application/x-ndjson", good, 422, []string{entries[0].String(), "zika"}},
			{"state before metadata", "/zika" + path + updater, ena, "application/x-ndjson", about(gone, `{"nothing":"x"}`), 422, []string{"exist"}},
			{"M1", "/zika" + path + updater, ena, "application/x-ndjson", about(entries[0], `{"archiveId":"x","zoo":1,"country":"Peru"}`), 422, []string{entries[0].String(), "country, zoo"}},
			{"M1 of an unknown updater", "/zika" + path + "?externalMetadataUpdater=ncbi", ena, "application/x-ndjson", good, 422, []string{"archiveId"}},
			{"M2", "/zika" + path + updater, ena, "application/x-ndjson", about(entries[0], `{"archivedOn":"2026-01-01"}`), 422, []string{"archiveId", "missing"}},
			{"M3", "/zika" + path + updater, ena, "application/x-ndjson", about(entries[0], `{"archiveId":null}`), 422, []string{"archiveId", "null"}},
			{"M4", "/zika" + path + updater, ena, "application/x-ndjson", about(entries[0], `{"archiveId":"x","archivedOn":"31.1.2026"}`), 422, []string{"date", "archivedOn", `"31.1.2026"`}},
			{"a NUL", "/zika" + path + updater, ena, "application/x-ndjson", good + "\n" + about(entries[1], `{"archiveId":"\u0000"}`), 422, []string{"line 2", "archiveId", "NUL"}},
			{"a long line", "/zika" + path + updater, ena, "application/x-ndjson", good + "\n" + about(entries[1], `{"archiveId":"`+strings.Repeat("x", 1<<20)+`"}`), 413, []string{"line 2"}},
		} {
			a := d.call(t, "POST", tt.path, tt.token, strings.NewReader(tt.body), "Content-Type", tt.kind)
			if tt.words == nil {
				a.want(t, tt.status)
				if got := a.Header.Get("WWW-Authenticate"); !strings.Contains(got, "insufficient_scope") || len(a.body) > 0 {
					t.Errorf("%s: WWW-Authenticate %q and body %q", tt.name, got, a.body)
				}
				continue
			}
			a.problem(t, tt.status, tt.words...)
		}
		after := d.call(t, "GET", "/zika/get-released-data", "", nil).want(t, 200)
		if !bytes.Equal(after.body, before.body) || after.Header.Get("ETag") != before.Header.Get("ETag") {
			t.Error("what is released has changed")
		}
	})
}

// TestContract_ExternalMetadata_TooManyLines: limits are the door's, so that one store is enough.
func TestContract_ExternalMetadata_TooManyLines(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{organisms: withUpdaters()})
	av := d.release(t, d.newGroup(t, anna), 1)[0]
	d.sendExternal(t, "ena", strings.Repeat(about(av, `{"archiveId":"x"}`)+"\n", 100_001)).problem(t, 413, "100000")
	if got := d.releasedMetadata(t)[av.String()]["archiveId"]; got != nil {
		t.Errorf("archiveId is %v though the body was refused", got)
	}
}

// TestContract_ExternalMetadata_TellsAllProblems: in the order of the lines, the first
// decides the status.
func TestContract_ExternalMetadata_TellsAllProblems(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{organisms: withUpdaters()}, func(t *testing.T, d *door) {
		av := d.release(t, d.newGroup(t, anna), 1)[0]
		gone := seqlease.AccessionVersion{Accession: "LOC_GONE", Version: 1}
		good, unknown, wrong := about(av, `{"archiveId":"x"}`), about(gone, `{"archiveId":"x"}`), about(av, `{"archiveId":1,"archivedOn":2}`)
		lines := func(a answer, status int) []int {
			t.Helper()
			var list []int
			for _, p := range a.problem(t, status).Problems {
				list = append(list, p.Line)
			}
			return list
		}
		for _, tt := range []struct {
			body   []string
			status int
			want   []int
		}{
			{[]string{unknown, good, "{", wrong}, 422, []int{1, 3, 4, 4}},
			{[]string{"{", good, unknown}, 400, []int{1, 3}},
			{[]string{good, wrong, "", unknown, "{"}, 422, []int{2, 2, 4, 5}},
		} {
			if diff := cmp.Diff(tt.want, lines(d.sendExternal(t, "ena", strings.Join(tt.body, "\n")), tt.status)); diff != "" {
				t.Errorf("lines of the problems of %q (-want +got):\n%s", tt.body, diff)
			}
		}
		many := strings.Repeat(unknown+"\n", 5) + strings.Repeat(wrong+"\n", 10) + strings.Repeat("{\n", 10) + strings.Repeat(about(gone, `{}`)+"\n", 3)
		a := d.sendExternal(t, "ena", many)
		a.problem(t, 422, "and 18 more")
		if got := len(lines(a, 422)); got != 20 {
			t.Errorf("%d problems are told, want 20", got)
		}
		if got := d.releasedMetadata(t)[av.String()]["archiveId"]; got != nil {
			t.Errorf("archiveId is %v though every body was refused", got)
		}
	})
}
