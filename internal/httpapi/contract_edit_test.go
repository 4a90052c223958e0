package httpapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
)

func dataToEditPath(av seqlease.AccessionVersion) string {
	return fmt.Sprintf("get-data-to-edit/%s/%d", av.Accession, av.Version)
}

// editJSON is a body of submit-edited-data; data is the member's JSON.
func editJSON(av seqlease.AccessionVersion, data string) string {
	return fmt.Sprintf(`{"accession":%q,"version":%d,"data":%s}`, av.Accession, av.Version, data)
}

const someData = `{"metadata":{"country":"Peru"},"unalignedNucleotideSequences":{"s0":"acgtn"},"files":null}`

// emptyProcessed is what there is of an entry without any data.
func emptyProcessed() map[string]any {
	return map[string]any{
		"metadata":                     map[string]any{"country": nil, "date": nil, "age": nil},
		"unalignedNucleotideSequences": map[string]any{"main": nil}, "alignedNucleotideSequences": map[string]any{"main": nil},
		"nucleotideInsertions": map[string]any{"main": []any{}}, "alignedAminoAcidSequences": map[string]any{"E": nil},
		"aminoAcidInsertions": map[string]any{"E": []any{}}, "sequenceNameToFastaId": map[string]any{}, "files": nil,
	}
}

// dataToEdit reads the whole document.
func (d *door) dataToEdit(t *testing.T, av seqlease.AccessionVersion) map[string]any {
	t.Helper()
	var document map[string]any
	a := d.call(t, "GET", "/zika/"+dataToEditPath(av), anna, nil).want(t, 200)
	if got := a.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("content type %q", got)
	}
	a.into(t, &document)
	return document
}

// TestContract_DataToEdit compares the whole document.
func TestContract_DataToEdit(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		all := d.judged(t, group, "WEN")
		note := []any{map[string]any{"unprocessedFields": []any{map[string]any{"type": "Metadata", "name": "country"}}, "processedFields": []any{}, "message": "odd"}}
		processed := emptyProcessed()
		processed["metadata"] = map[string]any{"country": "Kenya", "date": nil, "age": 7.0}
		processed["unalignedNucleotideSequences"] = map[string]any{"main": "ACGT"}
		processed["alignedNucleotideSequences"] = map[string]any{"main": reference}
		processed["nucleotideInsertions"] = map[string]any{"main": []any{"3:AC"}}
		processed["alignedAminoAcidSequences"] = map[string]any{"E": "MKT*"}
		processed["sequenceNameToFastaId"] = map[string]any{"main": "s0"}
		want := map[string]any{
			"accession": string(all[0].Accession), "version": 1.0, "status": "PROCESSED", "groupId": float64(group), "submissionId": "s0",
			"processedData": processed, "errors": []any{}, "warnings": note,
			"submittedData": map[string]any{
				"metadata":                     map[string]any{"country": "Côte d'Ivoire\u00a0"},
				"unalignedNucleotideSequences": map[string]any{"s0": strings.Repeat("ACGT", 5)}, "files": nil,
			},
		}
		if diff := cmp.Diff(want, d.dataToEdit(t, all[0])); diff != "" {
			t.Errorf("document (-want +got):\n%s", diff)
		}
		failed := d.dataToEdit(t, all[1])
		if diff := cmp.Diff([]any{note, []any{}}, []any{failed["errors"], failed["warnings"]}); diff != "" {
			t.Errorf("of one with errors (-want +got):\n%s", diff)
		}
		d.approved(t, all[2])
		if got := d.dataToEdit(t, all[2])["status"]; got != "APPROVED_FOR_RELEASE" {
			t.Errorf("a released entry has the status %v", got)
		}
	})
}

// TestContract_DataToEditRefuses has the protocol's order of checks.
func TestContract_DataToEditRefuses(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		all := d.judged(t, group, "NR")
		d.approved(t, all[0])
		d.send(t, "POST", "revoke", anna, revokeJSON(all[:1], "")).want(t, 200)
		revocation := seqlease.AccessionVersion{Accession: all[0].Accession, Version: 2}
		foreign := d.submitCCHF(t, group)
		for _, tt := range []struct {
			name, token, path string
			status            int
			words             []string
		}{
			{"unknown version before the permission", bob, dataToEditPath(seqlease.AccessionVersion{Accession: all[0].Accession, Version: 9}), 422, []string{string(all[0].Accession) + ".9", "do not exist"}},
			{"unknown accession", anna, "get-data-to-edit/LOC_NONE/1", 422, []string{"LOC_NONE.1", "do not exist"}},
			{"accession that none can have", anna, "get-data-to-edit/A%00/1", 422, []string{"do not exist"}},
			{"version below 1", anna, "get-data-to-edit/LOC_NONE/0", 422, []string{"LOC_NONE.0"}},
			{"version that is no number", anna, "get-data-to-edit/LOC_NONE/x", 400, []string{"version"}},
			{"permission before the organism", bob, dataToEditPath(foreign), 403, []string{`"bob"`, foreign.String()}},
			{"organism", anna, dataToEditPath(foreign), 422, []string{foreign.String(), "cchf"}},
			{"permission before the kind", bob, dataToEditPath(revocation), 403, []string{`"bob"`, revocation.String()}},
			{"revocation", anna, dataToEditPath(revocation), 422, []string{revocation.String(), "revocation"}},
			{"received", anna, dataToEditPath(all[1]), 422, []string{all[1].String(), "RECEIVED"}},
		} {
			t.Log(tt.name)
			d.call(t, "GET", "/zika/"+tt.path, tt.token, nil).problem(t, tt.status, tt.words...)
		}
		d.claim(t, pipe, 1)
		d.call(t, "GET", "/zika/"+dataToEditPath(all[1]), anna, nil).problem(t, 422, all[1].String(), "IN_PROCESSING")
		d.call(t, "GET", "/nowhere/"+dataToEditPath(all[1]), anna, nil).problem(t, 400, "nowhere")
	})
}

// TestContract_DataToEditOfTheCurrentResult reads an entry that is processed again, by
// a newer version, and after it was quarantined (V9, L9).
func TestContract_DataToEditOfTheCurrentResult(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		all := d.judged(t, d.newGroup(t, anna), "E")
		d.post(t, "reprocess", root, `{"all":true}`).want(t, 200)
		if again := d.claim(t, pipe, 1); len(again) != 1 {
			t.Fatal("the entry isn't processed again")
		}
		if got := d.dataToEdit(t, all[0]); got["status"] != "PROCESSED" || len(got["errors"].([]any)) != 1 {
			t.Errorf("while it is processed again: %v", got)
		}
		d.post(t, "quarantine", root, `{"all":true,"reason":"crashes the aligner"}`).want(t, 200)
		got := d.dataToEdit(t, all[0])
		errors := listJSON(got["errors"])
		if diff := cmp.Diff(emptyProcessed(), got["processedData"]); diff != "" || !strings.Contains(errors, "crashes the aligner") {
			t.Errorf("of one in quarantine: errors %s, processed data (-want +got):\n%s", errors, diff)
		}
		d.send(t, "POST", "submit-edited-data", anna, editJSON(all[0], someData)).want(t, 204)
		if entries := d.claim(t, pipe, 10); len(entries) != 1 || entries[0].Data.Metadata["country"] != "Peru" || entries[0].Attempt != 1 {
			t.Errorf("claimed after the edit: %+v", entries)
		}
	})
}

// TestContract_Edit checks the effects (§4.3): all results of the entry version are
// gone, those of a newer pipeline version too, and everybody processes it anew.
func TestContract_Edit(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{versions: true, organisms: withPhotos()}, func(t *testing.T, d *door) {
		all := d.judged(t, d.newGroup(t, anna), "NEN")
		var first seqlease.Entry // another pipeline version is at work
		eventually(t, "the newer version has the first entry", func() bool {
			for _, e := range d.claimVersion(t, "zika", 2, 10) {
				if e.AccessionVersion == all[0] {
					first = e
				}
			}
			return first.Accession != ""
		})
		for i, data := range []string{
			// As it is given: no field must be known, a sequence may be null, a number is a text; unknown members don't count.
			`{"metadata":{"country":"Peru","colour":"","age":7},"unalignedNucleotideSequences":{"s0":"acgtn","none":null},"files":{},"later":[1]}`,
			`{"metadata":{},"unalignedNucleotideSequences":{},"files":{"photos":[]}}`,
		} {
			a := d.send(t, "POST", "submit-edited-data", anna, strings.Replace(editJSON(all[i], data), `"version":1`, `"version":"1","later":2`, 1)).want(t, 204)
			if len(a.body) != 0 {
				t.Errorf("204 with a body: %s", a.body)
			}
		}
		if diff := cmp.Diff([]string{all[0].String() + " RECEIVED NO_ISSUES", all[1].String() + " RECEIVED NO_ISSUES", all[2].String() + " PROCESSED NO_ISSUES"}, d.states(t)); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
		d.wantAudited(t, "edit", audited{"anna", "edit", all[0].String(), 1}, audited{"anna", "edit", all[1].String(), 1})

		// L10: the result of the other version's lease comes late.
		late := d.call(t, "POST", "/zika/submit-processed-data?pipelineVersion=2", pipe, strings.NewReader(resultOf(first)), "Content-Type", "application/x-ndjson")
		if p := late.problem(t, 422); len(p.Refused) != 1 || p.Refused[0].Reason != seqlease.RefusedEdited || p.Refused[0].AccessionVersion != all[0] {
			t.Errorf("the late result is refused with %+v", p.Refused)
		}
		a := d.call(t, "POST", "/zika/extract-unprocessed-data?numberOfSequenceEntries=10&pipelineVersion=1", pipe, nil).want(t, 200)
		var lines []map[string]any
		for line := range strings.Lines(string(a.body)) {
			var entry map[string]any
			if err := json.Unmarshal([]byte(line), &entry); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, entry["data"].(map[string]any))
		}
		want := []map[string]any{
			{"metadata": map[string]any{"country": "Peru", "colour": "", "age": "7"}, "unalignedNucleotideSequences": map[string]any{"s0": "acgtn", "none": nil}, "files": nil},
			{"metadata": map[string]any{}, "unalignedNucleotideSequences": map[string]any{}, "files": nil},
		}
		if diff := cmp.Diff(want, lines); diff != "" {
			t.Errorf("claimed data (-want +got):\n%s", diff)
		}
	})
}

// TestContract_EditRefuses has the protocol's order of checks; nothing changes.
func TestContract_EditRefuses(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{organisms: withPhotos()}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		all := d.judged(t, group, "NER")
		d.approved(t, all[0])
		d.send(t, "POST", "revoke", anna, revokeJSON(all[:1], "")).want(t, 200)
		revocation := seqlease.AccessionVersion{Accession: all[0].Accession, Version: 2}
		foreign := d.submitCCHF(t, group)
		foreignDone := d.submitCCHF(t, group)
		for _, e := range d.claimVersion(t, "cchf", 1, 2) {
			line := strings.NewReplacer(`"main"`, `"L"`, `"E":"MKT*"`, ``, `"E":[]`, ``).Replace(resultOf(e))
			if e.AccessionVersion == foreignDone {
				d.call(t, "POST", "/cchf/submit-processed-data?pipelineVersion=1", pipe, strings.NewReader(line), "Content-Type", "application/x-ndjson").want(t, 204)
			}
		}
		before := d.states(t)
		withFiles := strings.Replace(someData, `"files":null`, `"files":{"rawReads":[{"fileId":"x","name":"y"}]}`, 1)
		for _, tt := range []struct {
			name, token, body string
			status            int
			words             []string
		}{
			{"unknown before the permission", bob, editJSON(seqlease.AccessionVersion{Accession: all[1].Accession, Version: 2}, withFiles), 422, []string{string(all[1].Accession) + ".2", "do not exist"}},
			{"permission before the state", bob, editJSON(all[2], withFiles), 403, []string{`"bob"`, all[2].String()}},
			{"received", anna, editJSON(all[2], withFiles), 422, []string{"[PROCESSED]", all[2].String() + " - RECEIVED"}},
			{"released", anna, editJSON(all[0], withFiles), 422, []string{all[0].String() + " - APPROVED_FOR_RELEASE"}},
			{"state before the organism", anna, editJSON(foreign, withFiles), 422, []string{foreign.String() + " - IN_PROCESSING"}},
			{"organism", anna, editJSON(foreignDone, withFiles), 422, []string{foreignDone.String(), "cchf"}},
			{"revocation", anna, editJSON(revocation, someData), 422, []string{revocation.String(), "revocation"}},
			{"files", anna, editJSON(all[1], withFiles), 422, []string{"data.files", `no category of attachments "rawReads"`, "leave files out"}},
			{"no file of an unknown category", anna, editJSON(all[1], strings.Replace(someData, `"files":null`, `"files":{"rawReads":[]}`, 1)), 422, []string{"data.files", "rawReads"}},
			{"files of the organism's category", anna, editJSON(all[1], strings.Replace(withFiles, "rawReads", "photos", 1)), 422, []string{"data.files", `"photos" has attachments`, "leave files out"}},
		} {
			t.Log(tt.name)
			d.send(t, "POST", "submit-edited-data", tt.token, tt.body).problem(t, tt.status, tt.words...)
		}
		if diff := cmp.Diff(before, d.states(t)); diff != "" {
			t.Errorf("something has changed (-before +after):\n%s", diff)
		}
		d.wantAudited(t, "edit")
	})
}

func TestContract_EditBody(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		all := d.judged(t, d.newGroup(t, anna), "E")
		data := func(metadata, sequences string) string {
			return editJSON(all[0], `{"metadata":`+metadata+`,"unalignedNucleotideSequences":`+sequences+`}`)
		}
		var fields []string
		for i := range 1001 {
			fields = append(fields, fmt.Sprintf(`"f%d":""`, i))
		}
		for _, tt := range []struct {
			body   string
			status int
			words  []string
		}{
			{`{}`, 400, []string{"accession"}},
			{`{"accession":null,"version":1,"data":{}}`, 400, []string{"accession"}},
			{`{"accession":"A","data":{}}`, 400, []string{"version"}},
			{`{"accession":"A","version":"x","data":{}}`, 400, []string{"version"}},
			{`{"accession":"A","version":1}`, 400, []string{"data"}},
			{`{"accession":"A","version":1,"data":{}}`, 400, []string{"data.metadata"}},
			{`{"accession":"A","version":1,"data":{"metadata":{}}}`, 400, []string{"data.unalignedNucleotideSequences"}},
			{`{"accession":"A\u0000","version":1,"data":{"metadata":{},"unalignedNucleotideSequences":{}}}`, 400, []string{"accession", "NUL"}},
			{data(`{"country":null}`, `{}`), 400, []string{"data.metadata.country"}},
			{data(`{"country":["Peru"]}`, `{}`), 400, []string{"data.metadata.country"}},
			{data(`{"country":"\ud800"}`, `{}`), 400, []string{"data.metadata.country"}},
			{data(`{"country":"a","country":"b"}`, `{}`), 400, []string{"country"}},
			{data(`{}`, `{"s0":{}}`), 400, []string{"data.unalignedNucleotideSequences.s0"}},
			{data(`{"country":"a\u0000b","age":"\u0000"}`, `{"s\u0000":"A"}`), 422, []string{"data.metadata.country", "data.metadata.age", "data.unalignedNucleotideSequences.s", "NUL"}},
			{data(`{`+strings.Join(fields, ",")+`}`, `{}`), 422, []string{"data.metadata", "1001", "1000"}},
		} {
			t.Logf("%.80s", tt.body)
			d.send(t, "POST", "submit-edited-data", anna, tt.body).problem(t, tt.status, tt.words...)
		}
		d.call(t, "POST", "/zika/submit-edited-data", anna, strings.NewReader(data(`{}`, `{}`)), "Content-Type", "text/plain").problem(t, 415)
		if got := d.states(t)[0]; !strings.HasSuffix(got, "HAS_ERRORS") {
			t.Errorf("something was stored: %s", got)
		}
	})
}

// TestContract_LargeEditBody: limits are the door's, so that one store is enough.
func TestContract_LargeEditBody(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	all := d.judged(t, d.newGroup(t, anna), "E")
	data := func(metadata, sequences string) string {
		return editJSON(all[0], `{"metadata":`+metadata+`,"unalignedNucleotideSequences":`+sequences+`}`)
	}
	var large []string
	for i := range 4 {
		large = append(large, fmt.Sprintf(`"s%d":"%s"`, i, strings.Repeat("A", 8<<20-64)))
	}
	for _, tt := range []struct {
		body  string
		words []string
	}{
		{data(`{"country":"`+strings.Repeat("a", 1<<20+1)+`"}`, `{}`), []string{"data.metadata.country", "1 MiB"}},
		{data(`{}`, `{"s0":"`+strings.Repeat("A", 10<<20+1)+`"}`), []string{"data.unalignedNucleotideSequences.s0", "10 MiB"}},
		{data(`{}`, `{`+strings.Join(large, ",")+`}`), []string{"data", "31 MiB"}},
		{data(`{}`, `{"s0":"`+strings.Repeat("A", 33<<20)+`"}`), []string{"bytes"}},
	} {
		d.send(t, "POST", "submit-edited-data", anna, tt.body).problem(t, 413, tt.words...)
	}
	if got := d.states(t)[0]; !strings.HasSuffix(got, "HAS_ERRORS") {
		t.Errorf("something was stored: %s", got)
	}
	d.send(t, "POST", "submit-edited-data", anna, data(`{}`, `{"s0":"`+strings.Repeat("A", 10<<20)+`"}`)).want(t, 204)
}

// TestContract_DataToEditOfALargeEntry sends what goes out by way of the disk.
func TestContract_DataToEditOfALargeEntry(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		all := d.judged(t, d.newGroup(t, anna), "NN")
		for i, length := range []int{200 << 10, 4 << 20} {
			letters := strings.Repeat("ACGTN", length/5)
			d.send(t, "POST", "submit-edited-data", anna, editJSON(all[i], `{"metadata":{},"unalignedNucleotideSequences":{"s0":"`+letters+`"}}`)).want(t, 204)
			d.sendResults(t, strings.Replace(resultOf(d.claim(t, pipe, 1)[0]), `"main":"acgt"`, `"main":"`+strings.ToLower(letters)+`"`, 1)).want(t, 204)
			got := d.dataToEdit(t, all[i])
			submitted := got["submittedData"].(map[string]any)["unalignedNucleotideSequences"].(map[string]any)["s0"]
			processed := got["processedData"].(map[string]any)["unalignedNucleotideSequences"].(map[string]any)["main"]
			if submitted != letters || processed != letters {
				t.Errorf("%d letters don't come back as they were sent", len(letters))
			}
		}
		if left := d.leftovers(t); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

// TestContract_L12_SlowReadersOfDataToEdit has many clients stop within answers of
// megabytes, with one connection to the database: neither it nor the memory for large
// documents is kept from others.
func TestContract_L12_SlowReadersOfDataToEdit(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{open: openPostgres(newPostgres(t), 1)})
	av := d.submit(t, d.newGroup(t, anna), 1, 8<<20)[0].AccessionVersion
	letters := strings.Repeat("acgt", 2<<20)
	d.sendResults(t, strings.Replace(resultOf(d.claim(t, pipe, 1)[0]), `"main":"acgt"`, `"main":"`+letters+`"`, 1)).want(t, 204)
	for range 6 {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(d.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(conn, "GET /zika/%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", dataToEditPath(av), anna); err != nil {
			t.Fatal(err)
		}
		head := make([]byte, 12)
		if _, err := io.ReadFull(conn, head); err != nil || string(head) != "HTTP/1.1 200" {
			t.Fatalf("%q: %v", head, err)
		}
	}
	got := d.dataToEdit(t, av)
	if sequences := got["processedData"].(map[string]any)["unalignedNucleotideSequences"].(map[string]any); len(sequences["main"].(string)) != len(letters) {
		t.Error("the answer isn't whole")
	}
	d.send(t, "POST", "submit-edited-data", anna, editJSON(av, someData)).want(t, 204)
}
