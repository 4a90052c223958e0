package httpapi_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/submission"
)

// linesOf decodes an answer of lines, of which there must be as many as announced.
func linesOf(t *testing.T, a answer, body []byte) []object {
	t.Helper()
	var list []object
	for text := range bytes.Lines(body) {
		var o object
		if err := json.Unmarshal(text, &o); err != nil || !bytes.HasSuffix(text, []byte("\n")) {
			t.Fatalf("%q: %v", text, err)
		}
		list = append(list, o)
	}
	if got := a.Header.Get("x-total-records"); got != strconv.Itoa(len(list)) {
		t.Errorf("x-total-records is %q, but %d lines came", got, len(list))
	}
	return list
}

func TestContract_SubmittedMetadata_8_9(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		s := d.everyStage(t)
		const processed, warned, failed, released, held, waiting, foreign = 0, 1, 2, 3, 4, 5, 6
		one := s.entries[released].String()
		whole := object{"country": "Côte d'Ivoire\u00a0"}
		for _, tt := range []struct {
			name, token, query string
			want               []int
			metadata           object // of the first line
		}{
			{"own groups", anna, "", []int{processed, warned, failed, released, held, waiting}, whole},
			{"another user's own", bob, "", []int{foreign}, object{"country": "Peru"}},
			{"a super user sees all groups", root, "", []int{processed, warned, failed, released, held, waiting, foreign}, whole},
			{"lists that are empty count as absent", anna, "?fields=&accessionVersionsFilter=&groupIdsFilter=&statusesFilter=&compression=", []int{processed, warned, failed, released, held, waiting}, whole},
			{"exactly these fields", anna, "?fields=country,lake", []int{processed, warned, failed, released, held, waiting}, object{"country": "Côte d'Ivoire\u00a0", "lake": nil}},
			{"fields, repeated, once more", anna, "?fields=lake&fields=a,b&fields=lake", []int{processed, warned, failed, released, held, waiting}, object{"lake": nil, "a,b": nil}},
			{"a group", root, fmt.Sprintf("?groupIdsFilter=%d", s.otherGroup), []int{foreign}, object{"country": "Peru"}},
			{"statuses", anna, "?statusesFilter=IN_PROCESSING,APPROVED_FOR_RELEASE", []int{released, held}, whole},
			{"statuses, repeated", anna, "?statusesFilter=RECEIVED&statusesFilter=PROCESSED", []int{processed, warned, failed, waiting}, whole},
			{"entries", anna, "?accessionVersionsFilter=" + s.entries[waiting].String() + "," + one, []int{released, waiting}, whole},
			{"entries, repeated and twice", anna, "?accessionVersionsFilter=" + one + "&accessionVersionsFilter=" + one, []int{released}, whole},
			{"unknown entries are not found", anna, "?accessionVersionsFilter=LOC_UNKNOWN.1," + string(s.entries[0].Accession) + ".2," + one, []int{released}, whole},
			{"only unknown entries", anna, "?accessionVersionsFilter=LOC_UNKNOWN.1", nil, nil},
			{"another group's entry is not found", anna, "?accessionVersionsFilter=" + s.entries[foreign].String(), nil, nil},
			{"all filters", root, fmt.Sprintf("?accessionVersionsFilter=%s&groupIdsFilter=%d&statusesFilter=APPROVED_FOR_RELEASE&fields=country", one, s.group), []int{released}, whole},
			{"filters that exclude each other", root, "?accessionVersionsFilter=" + one + "&statusesFilter=RECEIVED", nil, nil},
		} {
			a := d.call(t, "GET", "/zika/get-submitted-metadata"+tt.query, tt.token, nil, "Content-Type", "application/json").want(t, 200)
			if got := a.Header.Get("Content-Type"); got != "application/x-ndjson; charset=utf-8" {
				t.Errorf("%s: content type %q", tt.name, got)
			}
			if got := a.Header.Get("Content-Encoding"); got != "" {
				t.Errorf("%s: content encoding %q without having been asked for", tt.name, got)
			}
			lines := linesOf(t, a, a.body)
			var want []object
			for i, entry := range tt.want {
				submitter := "anna"
				if entry == foreign {
					submitter = "bob"
				}
				want = append(want, object{
					"accession": string(s.entries[entry].Accession), "version": 1.0, "submitter": submitter, "isRevocation": false,
					"submittedMetadata": tt.metadata,
				})
				if entry == foreign && i > 0 {
					want[i]["submittedMetadata"] = object{"country": "Peru"}
				}
			}
			if diff := cmp.Diff(lines, want); diff != "" {
				t.Errorf("%s (-got +want):\n%s", tt.name, diff)
			}
			squeezed := d.call(t, "GET", "/zika/get-submitted-metadata?compression=zstd&"+strings.TrimPrefix(tt.query, "?"), tt.token, nil)
			if tt.query == "" || !strings.Contains(tt.query, "compression") {
				if got := squeezed.want(t, 200).Header.Get("Content-Encoding"); got != "zstd" {
					t.Errorf("%s: content encoding %q, want zstd", tt.name, got)
				}
				if text := oneFrame(t, squeezed.body); !bytes.Equal(text, a.body) {
					t.Errorf("%s: compressed %q, want %q", tt.name, text, a.body)
				}
				linesOf(t, squeezed, oneFrame(t, squeezed.body))
			}
		}
		if left := d.leftovers(t); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

// TestContract_SubmittedMetadata_8_9_RevokedAndEdited has versions that weren't uploaded.
func TestContract_SubmittedMetadata_8_9_RevokedAndEdited(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		stored := d.submit(t, group, 3, 20)
		d.sendResults(t, resultsOf(d.claim(t, pipe, 3))).want(t, 204)
		d.approve(t, "zika", stored[0].AccessionVersion, stored[1].AccessionVersion)
		post := func(path, body string, status int) {
			d.call(t, "POST", path, anna, strings.NewReader(body), "Content-Type", "application/json").want(t, status)
		}
		post("/zika/revoke", fmt.Sprintf(`{"accessions":[%q],"versionComment":"mixed up"}`, stored[0].Accession), 200)
		post("/zika/revoke", fmt.Sprintf(`{"accessions":[%q]}`, stored[1].Accession), 200)
		post("/zika/submit-edited-data", fmt.Sprintf(`{"accession":%q,"version":1,"data":{"metadata":{"lake":"Sedge"},"unalignedNucleotideSequences":{}}}`, stored[2].Accession), 204)
		of := func(i, version int, revoked bool, metadata object) object {
			return object{
				"accession": string(stored[i].Accession), "version": float64(version), "submitter": "anna", "isRevocation": revoked, "submittedMetadata": metadata,
			}
		}
		uploaded := object{"country": "Côte d'Ivoire\u00a0"}
		want := []object{
			of(0, 1, false, uploaded), of(0, 2, true, object{"versionComment": "mixed up"}), of(1, 1, false, uploaded), of(1, 2, true, object{}),
			of(2, 1, false, object{"lake": "Sedge"}),
		}
		a := d.call(t, "GET", "/zika/get-submitted-metadata", anna, nil).want(t, 200)
		if diff := cmp.Diff(linesOf(t, a, a.body), want); diff != "" {
			t.Errorf("lines (-got +want):\n%s", diff)
		}
		a = d.call(t, "GET", "/zika/get-submitted-metadata?fields=lake&statusesFilter=PROCESSED,RECEIVED", anna, nil).want(t, 200)
		want = []object{of(0, 2, true, object{"lake": nil}), of(1, 2, true, object{"lake": nil}), of(2, 1, false, object{"lake": "Sedge"})}
		if diff := cmp.Diff(linesOf(t, a, a.body), want); diff != "" {
			t.Errorf("lines of what isn't released (-got +want):\n%s", diff)
		}
		if _, content := d.submittedData(t, "zika", group, anna, "").members(t); content["metadata.tsv"] != "id\taccession\r\n" {
			t.Errorf("revoked entries are in the download: %q", content)
		}
	})
}

func TestContract_SubmittedMetadata_8_9_Refusals(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		group := strconv.FormatInt(d.newGroup(t, anna), 10)
		for _, tt := range []struct {
			token, query string
			status       int
			words        []string
		}{
			{anna, "?groupIdsFilter=99," + group, 404, []string{"99"}},
			{bob, "?groupIdsFilter=" + group, 403, []string{"bob", group}},
			{anna, "?groupIdsFilter=x", 400, []string{"groupIdsFilter", "x"}},
			{anna, "?statusesFilter=received", 400, []string{"statusesFilter", "received"}},
			{anna, "?compression=gzip", 400, []string{"compression", "gzip"}},
			{anna, "?accessionVersionsFilter=LOC_1", 422, []string{"LOC_1"}},
			{anna, "?accessionVersionsFilter=LOC_1.1.1", 422, []string{"LOC_1.1.1"}},
			{anna, "?accessionVersionsFilter=.1", 422, []string{".1"}},
			{anna, "?accessionVersionsFilter=LOC_1.x", 422, []string{"LOC_1.x"}},
			{anna, "?accessionVersionsFilter=LOC_1.0", 422, []string{"LOC_1.0"}},
			{anna, "?accessionVersionsFilter=LOC_1.-1", 422, []string{"LOC_1.-1"}},
			{anna, "?accessionVersionsFilter=LOC_1.", 422, []string{"LOC_1."}},
			{anna, "?accessionVersionsFilter=LOC_1.1&accessionVersionsFilter=LOC_2.1,LOC_3.1", 422, []string{"LOC_2.1,LOC_3.1"}},
			{anna, "?accessionVersionsFilter=a%00b.1", 422, []string{"NUL"}},
			{anna, "?accessionVersionsFilter=%ff.1", 422, []string{"accessionVersionsFilter"}},
		} {
			t.Log(tt.query)
			d.call(t, "GET", "/zika/get-submitted-metadata"+tt.query, tt.token, nil).problem(t, tt.status, tt.words...)
		}
		d.call(t, "GET", "/moss/get-submitted-metadata", anna, nil).problem(t, 400, "moss", "zika", "cchf")
		d.call(t, "GET", "/zika/get-submitted-metadata", "", nil).want(t, 401)
		a := d.call(t, "GET", "/zika/get-submitted-metadata?compression=zstd", bob, nil).want(t, 200)
		if text := oneFrame(t, a.body); len(text) > 0 || a.Header.Get("x-total-records") != "0" {
			t.Errorf("nothing was submitted, but %q came, of %s records", text, a.Header.Get("x-total-records"))
		}
	})
}

// brokenReads fails in the midst of what was submitted.
type brokenReads struct {
	store
	after int
}

func (b *brokenReads) ReadSubmitted(ctx context.Context, f submission.SubmittedFilter, begin func(submission.SubmittedHead) error, yield func(submission.SubmittedEntry) error) error {
	return b.store.ReadSubmitted(ctx, f, begin, b.failing(yield))
}

func (b *brokenReads) ReadRevisable(ctx context.Context, f submission.RevisableFilter, begin func(submission.SubmittedHead) error, yield func(submission.SubmittedEntry) error) error {
	return b.store.ReadRevisable(ctx, f, begin, b.failing(yield))
}

func (b *brokenReads) failing(yield func(submission.SubmittedEntry) error) func(submission.SubmittedEntry) error {
	count := 0
	return func(e submission.SubmittedEntry) error {
		if count++; count > b.after {
			return errBroken
		}
		return yield(e)
	}
}

func TestContract_Submitted_L15_FailureMidwayIsVisible(t *testing.T) {
	t.Parallel()
	for _, after := range []int{0, 39} {
		onBothStores(t, doorOptions{wrap: func(s store) store { return &brokenReads{s, after} }}, func(t *testing.T, d *door) {
			group := d.newGroup(t, anna)
			d.submit(t, group, 40, 20)
			d.sendResults(t, resultsOf(d.claim(t, pipe, 40))).want(t, 204)
			d.call(t, "POST", "/zika/approve-processed-data", anna, strings.NewReader(`{"scope":"ALL"}`), "Content-Type", "application/json").want(t, 200)
			for _, query := range []string{"", "?compression=zstd"} {
				a, err := d.try(t, "GET", "/zika/get-submitted-metadata"+query, anna, nil)
				if err == nil && a.StatusCode == http.StatusOK {
					t.Errorf("after %d entries%s: the body of %d bytes looks whole", after, query, len(a.body))
				}
				if bytes.Contains(a.body, []byte("secret-host")) {
					t.Errorf("the body tells the cause: %s", a.body)
				}
			}
			p := d.submittedData(t, "zika", group, anna, "").problem(t, 500)
			if strings.Contains(p.Detail, "secret") || !strings.Contains(d.log.String(), "secret-host") {
				t.Errorf("detail %q; the log must tell the cause", p.Detail)
			}
			if left := d.leftovers(t); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// submittedData asks for a download; filter is the JSON of further members.
func (d *door) submittedData(t *testing.T, organism string, group int64, token, filter string) answer {
	t.Helper()
	return d.call(t, "POST", "/"+organism+"/get-submitted-data", token, strings.NewReader(fmt.Sprintf(`{"groupId":%d%s}`, group, filter)),
		"Content-Type", "application/json")
}

// members reads a download.
func (a answer) members(t *testing.T) (names []string, content map[string]string) {
	t.Helper()
	a.want(t, 200)
	archive, err := zip.NewReader(bytes.NewReader(a.body), int64(len(a.body)))
	if err != nil {
		t.Fatal(err)
	}
	content = map[string]string{}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, f.Name)
		content[f.Name] = string(text)
	}
	return names, content
}

// releaseAll has everything of an organism processed without data and released.
func (d *door) releaseAll(t *testing.T, organism string) {
	t.Helper()
	var lines []string
	for _, e := range d.claimOf(t, organism, 1000) {
		lines = append(lines, emptied(e))
	}
	d.call(t, "POST", "/"+organism+"/submit-processed-data?pipelineVersion=1", pipe, strings.NewReader(strings.Join(lines, "\n")),
		"Content-Type", "application/x-ndjson").want(t, 204)
	d.call(t, "POST", "/"+organism+"/approve-processed-data", root, strings.NewReader(`{"scope":"ALL"}`), "Content-Type", "application/json").want(t, 200)
}

func TestContract_SubmittedData_8_10_OneSegment(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		var stored []seqlease.SubmissionIDMapping
		for _, upload := range [][2]string{
			{"id\tcountry\tzone\nsample\tKenya\t\n", ">sample\nacgt\n"},
			{"id\tcountry\taccession\nsample\t\"a \"\"quoted\"\" one\"\tLOC_OLD\n", ">sample\nACGTN\n"},
			{"id\tcountry\tnote\nsample_1\t\"two\nlines\ttab\"\t\" blanks \"\n", ">sample_1\nAC\n"},
			{"submissionId\tcountry\nsample\tCôte d'Ivoire\n", ">sample\nA-C\n"},
		} {
			stored = append(stored, d.submitFiles(t, "zika", group, anna, upload[0], upload[1])...)
		}
		names, content := d.submittedData(t, "zika", group, anna, "").members(t)
		if diff := cmp.Diff(names, []string{"metadata.tsv", "sequences.fasta"}); diff != "" {
			t.Errorf("members (-got +want):\n%s", diff)
		}
		if diff := cmp.Diff(content, map[string]string{"metadata.tsv": "id\taccession\r\n", "sequences.fasta": ""}); diff != "" {
			t.Errorf("nothing is released (-got +want):\n%s", diff)
		}
		d.releaseAll(t, "zika")
		a := d.submittedData(t, "zika", group, anna, `,"accessionsFilter":null,"unknown":1`)
		names, content = a.members(t)
		if got := a.Header.Get("Content-Type"); got != "application/zip" {
			t.Errorf("content type %q", got)
		}
		d.checkFileName(t, a, "zika")
		metadata := "id\taccession\tcountry\tnote\tzone\r\n" +
			"sample\t" + string(stored[0].Accession) + "\tKenya\t\t\r\n" +
			"sample_2\t" + string(stored[1].Accession) + "\t\"a \"\"quoted\"\" one\"\t\t\r\n" +
			"sample_1\t" + string(stored[2].Accession) + "\t\"two\nlines\ttab\"\t\" blanks \"\t\r\n" +
			"sample_3\t" + string(stored[3].Accession) + "\tCôte d'Ivoire\t\t\r\n"
		want := map[string]string{
			"metadata.tsv":    metadata,
			"sequences.fasta": ">sample\nacgt\n>sample_2\nACGTN\n>sample_1\nAC\n>sample_3\nA-C\n",
		}
		if diff := cmp.Diff(content, want); diff != "" {
			t.Errorf("files (-got +want):\n%s", diff)
		}
		if diff := cmp.Diff(names, []string{"metadata.tsv", "sequences.fasta"}); diff != "" {
			t.Errorf("members (-got +want):\n%s", diff)
		}
		for filter, accessions := range map[string][]int{
			fmt.Sprintf(`,"accessionsFilter":[%q,%q,%q]`, stored[3].Accession, stored[1].Accession, stored[3].Accession): {1, 3},
			`,"accessionsFilter":["LOC_UNKNOWN"]`: nil,
			`,"accessionsFilter":[]`:              {0, 1, 2, 3},
		} {
			_, content := d.submittedData(t, "zika", group, root, filter).members(t)
			rows := regexp.MustCompile(`\tLOC_[0-9A-Z]+\t`).FindAllString(content["metadata.tsv"], -1)
			var got []string
			for _, i := range accessions {
				got = append(got, "\t"+string(stored[i].Accession)+"\t")
			}
			if diff := cmp.Diff(rows, got); diff != "" {
				t.Errorf("%s: rows (-got +want):\n%s", filter, diff)
			}
		}
		d.revisable(t, "zika", content, 4)
		if left := d.leftovers(t); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

// checkFileName compares the name with the clock of the database, which is that of the
// machine in tests.
func (d *door) checkFileName(t *testing.T, a answer, organism string) {
	t.Helper()
	disposition := a.Header.Get("Content-Disposition")
	found := regexp.MustCompile(`^attachment; filename="` + organism + `_submitted_data_(\d{8}T\d{6}Z)\.zip"$`).FindStringSubmatch(disposition)
	if found == nil {
		t.Fatalf("content disposition %q", disposition)
	}
	at, err := time.Parse("20060102T150405Z", found[1])
	if err != nil || time.Since(at).Abs() > 5*time.Minute {
		t.Errorf("the file is of %s: %v", at, err)
	}
}

func TestContract_SubmittedData_8_10_Segments(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{organisms: []*organism.Organism{reedvirus()}}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		first := d.submitFiles(t, "cchf", group, anna, "id\tcountry\tfastaIds\nx\tPeru\ts2 s1\ny\tChad\ty\n", ">s1\nAC\n>s2\nGT\n>y\nTT\n")
		second := d.submitFiles(t, "cchf", group, anna, "id\tcountry\tfastaIds\nx\tMali\ts1\n", ">s1\nCC\n")
		d.releaseAll(t, "cchf")
		_, content := d.submittedData(t, "cchf", group, anna, "").members(t)
		want := map[string]string{
			"metadata.tsv": "id\taccession\tfastaIds\tcountry\r\n" +
				"x\t" + string(first[0].Accession) + "\ts2 s1\tPeru\r\n" +
				"y\t" + string(first[1].Accession) + "\ty\tChad\r\n" +
				"x_1\t" + string(second[0].Accession) + "\ts1_1\tMali\r\n",
			"sequences.fasta": ">s2\nGT\n>s1\nAC\n>y\nTT\n>s1_1\nCC\n",
		}
		if diff := cmp.Diff(content, want); diff != "" {
			t.Errorf("files (-got +want):\n%s", diff)
		}
		d.revisable(t, "cchf", content, 3)
		d.submitReed(t, group, 1)
		if _, content := d.submittedData(t, "reedvirus", group, anna, "").members(t); content["metadata.tsv"] != "id\taccession\tfastaIds\tfiles.photos\r\n" {
			t.Errorf("nothing is released, but there is %q", content)
		}
	})
}

// TestContract_SubmittedData_SeveralSequencesOfOneSegment has rows that a revision
// could not find the sequences of, were they called like the rows.
func TestContract_SubmittedData_SeveralSequencesOfOneSegment(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		stored := d.submitFiles(t, "zika", group, anna, "id\tcountry\tfastaIds\nx\tPeru\ta b\ny\tPeru\tc\n", ">a\nAC\n>b\nGT\n>c\nTT\n")
		d.releaseAll(t, "zika")
		_, content := d.submittedData(t, "zika", group, anna, "").members(t)
		want := map[string]string{
			"metadata.tsv": "id\taccession\tfastaIds\tcountry\r\n" +
				"x\t" + string(stored[0].Accession) + "\ta b\tPeru\r\ny\t" + string(stored[1].Accession) + "\tc\tPeru\r\n",
			"sequences.fasta": ">a\nAC\n>b\nGT\n>c\nTT\n",
		}
		if diff := cmp.Diff(content, want); diff != "" {
			t.Errorf("files (-got +want):\n%s", diff)
		}
		d.revisable(t, "zika", content, 2)
	})
}

// revisable sends a download back as a revision, which everything in it takes.
func (d *door) revisable(t *testing.T, organism string, content map[string]string, rows int) {
	t.Helper()
	body, contentType := upload(t, "metadataFile", "@metadata.tsv\n"+content["metadata.tsv"], "sequenceFile", "@sequences.fasta\n"+content["sequences.fasta"])
	var made []seqlease.SubmissionIDMapping
	d.call(t, "POST", "/"+organism+"/revise", anna, body, "Content-Type", contentType).want(t, 200).into(t, &made)
	if len(made) != rows {
		t.Errorf("%d entries were revised, want %d", len(made), rows)
	}
	for _, m := range made {
		if m.Version != 2 || !strings.Contains(content["metadata.tsv"], m.SubmissionID+"\t"+string(m.Accession)+"\t") {
			t.Errorf("made %v, which the download doesn't name as its second version", m)
		}
	}
}

func TestContract_SubmittedData_8_10_Refusals(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		stored := d.submit(t, group, submission.MaxSubmittedData+1, 4)
		d.releaseAll(t, "zika")
		path := "/zika/get-submitted-data"
		const jsonType = "application/json"
		for _, tt := range []struct {
			token, path, contentType, body string
			status                         int
			words                          []string
		}{
			{anna, path, jsonType, fmt.Sprintf(`{"groupId":%d}`, group), 422, []string{"500", "501"}},
			{anna, path, jsonType, `{}`, 400, []string{"groupId"}},
			{anna, path, jsonType, `{"groupId":null}`, 400, []string{"groupId"}},
			{anna, path, jsonType, `{"groupId":"one"}`, 400, []string{"groupId"}},
			{anna, path, jsonType, `{"groupId":1,"accessionsFilter":"x"}`, 400, []string{"accessionsFilter"}},
			{anna, path, jsonType, `{"groupId":`, 400, nil},
			{anna, path, "text/plain", `{"groupId":1}`, 415, []string{jsonType}},
			{anna, path, jsonType, `{"groupId":99}`, 404, []string{"99"}},
			{bob, path, jsonType, fmt.Sprintf(`{"groupId":%d}`, group), 403, []string{"bob", strconv.FormatInt(group, 10)}},
			{anna, path, jsonType, fmt.Sprintf(`{"groupId":%d,"accessionsFilter":["a\u0000b"]}`, group), 422, []string{"NUL"}},
			{anna, "/moss/get-submitted-data", jsonType, `{"groupId":1}`, 400, []string{"moss", "zika"}},
			{"", path, jsonType, `{"groupId":1}`, 403, nil},
		} {
			t.Logf("%s %s", tt.path, tt.body)
			d.call(t, "POST", tt.path, tt.token, strings.NewReader(tt.body), "Content-Type", tt.contentType).problem(t, tt.status, tt.words...)
		}
		var names []string
		for _, e := range stored[1:] {
			names = append(names, fmt.Sprintf("%q", e.Accession))
		}
		_, content := d.submittedData(t, "zika", group, anna, `,"accessionsFilter":[`+strings.Join(names, ",")+`]`).members(t)
		if got := strings.Count(content["sequences.fasta"], ">"); got != submission.MaxSubmittedData {
			t.Errorf("%d sequences, want %d", got, submission.MaxSubmittedData)
		}
	})
}
