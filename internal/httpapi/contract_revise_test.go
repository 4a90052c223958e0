package httpapi_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
)

// releaseWaiting has everything of zika that waits processed and approved.
func (d *door) releaseWaiting(t *testing.T) {
	t.Helper()
	entries := d.claim(t, pipe, 1000)
	d.sendResults(t, resultsOf(entries)).want(t, 204)
	d.post(t, "approve-processed-data", root, `{"scope":"ALL"}`).want(t, 200)
}

// revision makes the parts of an upload that revises the accessions.
func revision(accessions ...seqlease.Accession) []string {
	var rows, records strings.Builder
	for i, a := range accessions {
		fmt.Fprintf(&rows, "r%d\t%s\tChile\n", i, a)
		fmt.Fprintf(&records, ">r%d\nACGTACGT\n", i)
	}
	return []string{"metadataFile", tsv("id\taccession\tcountry\n" + rows.String()), "sequenceFile", fasta(records.String())}
}

func TestContract_ReviseOrderOfChecks(t *testing.T) {
	t.Parallel()
	onBothStores(t, termsOn(), func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		other := d.newGroup(t, root)
		submit := func(organism string, g int64, token string) seqlease.AccessionVersion {
			var made []seqlease.SubmissionIDMapping
			d.sendUpload(t, fmt.Sprintf("/%s/submit?groupId=%d&dataUseTermsType=OPEN", organism, g), token,
				[]string{"metadataFile", goodMetadata, "sequenceFile", goodSequences}).want(t, 200).into(t, &made)
			return made[0].AccessionVersion
		}
		released, ofOthers := submit("zika", group, anna), submit("zika", other, root)
		d.releaseWaiting(t)
		received, foreign := submit("zika", group, anna), submit("cchf", group, anna)
		bad := []string{"metadataFile", tsv("name\n"), "sequenceFile", fasta("ACGT\n")}
		const missing = "LOC_ZZZZZZ6"
		d.wantRefusals(t, "/zika/revise", revision(released.Accession), []refusal{
			{name: "unknown organism before all", token: bob, path: "/moss/revise", parts: bad, status: 400, says: []string{"moss", "cchf", "zika"}},
			{name: "metadata file is missing", parts: []string{"sequenceFile", goodSequences}, status: 400, says: []string{"metadataFile"}},
			{name: "metadata before a missing sequence file", parts: []string{"metadataFile", goodMetadata}, status: 422, says: []string{`"accession"`, "sequenceFile"}},
			{name: "sequence file is missing", parts: revision(released.Accession)[:2], status: 400, says: []string{"sequenceFile", "zika"}},
			{name: "metadata file's name", parts: []string{"metadataFile", "@m.csv\nid\n", "sequenceFile", goodSequences}, status: 400, says: []string{"m.csv"}},
			{name: "files before accessions", token: bob, parts: bad, status: 422, says: []string{`"id"`, `"accession"`}},
			{name: "exists before permission", token: bob, parts: revision(released.Accession, missing, foreign.Accession), status: 422, says: []string{missing, "do not exist"}},
			{name: "permission before state", token: bob, parts: revision(released.Accession, received.Accession, foreign.Accession), status: 403, says: []string{"bob", strconv.FormatInt(group, 10), released.String()}},
			{name: "one entry of another group", parts: revision(released.Accession, ofOthers.Accession), status: 403, says: []string{"anna", strconv.FormatInt(other, 10), ofOthers.String()}},
			{name: "state before organism", parts: revision(released.Accession, received.Accession, foreign.Accession), status: 422, says: []string{"APPROVED_FOR_RELEASE", received.String() + " - RECEIVED", foreign.String() + " - RECEIVED"}},
			{name: "organism", path: "/cchf/revise", parts: revision(released.Accession), status: 422, says: []string{"zika", released.String()}},
		})
		// Plain fields and parameters of other calls mean nothing, however wrong they are.
		parts := append([]string{"groupId", "none", "dataUseTermsType", "?"}, revision(released.Accession)...)
		d.sendUpload(t, "/zika/revise?groupId=4711&dataUseTermsType=RESTRICTED", anna, parts).want(t, 200)
		d.sendUpload(t, "/zika/revise", anna, revision(released.Accession)).problem(t, 422, string(released.Accession)+".2 - RECEIVED")
	})
}

func TestContract_ReviseFiles(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		made := d.submit(t, d.newGroup(t, anna), 2, 20)
		d.releaseWaiting(t)
		metadata := func(content string) []string {
			return []string{"metadataFile", tsv(content), "sequenceFile", goodSequences}
		}
		row := func(id string, accession seqlease.Accession) string { return fmt.Sprintf("%s\t%s\tx\n", id, accession) }
		const header = "id\taccession\tcountry\n"
		a, b := made[0].Accession, made[1].Accession
		d.wantRefusals(t, "/zika/revise", revision(a), append(metadataRefusals(metadata), []refusal{
			{name: "no accession column", parts: metadata("id\tcountry\ns1\tx\n"), status: 422, says: []string{`"accession"`, `"country"`}},
			{name: "an empty accession", parts: metadata(header + row("s1", "")), status: 422, says: []string{"line 2", `field "accession"`, "empty"}},
			{name: "a blank in an accession", parts: metadata(header + row("s1", "LOC 1")), status: 422, says: []string{"line 2", `field "accession"`, "U+0020"}},
			{name: "an accession with its version", parts: metadata(header + row("s1", a+".1")), status: 422, says: []string{"line 2", `field "accession"`, "without the version", string(a)}},
			{name: "a duplicate id", parts: metadata(header + row("s1", a) + row("s1", b)), status: 422, says: []string{"line 3", "submission_id", `"s1"`}},
			{name: "a duplicate accession", parts: metadata(header + row("s1", a) + row("s2", a)), status: 422, says: []string{"line 3", "accession", string(a)}},
			{name: "nothing but reserved columns", parts: metadata("id\taccession\ns1\t" + string(a) + "\n"), status: 422, says: []string{"metadata"}},
			{name: "ids differ", parts: []string{"metadataFile", tsv(header + row("s2", a)), "sequenceFile", goodSequences}, status: 422, says: []string{`"s2"`, `"s1"`}},
			{name: "FASTA id of two rows", parts: metadata("id\taccession\tc\tfastaIds\ns1\t" + string(a) + "\tx\ts1\ns2\t" + string(b) + "\ty\ts1\n"), status: 422, says: []string{"duplicate fastaIds"}},
		}...))
		p := d.sendUpload(t, "/zika/revise", anna, metadata(header+row("s1", a)+row("s1", a))).problem(t, 422)
		for _, got := range p.Problems {
			if got.Line != 3 || got.Value == "" {
				t.Errorf("problem %+v, want its line and value", got)
			}
		}
		if len(p.Problems) != 2 {
			t.Errorf("%d problems, want one of the id and one of the accession", len(p.Problems))
		}
	})
}

func TestContract_ReviseStores(t *testing.T) {
	t.Parallel()
	onBothStores(t, termsOn(), func(t *testing.T, d *door) {
		first, second := d.newGroup(t, anna), d.newGroup(t, root)
		submit := func(g int64, token string) seqlease.Accession {
			var made []seqlease.SubmissionIDMapping
			d.sendUpload(t, fmt.Sprintf("/zika/submit?groupId=%d&dataUseTermsType=OPEN", g), token,
				[]string{"metadataFile", goodMetadata, "sequenceFile", goodSequences}).want(t, 200).into(t, &made)
			return made[0].Accession
		}
		a, b, c := submit(first, anna), submit(second, root), submit(first, anna)
		d.releaseWaiting(t)
		// Rows may span groups, and their order is that of the answer.
		answer := d.sendUpload(t, "/zika/revise", root, []string{
			"sequenceFile", fasta(">f1\nacgt\n>f2\nTT\n>f3\nA\n"),
			"metadataFile", tsv("accession\tsubmissionId\tfastaIds\tcountry\n" + string(c) + "\tnew-c\tf3\tChile\n" + string(a) + "\tnew-a\tf1\t\n" + string(b) + "\tnew-b\tf2\tPeru\n"),
		}).want(t, 200)
		if got := answer.Header.Get("Content-Type"); got != "application/json" {
			t.Errorf("content type %q", got)
		}
		var made []seqlease.SubmissionIDMapping
		answer.into(t, &made)
		mapping := func(a seqlease.Accession, id string) seqlease.SubmissionIDMapping {
			return seqlease.SubmissionIDMapping{AccessionVersion: seqlease.AccessionVersion{Accession: a, Version: 2}, SubmissionID: id}
		}
		if diff := cmp.Diff([]seqlease.SubmissionIDMapping{mapping(c, "new-c"), mapping(a, "new-a"), mapping(b, "new-b")}, made); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
		got := map[seqlease.Accession]seqlease.Entry{}
		for _, e := range d.claim(t, pipe, 10) {
			got[e.Accession] = e
			if e.Version != 2 || e.Submitter != root {
				t.Errorf("claimed %s of %s, want version 2 of %s", e.AccessionVersion, e.Submitter, root)
			}
		}
		for accession, want := range map[seqlease.Accession]struct {
			id, country, fastaID, letters string
			group                         int64
		}{a: {"new-a", "", "f1", "acgt", first}, b: {"new-b", "Peru", "f2", "TT", second}, c: {"new-c", "Chile", "f3", "A", first}} {
			e := got[accession]
			data := seqlease.SubmittedData{
				Metadata: map[string]string{"country": want.country}, UnalignedNucleotideSequences: map[string]string{want.fastaID: want.letters},
			}
			if e.SubmissionID != want.id || e.GroupID != want.group || !cmp.Equal(e.Data, data) {
				t.Errorf("claimed %+v, want %+v", e, want)
			}
		}
		if got, want := d.statusCounts(t, "zika"), counts(0, 3, 0, 3); !cmp.Equal(got, want) {
			t.Errorf("counts %v, want %v", got, want)
		}
	})
}

// TestContract_ReviseTwiceAtOnce sends many revisions of one entry at once: one is
// stored, and the others name the state that it has brought about.
func TestContract_ReviseTwiceAtOnce(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		made := d.submit(t, d.newGroup(t, anna), 1, 20)
		d.releaseWaiting(t)
		stored := 0
		for _, a := range d.sendAtOnce(t, 5, "/zika/revise", revision(made[0].Accession)) {
			if a.StatusCode == http.StatusOK {
				stored++
				continue
			}
			a.problem(t, 422, string(made[0].Accession)+".2 - RECEIVED")
		}
		if stored != 1 {
			t.Errorf("%d revisions were stored, want 1", stored)
		}
		if got, want := d.statusCounts(t, "zika"), counts(1, 0, 0, 1); !cmp.Equal(got, want) {
			t.Errorf("counts %v, want %v", got, want)
		}
	})
}
