package httpapi_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/submission"
)

const releasedPath = "/zika/get-released-data"

// publishing are the organisms with everything that shapes released data.
func publishing() []*organism.Organism {
	list := withUpdaters()
	zika := list[0]
	zika.EarliestReleaseDate, zika.EarliestReleaseFields = true, []string{"archivedOn"}
	zika.FileCategories = []string{"annotations", "rawReads"}
	return list
}

// submitWith uploads an entry of zika with data use terms.
func (d *door) submitWith(t *testing.T, group int64, id string, terms ...string) seqlease.SubmissionIDMapping {
	t.Helper()
	parts := append([]string{
		"groupId", strconv.FormatInt(group, 10), "metadataFile", "@m.tsv\nid\tcountry\n" + id + "\tKenya\n", "sequenceFile", "@s.fasta\n>" + id + "\nACGT\n",
	}, terms...)
	body, contentType := upload(t, parts...)
	var stored []seqlease.SubmissionIDMapping
	d.call(t, "POST", "/zika/submit", anna, body, "Content-Type", contentType).want(t, 200).into(t, &stored)
	return stored[0]
}

// releasedLine is a line of released data.
type releasedLine struct {
	Metadata map[string]json.RawMessage `json:"metadata"`
	all      map[string]json.RawMessage
}

func releasedLines(t *testing.T, body []byte) []releasedLine {
	t.Helper()
	var lines []releasedLine
	for text := range bytes.Lines(body) {
		var l releasedLine
		if err := json.Unmarshal(text, &l); err != nil || !bytes.HasSuffix(text, []byte("\n")) {
			t.Fatalf("%.200q: %v", text, err)
		}
		if err := json.Unmarshal(text, &l.all); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

// TestContract_ReleasedData_EveryField reads each member of the protocol's table (§9).
func TestContract_ReleasedData_EveryField(t *testing.T) {
	t.Parallel()
	terms := submission.TermsOptions{Enabled: true, OpenURL: "https://open", RestrictedURL: "https://restricted"}
	onBothStores(t, doorOptions{organisms: publishing(), terms: terms}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		today := time.Now().UTC()
		until := today.AddDate(0, 3, 0).Format(time.DateOnly)
		open := d.submitWith(t, group, "open/1", "dataUseTermsType", "OPEN")
		restricted := d.submitWith(t, group, "restricted", "dataUseTermsType", "RESTRICTED", "restrictedUntil", until)
		d.sendResults(t, resultsOf(d.claim(t, pipe, 2))).want(t, 204)
		d.approveAll(t)
		d.sendExternal(t, "ena", about(open.AccessionVersion, `{"archiveId":"OX1","archivedOn":"2019-12-31"}`)).want(t, 204)
		a := d.call(t, "GET", releasedPath, "", nil).want(t, 200)
		lines := releasedLines(t, a.body)
		if len(lines) != 2 {
			t.Fatalf("%d lines, want 2", len(lines))
		}
		day := strconv.Quote(today.Format(time.DateOnly))
		common := map[string]string{
			"submitter": `"anna"`, "isRevocation": "false", "groupId": strconv.FormatInt(group, 10), "groupName": `"Lab"`, "version": "1",
			"submittedDate": day, "releasedDate": day, "versionStatus": `"LATEST_VERSION"`, "pipelineVersion": "1",
			"annotations": "null", "rawReads": "null", "country": `"Kenya"`, "age": "7", "date": "null", "versionComment": "null",
		}
		for i, want := range []map[string]string{
			{
				"accession": strconv.Quote(string(open.Accession)), "accessionVersion": strconv.Quote(open.String()), "submissionId": `"open/1"`,
				"dataUseTerms": `"OPEN"`, "dataUseTermsRestrictedUntil": "null", "dataBecameOpenAt": day, "dataUseTermsUrl": `"https://open"`,
				"archiveId": `"OX1"`, "archivedOn": `"2019-12-31"`, "earliestReleaseDate": `"2019-12-31"`,
			},
			{
				"accession": strconv.Quote(string(restricted.Accession)), "accessionVersion": strconv.Quote(restricted.String()), "submissionId": `"restricted"`,
				"dataUseTerms": `"RESTRICTED"`, "dataUseTermsRestrictedUntil": strconv.Quote(until), "dataBecameOpenAt": "null", "dataUseTermsUrl": `"https://restricted"`,
				"archiveId": "null", "archivedOn": "null", "earliestReleaseDate": day,
			},
		} {
			lines[i].wantFields(t, common, want)
			lines[i].wantTimes(t)
			if diff := cmp.Diff(map[string]string{
				"unalignedNucleotideSequences": `{"main":"ACGT"}`, "alignedNucleotideSequences": `{"main":"` + reference + `"}`,
				"nucleotideInsertions": `{"main":["3:AC"]}`, "alignedAminoAcidSequences": `{"E":"MKT*"}`, "aminoAcidInsertions": `{"E":[]}`,
			}, lines[i].others()); diff != "" {
				t.Errorf("members of line %d beside the metadata (-want +got):\n%s", i, diff)
			}
		}
	})
}

// wantFields wants exactly these members of the metadata, and those of wantTimes.
func (l releasedLine) wantFields(t *testing.T, wants ...map[string]string) {
	t.Helper()
	got, want := map[string]string{}, map[string]string{}
	for name, value := range l.Metadata {
		if !strings.HasSuffix(name, "AtTimestamp") {
			got[name] = string(value)
		}
	}
	for _, w := range wants {
		for name, value := range w {
			want[name] = value
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
}

// wantTimes wants both instants to be of the last minute, in whole seconds.
func (l releasedLine) wantTimes(t *testing.T) {
	t.Helper()
	for _, name := range []string{"submittedAtTimestamp", "releasedAtTimestamp"} {
		seconds, err := strconv.ParseInt(string(l.Metadata[name]), 10, 64)
		if age := time.Since(time.Unix(seconds, 0)); err != nil || age < -time.Second || age > time.Minute {
			t.Errorf("%s is %s: %v ago, %v", name, l.Metadata[name], age, err)
		}
	}
}

// others are the members beside the metadata.
func (l releasedLine) others() map[string]string {
	others := map[string]string{}
	for name, value := range l.all {
		if name != "metadata" {
			others[name] = string(value)
		}
	}
	return others
}

// TestContract_ReleasedData_Headers: what comes with the body, empty or not, and how
// it is compressed.
func TestContract_ReleasedData_Headers(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{organisms: publishing()}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		check := func(lines int) {
			t.Helper()
			plain := d.call(t, "GET", releasedPath, "", nil, "Accept-Encoding", "gzip, zstd").want(t, 200)
			wantHeader(t, plain, "Content-Type", "application/x-ndjson; charset=utf-8")
			wantHeader(t, plain, "X-Total-Records", strconv.Itoa(lines))
			wantHeader(t, plain, "Content-Encoding", "")
			if got := len(releasedLines(t, plain.body)); got != lines {
				t.Errorf("%d lines, want %d", got, lines)
			}
			packed := d.call(t, "GET", releasedPath+"?compression=zstd&unknown=1", "", nil, "Accept-Encoding", "identity").want(t, 200)
			wantHeader(t, packed, "Content-Encoding", "zstd")
			wantHeader(t, packed, "X-Total-Records", strconv.Itoa(lines))
			wantHeader(t, packed, "ETag", plain.Header.Get("ETag"))
			if n := zstdFrames(t, packed.body); n != 1 || !bytes.Equal(unzstd(t, packed.body), plain.body) {
				t.Errorf("%d frames, want one with the same text", n)
			}
			same := d.call(t, "GET", releasedPath+"?compression=zstd", "", nil, "If-None-Match", plain.Header.Get("ETag")).want(t, 304)
			wantHeader(t, same, "ETag", plain.Header.Get("ETag"))
			wantHeader(t, same, "Content-Encoding", "")
			if len(same.body) > 0 {
				t.Errorf("304 with a body: %q", same.body)
			}
			for _, other := range []string{"*", strings.Trim(plain.Header.Get("ETag"), `"`), plain.Header.Get("ETag") + `, "x"`, ""} {
				d.call(t, "GET", releasedPath, "", nil, "If-None-Match", other).want(t, 200) // exactly, or not at all
			}
		}
		check(0)
		d.release(t, group, 3)
		check(3)
		for _, unknown := range []string{"gzip", "zst", "none"} {
			d.call(t, "GET", releasedPath+"?compression="+unknown, "", nil).problem(t, 400, "compression", unknown)
		}
		d.call(t, "GET", releasedPath+"?compression=", "", nil).want(t, 200)
		d.call(t, "GET", releasedPath, "broken", nil).want(t, 401) // public, but a token that is sent must be valid
		d.call(t, "GET", "/nowhere/get-released-data", "", nil).problem(t, 400, "nowhere", "zika")
		d.call(t, "POST", releasedPath, anna, nil).problem(t, 405)
	})
}

func wantHeader(t *testing.T, a answer, name, want string) {
	t.Helper()
	if got := a.Header.Get(name); got != want {
		t.Errorf("%s is %q, want %q", name, got, want)
	}
}

// zstdFrames counts the frames, by the lengths of their blocks (RFC 8878, section 3.1.1).
func zstdFrames(t *testing.T, b []byte) (frames int) {
	t.Helper()
	for len(b) > 0 {
		var h zstd.Header
		if err := h.Decode(b); err != nil {
			t.Fatalf("no zstd frame: %v", err)
		}
		b = b[h.HeaderSize:]
		for last := false; !last; {
			block := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
			size := int(block >> 3)
			if block>>1&3 == 1 { // one byte, repeated
				size = 1
			}
			last, b = block&1 == 1, b[3+size:]
		}
		if h.HasCheckSum {
			b = b[4:]
		}
		frames++
	}
	return frames
}

// TestContract_ReleasedData_ETag: it changes, and rises, with whatever changes the
// body, and with nothing else.
func TestContract_ReleasedData_ETag(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{organisms: publishing()}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		var last answer
		look := func() (changed bool) {
			t.Helper()
			a := d.call(t, "GET", releasedPath, "", nil).want(t, 200)
			tag, before := a.Header.Get("ETag"), last.Response
			defer func() { last = a }()
			if !strings.HasPrefix(tag, `"`) || !strings.HasSuffix(tag, `"`) || len(tag) < 3 {
				t.Errorf("the tag %s is not quoted", tag)
			}
			if before == nil {
				return true
			}
			old := before.Header.Get("ETag")
			if tag == old && !bytes.Equal(a.body, last.body) {
				t.Errorf("two bodies have the tag %s", tag)
			}
			if tag < old {
				t.Errorf("the tag fell from %s to %s", old, tag)
			}
			return tag != old
		}
		look()
		step := func(what string, change bool, act func()) {
			t.Helper()
			act()
			if look() != change {
				t.Errorf("%s: the tag changed: %v, want %v", what, !change, change)
			}
		}
		var held []seqlease.Entry
		var entries []seqlease.AccessionVersion
		step("a submission", false, func() { d.submit(t, group, 3, 40) })
		step("a claim", false, func() { held = d.claim(t, pipe, 3) })
		step("results", false, func() { d.sendResults(t, resultsOf(held)).want(t, 204) })
		step("an approval", true, func() { d.approveAll(t).into(t, &entries) })
		step("an approval of nothing", false, func() { d.approveAll(t) })
		step("external metadata", true, func() { d.sendExternal(t, "ena", about(entries[1], `{"archiveId":"OX1"}`)).want(t, 204) })
		step("refused external metadata", false, func() { d.sendExternal(t, "ena", about(entries[1], `{}`)).want(t, 422) })
		step("reprocessing", false, func() { d.post(t, "reprocess", root, `{"all":true}`).want(t, 200) })
		step("a claim of released entries", false, func() { held = d.claim(t, pipe, 3) })
		step("new results of released entries", true, func() {
			d.sendResults(t, strings.ReplaceAll(resultsOf(held), "Kenya", "Mali")).want(t, 204)
		})
		step("another organism's data", false, func() {
			d.call(t, "POST", "/moss/submit-external-metadata?externalMetadataUpdater=ena", ena, strings.NewReader(""), "Content-Type", "application/x-ndjson").want(t, 204)
			d.submitMoss(t, group)
		})
		if last.Header.Get("X-Total-Records") != "3" || !bytes.Contains(last.body, []byte("Mali")) {
			t.Errorf("in the end: %s", last.body)
		}
	})
}

// submitMoss submits, processes and releases an entry of another organism.
func (d *door) submitMoss(t *testing.T, group int64) {
	t.Helper()
	body, contentType := upload(t, "groupId", strconv.FormatInt(group, 10), "metadataFile", "@m.tsv\nid\tcountry\nm\tPeru\n", "sequenceFile", "@s.fasta\n>m\nACGT\n")
	d.call(t, "POST", "/moss/submit", anna, body, "Content-Type", contentType).want(t, 200)
	claimed := entriesOf(t, d.call(t, "POST", "/moss/extract-unprocessed-data?numberOfSequenceEntries=1&pipelineVersion=1", pipe, nil).want(t, 200).body)
	d.call(t, "POST", "/moss/submit-processed-data?pipelineVersion=1", pipe, strings.NewReader(resultsOf(claimed)), "Content-Type", "application/x-ndjson").want(t, 204)
	d.call(t, "POST", "/moss/approve-processed-data", anna, strings.NewReader(`{"scope":"ALL"}`), "Content-Type", "application/json").want(t, http.StatusOK)
}

// TestContract_ReleasedData_IsInOrder: by accession and version, as texts.
func TestContract_ReleasedData_IsInOrder(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{organisms: publishing()}, func(t *testing.T, d *door) {
		d.release(t, d.newGroup(t, anna), 40)
		var names []string
		for _, l := range releasedLines(t, d.call(t, "GET", releasedPath, "", nil).want(t, 200).body) {
			names = append(names, string(l.Metadata["accession"]))
		}
		if len(names) != 40 || !slices.IsSorted(names) {
			t.Errorf("the accessions are %v", names)
		}
	})
}
