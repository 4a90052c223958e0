package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// termsOn is a server where submitters choose data use terms.
func termsOn() doorOptions { return doorOptions{terms: submission.TermsOptions{Enabled: true}} }

// Files of an upload of one good entry.
const (
	goodMetadata  = "@metadata.tsv\nid\tcountry\ns1\tPeru\n"
	goodSequences = "@sequences.fasta\n>s1\nACGT\n"
)

// tsv and fasta are files with these contents.
func tsv(content string) string   { return "@metadata.tsv\n" + content }
func fasta(content string) string { return "@sequences.fasta\n" + content }

// sendUpload sends parts as upload takes them.
func (d *door) sendUpload(t *testing.T, path, token string, parts []string, header ...string) answer {
	t.Helper()
	body, contentType := upload(t, parts...)
	return d.call(t, "POST", path, token, body, append(header, "Content-Type", contentType)...)
}

// refusal is an upload that must be refused.
type refusal struct {
	name   string
	token  string   // empty: anna
	path   string   // empty: the good one
	parts  []string // nil: the good ones
	status int
	says   []string // words of the detail
}

// wantRefusals sends the uploads and checks that nothing was stored of any.
func (d *door) wantRefusals(t *testing.T, goodPath string, goodParts []string, list []refusal) {
	t.Helper()
	before := d.statusCounts(t, "zika")
	for _, r := range list {
		token, path, parts := r.token, r.path, r.parts
		if token == "" {
			token = anna
		}
		if path == "" {
			path = goodPath
		}
		if parts == nil {
			parts = goodParts
		}
		a := d.sendUpload(t, path, token, parts)
		if a.StatusCode != r.status {
			t.Errorf("%s: got %d, want %d: %s", r.name, a.StatusCode, r.status, a.body)
			continue
		}
		p := a.problem(t, r.status, r.says...)
		if r.status == 422 || r.status == 400 {
			if len(p.Problems) > 20 {
				t.Errorf("%s: %d problems are listed, want at most 20", r.name, len(p.Problems))
			}
		}
		if r.status == 403 && a.Header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s: WWW-Authenticate is %q, want Bearer", r.name, a.Header.Get("WWW-Authenticate"))
		}
	}
	if after := d.statusCounts(t, "zika"); !cmp.Equal(after, before) {
		t.Errorf("the refused uploads changed the counts from %v to %v", before, after)
	}
	if left := d.leftovers(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestContract_SubmitOrderOfChecks(t *testing.T) {
	t.Parallel()
	onBothStores(t, termsOn(), func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		path := func(query string) string { return fmt.Sprintf("/zika/submit?groupId=%d%s", group, query) }
		good := []string{"metadataFile", goodMetadata, "sequenceFile", goodSequences}
		badFiles := []string{"metadataFile", tsv("name\n"), "sequenceFile", fasta("ACGT\n")}
		today := time.Now().UTC()
		day := func(years, days int) string { return today.AddDate(years, 0, days).Format(time.DateOnly) }
		d.wantRefusals(t, path("&dataUseTermsType=OPEN"), good, []refusal{
			{name: "unknown organism before all", token: bob, path: "/moss/submit?groupId=99", parts: badFiles, status: 400, says: []string{"moss", "cchf", "zika"}},
			{name: "organism names are case-sensitive", path: "/Zika/submit?groupId=1", status: 400, says: []string{"Zika"}},
			{name: "no group", path: "/zika/submit?dataUseTermsType=OPEN", status: 400, says: []string{"groupId"}},
			{name: "group is no number", path: "/zika/submit?groupId=x&dataUseTermsType=OPEN", status: 400, says: []string{"groupId"}},
			{name: "group field is no number", path: "/zika/submit?dataUseTermsType=OPEN", parts: append([]string{"groupId", "one"}, good...), status: 400, says: []string{"groupId"}},
			{name: "unknown group before membership", token: bob, path: "/zika/submit?groupId=4711", parts: badFiles, status: 404, says: []string{"4711"}},
			{name: "membership before terms", token: bob, path: path(""), parts: badFiles, status: 403, says: []string{"bob", strconv.FormatInt(group, 10)}},
			{name: "terms before files", path: path(""), parts: badFiles, status: 400, says: []string{"dataUseTermsType"}},
			{name: "unknown terms", path: path("&dataUseTermsType=open"), parts: badFiles, status: 400, says: []string{"dataUseTermsType"}},
			{name: "empty terms are none", path: path("&dataUseTermsType="), parts: badFiles, status: 400, says: []string{"dataUseTermsType"}},
			{name: "restricted without a day", path: path("&dataUseTermsType=RESTRICTED"), parts: badFiles, status: 400, says: []string{"restrictedUntil"}},
			{name: "restricted until no day", path: path("&dataUseTermsType=RESTRICTED&restrictedUntil=soon"), parts: badFiles, status: 400, says: []string{"restrictedUntil", "soon"}},
			{name: "restricted until yesterday", path: path("&dataUseTermsType=RESTRICTED&restrictedUntil=" + day(0, -1)), parts: badFiles, status: 400, says: []string{"restrictedUntil"}},
			{name: "restricted for more than a year", path: path("&dataUseTermsType=RESTRICTED&restrictedUntil=" + day(1, 2)), parts: badFiles, status: 400, says: []string{"restrictedUntil"}},
			{name: "metadata file is missing", parts: []string{"sequenceFile", goodSequences}, status: 400, says: []string{"metadataFile"}},
			{name: "sequence file is missing", parts: []string{"metadataFile", goodMetadata}, status: 400, says: []string{"sequenceFile", "zika"}},
			{name: "metadata file's name", parts: []string{"metadataFile", "@m.txt\nid\tc\ns1\tx\n", "sequenceFile", goodSequences}, status: 400, says: []string{"metadataFile", "m.txt", "tsv", ".zst", ".xz", ".gz", ".zip", ".bz2", ".lzma"}},
			{name: "endings are case-sensitive", parts: []string{"metadataFile", "@m.TSV\nid\tc\ns1\tx\n", "sequenceFile", goodSequences}, status: 400, says: []string{"m.TSV"}},
			{name: "sequence file's name", parts: []string{"metadataFile", goodMetadata, "sequenceFile", "@s.txt\n>s1\nACGT\n"}, status: 400, says: []string{"sequenceFile", "s.txt", "fa", "fasta", "seq", "fna", "fas"}},
			{name: "metadata file's name before the sequence file", parts: []string{"metadataFile", "@m.txt\nid\tc\ns1\tx\n"}, status: 400, says: []string{"m.txt"}},
			{name: "metadata before a missing sequence file", parts: []string{"metadataFile", tsv("name\n")}, status: 422, says: []string{`there is no column "id"`, "sequenceFile"}},
			{name: "no rows before a missing sequence file", parts: []string{"metadataFile", tsv("id\tc\n")}, status: 422, says: []string{"no rows", "sequenceFile"}},
			{name: "metadata before the sequence file's name", parts: []string{"metadataFile", tsv("id\tc\na b\tx\n"), "sequenceFile", "@s.txt\nACGT\n"}, status: 422, says: []string{"line 2", "s.txt"}},
			{name: "the sequence file's name before the joining", parts: []string{"metadataFile", tsv("id\tc\tfastaIds\na\tx\tf\nb\ty\tf\n"), "sequenceFile", "@s.txt\nACGT\n"}, status: 400, says: []string{"s.txt", "duplicate fastaIds"}},
			{name: "a missing sequence file before attachments", parts: []string{"metadataFile", tsv("id\tc\tfiles.raw\na\tx\t\n")}, status: 400, says: []string{"need sequences; metadata file, line 1", "files.raw"}},
			{name: "no multipart form", parts: []string{}, status: 400, says: []string{"metadataFile"}},
		})
		if a := d.call(t, "POST", path("&dataUseTermsType=OPEN"), anna, strings.NewReader("x"), "Content-Type", "text/plain"); a.StatusCode != http.StatusUnsupportedMediaType {
			t.Errorf("a body that is no form: got %d, want 415", a.StatusCode)
		}
	})
}

// TestContract_SubmitFiles walks the rules of §7 in the order of the protocol.
func TestContract_SubmitFiles(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		path := fmt.Sprintf("/zika/submit?groupId=%d", d.newGroup(t, anna))
		metadata := func(content string) []string {
			return []string{"metadataFile", tsv(content), "sequenceFile", goodSequences}
		}
		sequences := func(content string) []string {
			return []string{"metadataFile", goodMetadata, "sequenceFile", fasta(content)}
		}
		both := func(m, s string) []string { return []string{"metadataFile", tsv(m), "sequenceFile", fasta(s)} }
		long := strings.Repeat("x", 256)
		d.wantRefusals(t, path, metadata("id\tcountry\ns1\tPeru\n"), append(metadataRefusals(metadata), []refusal{
			{name: "id of 256 characters", parts: both("id\tc\n"+long+"\tx\n", ">"+long+"\nA\n"), status: 422, says: []string{"line 2", "255"}},
			{name: "FASTA without a header", parts: sequences("ACGT\n>s1\nACGT\n"), status: 422, says: []string{"sequence file, line 1"}},
			{name: "record without a sequence", parts: sequences(">s1\n"), status: 422, says: []string{"s1"}},
			{name: "duplicate FASTA id", parts: sequences(">s1\nA\n>s1\nC\n"), status: 422, says: []string{"sequence file has a duplicate submissionId", "s1", "line 3"}},
			{name: "FASTA id of two rows", parts: both("id\tc\tfastaIds\na\tx\tf\nb\ty\tf\n", ">f\nA\n"), status: 422, says: []string{"duplicate fastaIds", `"f"`, "line 3"}},
			{name: "ids differ", parts: both("id\tc\na\tx\nb\ty\n", ">b\nA\n>d\nC\n"), status: 422, says: []string{`"a"`, `"d"`}},
			{name: "garbage for gzip", parts: []string{"metadataFile", "@m.tsv.gz\n\x1f\x8b\x08garbage", "sequenceFile", goodSequences}, status: 422, says: []string{"metadata file", "gzip"}},
		}...))
		// The first twenty problems are told, and how many more there are.
		var rows, records strings.Builder
		for i := range 30 {
			fmt.Fprintf(&rows, "s %d\tx\n", i)
			fmt.Fprintf(&records, ">s%d\nA\n", i)
		}
		p := d.sendUpload(t, path, anna, both("id\tcountry\n"+rows.String(), records.String())).problem(t, 422, "and 10 more")
		if len(p.Problems) != 20 {
			t.Fatalf("%d problems, want 20", len(p.Problems))
		}
		for i, got := range p.Problems {
			if got.File != "metadata file" || got.Line != i+2 || got.Field != "id" || got.Value != fmt.Sprintf("s %d", i) || got.Message == "" {
				t.Errorf("problem %d is %+v", i, got)
			}
		}
	})
}

// metadataRefusals are those rules of §7.2 that hold for submissions and revisions.
func metadataRefusals(metadata func(content string) []string) []refusal {
	return []refusal{
		{name: "no id column", parts: metadata("name\taccession\tcountry\ns1\tLOC_000001Y\tx\n"), status: 422, says: []string{`"id"`, `"submissionId"`}},
		{name: "two id columns", parts: metadata("id\tsubmissionId\taccession\tcountry\ns1\ts1\tLOC_000001Y\tx\n"), status: 422, says: []string{`"id"`, `"submissionId"`}},
		{name: "an empty id", parts: metadata("id\taccession\tcountry\n\tLOC_000001Y\tx\n"), status: 422, says: []string{"line 2", `field "id"`}},
		{name: "a blank in an id", parts: metadata("id\taccession\tcountry\ns 1\tLOC_000001Y\tx\n"), status: 422, says: []string{"line 2", `field "id"`, "U+0020"}},
		{name: "text after a quote", parts: metadata("id\taccession\tcountry\ns1\tLOC_000001Y\t\"a\"b\n"), status: 422, says: []string{"line 2", "quote"}},
		{name: "an open quote", parts: metadata("id\taccession\tcountry\ns1\tLOC_000001Y\t\"a\n"), status: 422, says: []string{"line 2", "quote"}},
		{name: "an empty fastaIds cell", parts: metadata("id\taccession\tfastaIds\tcountry\ns1\tLOC_000001Y\t\tx\n"), status: 422, says: []string{"line 2", "fastaIds"}},
		{name: "an id twice in fastaIds", parts: metadata("id\taccession\tfastaIds\tcountry\ns1\tLOC_000001Y\ts1 s1\tx\n"), status: 422, says: []string{"line 2", "fastaIds", `"s1"`}},
		{name: "attachments", parts: metadata("id\taccession\tfiles.raw\tcountry\ns1\tLOC_000001Y\ta:b\tx\n"), status: 400, says: []string{"files.raw", "attachments", "nothing was stored"}},
		{name: "a short row", parts: metadata("country\tid\taccession\ns1\n"), status: 422, says: []string{"line 2"}},
		{name: "an empty file", parts: metadata(""), status: 422, says: []string{"metadata file", "empty"}},
		{name: "no rows", parts: metadata("id\taccession\tcountry\n"), status: 422, says: []string{"metadata file"}},
	}
}

// TestContract_SubmitStores checks the answer and its effects.
func TestContract_SubmitStores(t *testing.T) {
	t.Parallel()
	onBothStores(t, termsOn(), func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		until := time.Now().UTC().AddDate(0, 0, 30).Format(time.DateOnly)
		// The query wins over the form, whose fields come in any order; unknown ones are ignored.
		a := d.sendUpload(t, fmt.Sprintf("/zika/submit?groupId=%d&extra=1", group), anna, []string{
			"unknown", "x", "sequenceFile", fasta(">z\nacGT\nnn-\n>y descr\nTT\n>x\nA\n"), "groupId", "4711",
			"metadataFile", tsv("submissionId\tcountry\taccession\tdate\nz\tCôte d'Ivoire\tmine\t\ny\t\"a \"\"b\"\"\"\t\t\nx\t\t\t\n"),
			"dataUseTermsType", "RESTRICTED", "restrictedUntil", until,
		}).want(t, 200)
		if got := a.Header.Get("Content-Type"); got != "application/json" {
			t.Errorf("content type %q", got)
		}
		var members []map[string]any
		a.into(t, &members)
		var made []seqlease.SubmissionIDMapping
		a.into(t, &made)
		if len(made) != 3 || len(members[0]) != 3 {
			t.Fatalf("got %s, want three mappings of three members", a.body)
		}
		for i, id := range []string{"z", "y", "x"} {
			m := made[i]
			if m.SubmissionID != id || m.Version != 1 || !m.Accession.HasValidCheckSymbol("LOC_") || i > 0 && m.Accession <= made[i-1].Accession {
				t.Errorf("mapping %d is %+v, want %s with version 1 and ascending accessions", i, m, id)
			}
		}
		var list struct {
			SequenceEntries []struct {
				Status, Submitter, SubmissionID string
				GroupID                         int64
				IsRevocation                    bool
				DataUseTerms                    struct{ Type, RestrictedUntil string }
			}
		}
		d.call(t, "GET", "/zika/get-sequences", anna, nil).want(t, 200).into(t, &list)
		for i, e := range list.SequenceEntries {
			if e.Status != "RECEIVED" || e.Submitter != anna || e.SubmissionID != made[i].SubmissionID || e.GroupID != group || e.IsRevocation ||
				e.DataUseTerms.Type != "RESTRICTED" || e.DataUseTerms.RestrictedUntil != until {
				t.Errorf("entry %d is %+v", i, e)
			}
		}
		entries := d.claim(t, pipe, 10)
		want := []seqlease.SubmittedData{
			{Metadata: map[string]string{"country": "Côte d'Ivoire", "accession": "mine", "date": ""}, UnalignedNucleotideSequences: map[string]string{"z": "acGTnn-"}},
			{Metadata: map[string]string{"country": `a "b"`, "accession": "", "date": ""}, UnalignedNucleotideSequences: map[string]string{"y": "TT"}},
			{Metadata: map[string]string{"country": "", "accession": "", "date": ""}, UnalignedNucleotideSequences: map[string]string{"x": "A"}},
		}
		if len(entries) != len(want) {
			t.Fatalf("claimed %d entries, want %d", len(entries), len(want))
		}
		for i, e := range entries {
			if diff := cmp.Diff(want[i], e.Data); diff != "" {
				t.Errorf("data of %s (-want +got):\n%s", e.SubmissionID, diff)
			}
		}
		// A super user may submit for others' groups.
		d.sendUpload(t, fmt.Sprintf("/zika/submit?groupId=%d&dataUseTermsType=OPEN", group), root,
			[]string{"metadataFile", goodMetadata, "sequenceFile", goodSequences}).want(t, 200)
	})
}

// TestContract_SubmitNamesTheValue checks that the problem document has the value at
// fault, of metadata and of sequences.
func TestContract_SubmitNamesTheValue(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		path := fmt.Sprintf("/zika/submit?groupId=%d", d.newGroup(t, anna))
		a := d.sendUpload(t, path, anna, []string{
			"metadataFile", tsv("id\tcountry\ns1\tPeru\ns1\tChile\n"), "sequenceFile", fasta(">s1\nAC!T\n>s1\nA\n"),
		})
		a.problem(t, 422)
		var document struct{ Problems []map[string]any }
		if err := json.Unmarshal(a.body, &document); err != nil {
			t.Fatal(err)
		}
		for _, p := range document.Problems {
			delete(p, "message")
		}
		want := []map[string]any{
			{"file": "metadata file", "line": 3.0, "record": "s1", "field": "id", "value": "s1"},
			{"file": "sequence file", "line": 2.0, "record": "s1", "value": "!"},
			{"file": "sequence file", "line": 3.0, "record": "s1", "value": "s1"},
		}
		if diff := cmp.Diff(want, document.Problems); diff != "" {
			t.Errorf("problems (-want +got):\n%s", diff)
		}
	})
}
