package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/seqlease/seqlease"
)

const (
	extractPath = "/zika/extract-unprocessed-data"
	formType    = "application/x-www-form-urlencoded"
)

// extract sends a request as pipelines do, its parameters as a form body.
func (d *door) extract(t *testing.T, path, form string, header ...string) answer {
	t.Helper()
	return d.call(t, "POST", path, pipe, strings.NewReader(form), append([]string{"Content-Type", formType}, header...)...)
}

func TestContract_Extract_6_1_Parameters(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		tag := d.extract(t, extractPath, "numberOfSequenceEntries=0&pipelineVersion=1").want(t, 200).Header.Get("ETag")
		multipart, multipartType := upload(t, "numberOfSequenceEntries", "1", "pipelineVersion", "1")
		d.call(t, "POST", extractPath, pipe, multipart, "Content-Type", multipartType).want(t, 200)
		for _, tt := range []struct {
			name, path, form string
			status           int
			words            []string
		}{
			{"in the query", extractPath + "?numberOfSequenceEntries=5&pipelineVersion=1", "", 200, nil},
			{"as a form", extractPath, "numberOfSequenceEntries=5&pipelineVersion=1", 200, nil},
			{"in both, the query wins", extractPath + "?pipelineVersion=1&numberOfSequenceEntries=5", "pipelineVersion=0&numberOfSequenceEntries=-1", 200, nil},
			{"unknown ones are ignored", extractPath + "?what=1", "ever=2&numberOfSequenceEntries=5&pipelineVersion=1", 200, nil},
			{"as many as there may be", extractPath, "numberOfSequenceEntries=100000&pipelineVersion=1", 200, nil},
			{"none is legal", extractPath, "numberOfSequenceEntries=0&pipelineVersion=1", 200, nil},
			{"one too many", extractPath, "numberOfSequenceEntries=100001&pipelineVersion=1", 400, []string{"100000"}},
			{"negative", extractPath, "numberOfSequenceEntries=-1&pipelineVersion=1", 400, []string{"numberOfSequenceEntries"}},
			{"missing number", extractPath, "pipelineVersion=1", 400, []string{"numberOfSequenceEntries"}},
			{"missing version", extractPath, "numberOfSequenceEntries=5", 400, []string{"pipelineVersion"}},
			{"no number", extractPath, "numberOfSequenceEntries=x&pipelineVersion=1", 400, []string{"numberOfSequenceEntries"}},
			{"beyond 32 bits", extractPath, "numberOfSequenceEntries=4294967296&pipelineVersion=1", 400, []string{"numberOfSequenceEntries"}},
			{"another compression", extractPath + "?compression=gzip", "numberOfSequenceEntries=5&pipelineVersion=1", 400, []string{"compression", "gzip"}},
			{"an unknown organism", "/moss/extract-unprocessed-data", "numberOfSequenceEntries=5&pipelineVersion=1", 400, []string{"moss", "zika", "cchf"}},
			{"parameters before the version", extractPath, "numberOfSequenceEntries=-1&pipelineVersion=0", 400, []string{"numberOfSequenceEntries"}},
			{"an outdated version", extractPath, "numberOfSequenceEntries=5&pipelineVersion=0", 422, []string{"0", "1"}},
		} {
			t.Log(tt.name)
			// The tag is the present one: whatever is wrong comes before it.
			a := d.extract(t, tt.path, tt.form, "If-None-Match", tag)
			switch {
			case tt.status != 200:
				a.problem(t, tt.status, tt.words...)
				if got := a.Header.Get("ETag"); got != "" {
					t.Errorf("an error has the ETag %s", got)
				}
			case a.StatusCode != http.StatusNotModified || a.Header.Get("ETag") != tag || len(a.body) > 0:
				t.Errorf("got %d with ETag %s and %d bytes, want 304 with %s and none", a.StatusCode, a.Header.Get("ETag"), len(a.body), tag)
			}
		}
		if d.extract(t, extractPath, "numberOfSequenceEntries=5&pipelineVersion=1", "If-None-Match", "W/"+tag).StatusCode != http.StatusNotModified {
			t.Error("a tag that a proxy made weak is not known")
		}
		for _, other := range []string{"*", strings.Trim(tag, `"`), tag + ", " + tag, `""`} {
			if a := d.extract(t, extractPath, "numberOfSequenceEntries=5&pipelineVersion=1", "If-None-Match", other); a.StatusCode != http.StatusOK {
				t.Errorf("If-None-Match %s: got %d, want 200", other, a.StatusCode)
			}
		}
	})
}

// TestContract_Extract_6_1_ETag has the properties E1 to E3.
func TestContract_Extract_6_1_ETag(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		const all = "numberOfSequenceEntries=10&pipelineVersion=1"
		tag := func() string {
			return d.extract(t, extractPath, "numberOfSequenceEntries=0&pipelineVersion=1").want(t, 200).Header.Get("ETag")
		}
		first := tag()
		if len(first) < 2 || first[0] != '"' || first[len(first)-1] != '"' {
			t.Errorf("the tag %s is not in double quotes", first)
		}
		if again := tag(); again != first {
			t.Errorf("E2: the tag is %s and then %s, though nothing happened", first, again)
		}
		d.submitFiles(t, "cchf", group, anna, "id\tcountry\tfastaIds\ns\tKenya\ta\n", ">a\nACGT\n")
		d.claimOf(t, "cchf", 1)
		if other := tag(); other != first {
			t.Errorf("E3: the tag is %s after writes of another organism, want %s", other, first)
		}
		d.submit(t, group, 2, 20)
		a := d.extract(t, extractPath, all, "If-None-Match", first).want(t, 200)
		if entries := entriesOf(t, a.body); len(entries) != 2 {
			t.Errorf("E1: %d entries for the tag from before the upload, want 2", len(entries))
		}
		empty := d.extract(t, extractPath, all, "If-None-Match", a.Header.Get("ETag"))
		for tries := 0; empty.StatusCode == http.StatusOK && tries < 3; tries++ { // the claim itself may have been a change
			if len(empty.body) > 0 {
				t.Fatalf("claimed again: %s", empty.body)
			}
			empty = d.extract(t, extractPath, all, "If-None-Match", empty.Header.Get("ETag"))
		}
		if empty.StatusCode != http.StatusNotModified || empty.Header.Get("ETag") == "" || len(empty.body) > 0 {
			t.Errorf("idle: got %d with ETag %q and %d bytes, want 304 with a tag and none", empty.StatusCode, empty.Header.Get("ETag"), len(empty.body))
		}
	})
}

func TestContract_Extract_6_1_Lines(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		stored := d.submitFiles(t, "zika", group, anna, "id\tcountry\tnote\none\tCôte d'Ivoire\t\ntwo\tKenya\tx\u00a0y\n", ">two\nACGtn-\n>one\nacgt\nRYK\n")
		d.submitFiles(t, "zika", group, anna, "id\tcountry\tfastaIds\nthree\tPeru\tb a\n", ">a\nA\n>b\nC\n")
		a := d.extract(t, extractPath, "numberOfSequenceEntries=10&pipelineVersion=1").want(t, 200)
		if got := a.Header.Get("Content-Type"); got != "application/x-ndjson; charset=utf-8" {
			t.Errorf("content type %q", got)
		}
		if !bytes.HasSuffix(a.body, []byte("}\n")) || bytes.Count(a.body, []byte("\n")) != 3 {
			t.Fatalf("want 3 lines, each with its end: %q", a.body)
		}
		if !bytes.Contains(a.body, []byte("x\u00a0y")) {
			t.Error("a no-break space is not sent as it is")
		}
		want := []object{
			{"metadata": object{"country": "Côte d'Ivoire", "note": ""}, "unalignedNucleotideSequences": object{"one": "acgtRYK"}, "files": nil},
			{"metadata": object{"country": "Kenya", "note": "x\u00a0y"}, "unalignedNucleotideSequences": object{"two": "ACGtn-"}, "files": nil},
			{"metadata": object{"country": "Peru"}, "unalignedNucleotideSequences": object{"a": "A", "b": "C"}, "files": nil},
		}
		var accessions []string
		for i, text := range slices.Collect(bytes.Lines(a.body)) {
			var got object
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got["data"], any(want[i])); diff != "" {
				t.Errorf("data of line %d (-got +want):\n%s", i+1, diff)
			}
			accessions = append(accessions, fmt.Sprint(got["accession"]))
			if i > 0 {
				continue
			}
			submitted, isNumber := got["submittedAt"].(float64)
			if !isNumber || submitted != float64(int64(submitted)) || submitted < 1.7e9 || submitted > 1e10 {
				t.Errorf("submittedAt is %v, want epoch seconds", got["submittedAt"])
			}
			for _, ours := range []string{"data", "submittedAt", "processingAttemptId", "leaseUntil", "leaseSeconds", "attempt"} {
				delete(got, ours)
			}
			members := object{
				"accession": string(stored[0].Accession), "version": 1.0, "submissionId": "one", "submitter": "anna", "groupId": float64(group),
			}
			if diff := cmp.Diff(got, members); diff != "" {
				t.Errorf("line 1 (-got +want):\n%s", diff)
			}
		}
		if !slices.IsSorted(accessions) {
			t.Errorf("the order is %v, want by accession", accessions)
		}
		if again := d.extract(t, extractPath, "numberOfSequenceEntries=10&pipelineVersion=1").want(t, 200); len(again.body) > 0 {
			t.Errorf("claimed again: %s", again.body)
		}
	})
}

func TestContract_Extract_CompressedIsOneFrame(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		d.submit(t, d.newGroup(t, anna), 3, 20)
		for _, want := range []int{3, 0} {
			a := d.extract(t, extractPath, "numberOfSequenceEntries=10&pipelineVersion=1&compression=ZSTD").want(t, 200)
			if got := a.Header.Get("Content-Encoding"); got != "zstd" {
				t.Errorf("content encoding %q, want zstd", got)
			}
			if got := bytes.Count(oneFrame(t, a.body), []byte("\n")); got != want {
				t.Errorf("%d lines, want %d", got, want)
			}
		}
		if got := d.statusCounts(t, "zika")[seqlease.InProcessing]; got != 3 {
			t.Errorf("%d in processing, want 3", got)
		}
	})
}

// oneFrame decompresses a body, which must be a single zstd frame.
func oneFrame(t *testing.T, body []byte) []byte {
	t.Helper()
	magic := []byte{0x28, 0xb5, 0x2f, 0xfd}
	if !bytes.HasPrefix(body, magic) {
		t.Fatalf("%d bytes that are no zstd frame: %.40x", len(body), body)
	}
	var header zstd.Header
	if err := header.Decode(body); err != nil {
		t.Fatal(err)
	}
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer decoder.Close()
	text, err := decoder.DecodeAll(body, nil)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Count(body, magic) != 1 {
		t.Errorf("%d frames, want 1", bytes.Count(body, magic))
	}
	return text
}
