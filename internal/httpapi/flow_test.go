package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// TestDoor_MainJob runs the main job over a real socket: submit, claim, results,
// approve, released data.
func TestDoor_MainJob(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	group := d.newGroup(t, anna)
	stored := d.submit(t, group, 3, 40)
	for i, m := range stored {
		if want := fmt.Sprintf("s%d", i); m.SubmissionID != want || m.Version != 1 || m.Accession != seqlease.NewAccession("LOC_", int64(i+1)) {
			t.Errorf("entry %d is %+v", i, m)
		}
	}

	entries := d.claim(t, pipe, 2)
	if len(entries) != 2 {
		t.Fatalf("claimed %d entries, want 2", len(entries))
	}
	for i, e := range entries {
		want := seqlease.Entry{
			AccessionVersion: stored[i].AccessionVersion, SubmissionID: stored[i].SubmissionID, Submitter: anna, GroupID: group,
			Data: seqlease.SubmittedData{
				Metadata:                     map[string]string{"country": e.Data.Metadata["country"]},
				UnalignedNucleotideSequences: map[string]string{stored[i].SubmissionID: strings.Repeat("ACGT", 10)},
			},
			SubmittedAt: e.SubmittedAt, AttemptID: entries[0].AttemptID, LeaseUntil: e.LeaseUntil, LeaseSeconds: 600, Attempt: 1,
		}
		if diff := cmp.Diff(e, want); diff != "" {
			t.Errorf("claimed entry %d: got/want %s", i, diff)
		}
		if age := time.Since(time.Unix(e.SubmittedAt, 0)); age < 0 || age > time.Minute {
			t.Errorf("submitted %v ago", age)
		}
		if left := time.Until(e.LeaseUntil); left < 590*time.Second || left > 601*time.Second || e.LeaseUntil.Location() != time.UTC {
			t.Errorf("the lease runs for %v until %v", left, e.LeaseUntil)
		}
	}
	if got, want := d.statusCounts(t, "zika"), counts(1, 2, 0, 0); !cmp.Equal(got, want) {
		t.Errorf("counts %v, want %v", got, want)
	}

	a := d.sendResults(t, resultsOf(entries)).want(t, 204)
	if len(a.body) != 0 {
		t.Errorf("204 with a body: %s", a.body)
	}
	d.sendResults(t, resultsOf(entries)).want(t, 204) // L6
	if got, want := d.statusCounts(t, "zika"), counts(1, 0, 2, 0); !cmp.Equal(got, want) {
		t.Errorf("counts %v, want %v", got, want)
	}

	a = d.call(t, "POST", "/zika/approve-processed-data", anna, strings.NewReader(`{"scope":"ALL","extra":1}`), "Content-Type", "application/json").want(t, 200)
	var approved []seqlease.AccessionVersion
	a.into(t, &approved)
	if want := []seqlease.AccessionVersion{stored[0].AccessionVersion, stored[1].AccessionVersion}; !cmp.Equal(approved, want) {
		t.Errorf("approved %v, want %v", approved, want)
	}
	if got, want := d.statusCounts(t, "zika"), counts(1, 0, 0, 2); !cmp.Equal(got, want) {
		t.Errorf("counts %v, want %v", got, want)
	}
	d.checkReleased(t, stored[0].AccessionVersion, group)
	if want := "path=/zika/submit status=200"; !strings.Contains(d.log.String(), want) || !strings.Contains(d.log.String(), "user=anna") {
		t.Errorf("the access log lacks %q and the user: %s", want, d.log)
	}
}

func counts(received, inProcessing, processed, approved int64) map[seqlease.Status]int64 {
	return map[seqlease.Status]int64{
		seqlease.Received: received, seqlease.InProcessing: inProcessing, seqlease.Processed: processed, seqlease.ApprovedForRelease: approved,
	}
}

// checkReleased reads the two released entries in every way there is.
func (d *door) checkReleased(t *testing.T, first seqlease.AccessionVersion, group int64) {
	t.Helper()
	a := d.call(t, "GET", "/zika/get-released-data", "", nil).want(t, 200)
	if got := a.Header.Get("Content-Type"); got != "application/x-ndjson; charset=utf-8" {
		t.Errorf("content type %q", got)
	}
	if got := a.Header.Get("X-Total-Records"); got != "2" || bytes.Count(a.body, []byte("\n")) != 2 {
		t.Errorf("x-total-records %q and %d lines, want 2", got, bytes.Count(a.body, []byte("\n")))
	}
	var line struct {
		Metadata map[string]any
		Aligned  map[string]*string  `json:"alignedNucleotideSequences"`
		Inserted map[string][]string `json:"nucleotideInsertions"`
	}
	if err := json.Unmarshal(bytes.SplitAfter(a.body, []byte("\n"))[0], &line); err != nil {
		t.Fatal(err)
	}
	if line.Metadata["accessionVersion"] != first.String() || line.Metadata["country"] != "Kenya" || line.Metadata["groupId"] != float64(group) ||
		line.Metadata["age"] != float64(7) || *line.Aligned["main"] != reference || line.Inserted["main"][0] != "3:AC" {
		t.Errorf("the first line is %v", line)
	}

	tag := a.Header.Get("ETag")
	for _, known := range []string{tag, "W/" + tag} {
		b := d.call(t, "GET", "/zika/get-released-data", "", nil, "If-None-Match", known).want(t, 304)
		if b.Header.Get("ETag") != tag || len(b.body) != 0 {
			t.Errorf("304 with ETag %q and %d bytes", b.Header.Get("ETag"), len(b.body))
		}
	}
	d.call(t, "GET", "/zika/get-released-data", "", nil, "If-None-Match", `"other"`).want(t, 200)

	c := d.call(t, "GET", "/zika/get-released-data?compression=ZSTD", "", nil, "Accept-Encoding", "gzip").want(t, 200)
	if got := c.Header.Get("Content-Encoding"); got != "zstd" {
		t.Errorf("content encoding %q", got)
	}
	if got := unzstd(t, c.body); !bytes.Equal(got, a.body) {
		t.Error("the compressed answer differs")
	}
	h := d.call(t, "HEAD", "/zika/get-released-data", "", nil).want(t, 200)
	if h.Header.Get("ETag") != tag || h.Header.Get("X-Total-Records") != "2" {
		t.Errorf("HEAD has the headers %v", h.Header)
	}
	if left := d.leftovers(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// unzstd decompresses one whole frame.
func unzstd(t *testing.T, b []byte) []byte {
	t.Helper()
	decoder, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer decoder.Close()
	plain, err := io.ReadAll(decoder)
	if err != nil || len(b) == 0 {
		t.Fatalf("%d bytes are no zstd frame: %v", len(b), err)
	}
	return plain
}

// TestClaim_L14_NotModifiedOnlyForEmptyAnswers walks the tag through its life.
func TestClaim_L14_NotModifiedOnlyForEmptyAnswers(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	extract := func(n int, tag string) answer {
		return d.call(t, "POST", fmt.Sprintf("/zika/extract-unprocessed-data?pipelineVersion=1&numberOfSequenceEntries=%d", n), pipe, nil, "If-None-Match", tag)
	}
	empty := extract(5, "").want(t, 200)
	tag := empty.Header.Get("ETag")
	if !strings.HasPrefix(tag, `"`) || !strings.HasSuffix(tag, `"`) || len(tag) < 3 || len(empty.body) != 0 {
		t.Errorf("ETag %s and %d bytes, want a quoted word and none", tag, len(empty.body))
	}
	for _, known := range []string{tag, "W/" + tag} {
		if a := extract(5, known).want(t, 304); a.Header.Get("ETag") != tag || len(a.body) != 0 {
			t.Errorf("304 with ETag %s and %d bytes", a.Header.Get("ETag"), len(a.body))
		}
	}
	for _, other := range []string{strings.Trim(tag, `"`), tag + ", " + tag, "*", `"x"`} {
		extract(5, other).want(t, 200)
	}
	d.submit(t, d.newGroup(t, anna), 2, 40)
	if changed := extract(0, tag).want(t, 200).Header.Get("ETag"); changed == tag {
		t.Error("the tag didn't change with a submission")
	}
	full := extract(1, tag).want(t, 200)
	if len(entriesOf(t, full.body)) != 1 || full.Header.Get("ETag") == "" {
		t.Errorf("got %d lines and ETag %q", len(entriesOf(t, full.body)), full.Header.Get("ETag"))
	}
	// The tag of the full answer is the current one while an entry still waits.
	if a := extract(1, full.Header.Get("ETag")).want(t, 200); len(entriesOf(t, a.body)) != 1 {
		t.Error("a known tag hid waiting work")
	}
}

func TestClaim_CompressedIsOneFrame(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	path := "/zika/extract-unprocessed-data?pipelineVersion=1&numberOfSequenceEntries=5&compression=zstd"
	if got := unzstd(t, d.call(t, "POST", path, pipe, nil).want(t, 200).body); len(got) != 0 {
		t.Errorf("an empty answer holds %q", got)
	}
	d.submit(t, d.newGroup(t, anna), 3, 4000)
	a := d.call(t, "POST", path, pipe, nil).want(t, 200)
	if got := entriesOf(t, unzstd(t, a.body)); len(got) != 3 || a.Header.Get("Content-Encoding") != "zstd" {
		t.Errorf("got %d entries, encoding %q", len(got), a.Header.Get("Content-Encoding"))
	}
}

// TestClaim_LargerThanAPage reads a claim whose data come in pages (L12).
func TestClaim_LargerThanAPage(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	stored := d.submit(t, d.newGroup(t, anna), 2300, 20)
	entries := d.claim(t, pipe, 5000)
	if len(entries) != len(stored) {
		t.Fatalf("got %d entries, want %d", len(entries), len(stored))
	}
	for i, e := range entries {
		if e.AccessionVersion != stored[i].AccessionVersion || len(e.Data.UnalignedNucleotideSequences[e.SubmissionID]) != 20 {
			t.Fatalf("entry %d is %+v", i, e)
		}
	}
	d.sendResults(t, resultsOf(entries)).want(t, 204)
	if got, want := d.statusCounts(t, "zika"), counts(0, 0, 2300, 0); !cmp.Equal(got, want) {
		t.Errorf("counts %v, want %v", got, want)
	}
}

// TestClaim_OneRecordIsOneLine has the characters that readers take for line
// ends (B071), and the one that pipelines look for (P1).
func TestClaim_OneRecordIsOneLine(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	group := d.newGroup(t, anna)
	value := "a\u00a0b\u2028c\u2029d\u0085e – 🦠"
	body, contentType := upload(t, "groupId", strconv.FormatInt(group, 10), "metadataFile", "@m.tsv\nid\tcountry\ns1\t"+value+"\n", "sequenceFile", "@s.fasta\n>s1\nACGT\n")
	d.call(t, "POST", "/zika/submit", anna, body, "Content-Type", contentType).want(t, 200)
	a := d.call(t, "POST", "/zika/extract-unprocessed-data?pipelineVersion=1&numberOfSequenceEntries=1", pipe, nil).want(t, 200)
	if got := entriesOf(t, a.body); len(got) != 1 || got[0].Data.Metadata["country"] != value {
		t.Errorf("got %+v, want country %q", got, value)
	}
	if strings.ContainsAny(string(a.body), "\u2028\u2029\u0085") || !strings.Contains(string(a.body), "a\u00a0b") {
		t.Errorf("%q must escape separators and leave no-break spaces raw", a.body)
	}
}

func TestSubmit_DataUseTerms(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{terms: submission.TermsOptions{Enabled: true}})
	group := d.newGroup(t, anna)
	submit := func(query string, fields ...string) answer {
		parts := append(slices.Clone(fields), "metadataFile", "@m.tsv\nid\tcountry\ns1\tx\n", "sequenceFile", "@s.fasta\n>s1\nACGT\n")
		body, contentType := upload(t, parts...)
		return d.call(t, "POST", fmt.Sprintf("/zika/submit?groupId=%d%s", group, query), anna, body, "Content-Type", contentType)
	}
	submit("").problem(t, 400, "dataUseTermsType")
	submit("&dataUseTermsType=open").problem(t, 400, "dataUseTermsType")
	submit("&dataUseTermsType=RESTRICTED").problem(t, 400, "restrictedUntil")
	submit("", "dataUseTermsType", "RESTRICTED", "restrictedUntil", "soon").problem(t, 400, "restrictedUntil")
	until := time.Now().UTC().AddDate(0, 6, 0).Format(time.DateOnly)
	submit("", "dataUseTermsType", "RESTRICTED", "restrictedUntil", until).want(t, 200)
	submit("&dataUseTermsType=OPEN", "dataUseTermsType", "nonsense").want(t, 200)

	var list struct {
		SequenceEntries []struct{ DataUseTerms map[string]string }
	}
	d.call(t, "GET", "/zika/get-sequences", anna, nil).want(t, 200).into(t, &list)
	var got []map[string]string
	for _, e := range list.SequenceEntries {
		got = append(got, e.DataUseTerms)
	}
	if want := []map[string]string{{"type": "RESTRICTED", "restrictedUntil": until}, {"type": "OPEN"}}; !cmp.Equal(got, want) {
		t.Errorf("terms %v, want %v", got, want)
	}
}

// TestList_IsAsTheProtocolSays compares the whole document.
func TestList_IsAsTheProtocolSays(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	d.call(t, "GET", "/zika/get-sequences", anna, nil).want(t, 200)
	group := d.newGroup(t, anna)
	stored := d.submit(t, group, 3, 20)
	entries := d.claim(t, pipe, 2)
	d.sendResults(t, resultOf(entries[0])).want(t, 204)
	entry := func(i int, status string, result any) any {
		return map[string]any{
			"accession": string(stored[i].Accession), "version": 1.0, "status": status, "processingResult": result, "groupId": float64(group),
			"submitter": "anna", "isRevocation": false, "submissionId": stored[i].SubmissionID, "dataUseTerms": map[string]any{"type": "OPEN"},
		}
	}
	all := []any{entry(0, "PROCESSED", "NO_ISSUES"), entry(1, "IN_PROCESSING", nil), entry(2, "RECEIVED", "NO_ISSUES")}
	for _, tt := range []struct {
		query string
		want  []any
	}{
		{"", all},
		{"?organism=zika&unknown=1", all},
		{"?page=1&size=2", all[2:]},
		{"?page=1", all},
		{"?size=0&page=0", []any{}},
		{"?statusesFilter=RECEIVED", all[2:]},
		{"?statusesFilter=RECEIVED,PROCESSED", []any{all[0], all[2]}},
		{"?statusesFilter=RECEIVED&statusesFilter=IN_PROCESSING", all[1:]},
		{"?statusesFilter=", []any{}},
		{"?groupIdsFilter=", []any{}},
		{"?groupIdsFilter=" + strconv.FormatInt(group, 10), all},
		{"?processingResultFilter=HAS_ERRORS", all[1:]},
	} {
		var got map[string]any
		d.call(t, "GET", "/zika/get-sequences"+tt.query, anna, nil).want(t, 200).into(t, &got)
		want := map[string]any{
			"sequenceEntries":        tt.want,
			"statusCounts":           map[string]any{"RECEIVED": 1.0, "IN_PROCESSING": 1.0, "PROCESSED": 1.0, "APPROVED_FOR_RELEASE": 0.0},
			"processingResultCounts": map[string]any{"NO_ISSUES": 1.0, "HAS_WARNINGS": 0.0, "HAS_ERRORS": 0.0},
		}
		if tt.query == "?groupIdsFilter=" {
			want["statusCounts"] = map[string]any{"RECEIVED": 0.0, "IN_PROCESSING": 0.0, "PROCESSED": 0.0, "APPROVED_FOR_RELEASE": 0.0}
			want["processingResultCounts"] = map[string]any{"NO_ISSUES": 0.0, "HAS_WARNINGS": 0.0, "HAS_ERRORS": 0.0}
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("%s: got/want %s", tt.query, diff)
		}
	}
	d.call(t, "GET", "/zika/get-sequences?groupIdsFilter=99", anna, nil).problem(t, 404, "99")
	d.call(t, "GET", fmt.Sprintf("/zika/get-sequences?groupIdsFilter=%d", group), bob, nil).problem(t, 403, strconv.FormatInt(group, 10))
	if left := d.leftovers(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestGroups(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	first, second := d.newGroup(t, anna), d.newGroup(t, bob)
	var groups []seqlease.Group
	d.call(t, "GET", "/user/groups", anna, nil).want(t, 200).into(t, &groups)
	if len(groups) != 1 || groups[0].GroupID != first || groups[0].Address.Country != "CH" || groups[0].ContactEmail != "a@b" {
		t.Errorf("anna has the groups %+v", groups)
	}
	d.call(t, "GET", "/user/groups", root, nil).want(t, 200).into(t, &groups)
	if len(groups) != 2 || groups[0].GroupID != first || groups[1].GroupID != second {
		t.Errorf("a super user has the groups %+v", groups)
	}
	if got := string(d.call(t, "GET", "/user/groups", pipe, nil).want(t, 200).body); got != "[]" {
		t.Errorf("a user without groups gets %s, want []", got)
	}

	address := map[string]any{"line1": "1", "line2": "", "city": "c", "state": "", "postalCode": "", "country": "CH"}
	for token, want := range map[string]map[string]any{
		bob: {"users": []any{map[string]any{"name": "anna"}}, "group": map[string]any{
			"groupId": float64(first), "groupName": "Lab", "institution": "I", "address": address, "contactEmail": "a@b",
		}},
		"": {"users": nil, "group": map[string]any{
			"groupId": float64(first), "groupName": "Lab", "institution": "I", "address": address, "contactEmail": nil,
		}},
	} {
		var got map[string]any
		d.call(t, "GET", fmt.Sprintf("/groups/%d", first), token, nil).want(t, 200).into(t, &got)
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("token %q: got/want %s", token, diff)
		}
	}
	d.call(t, "GET", "/groups/99", "", nil).problem(t, 404, "99")
	d.call(t, "GET", "/groups/x", "", nil).problem(t, 400, "groupId")

	whole := `{"groupName":"g","institution":"i","address":{"line1":"","line2":"","city":"","state":"","postalCode":"","country":""},"contactEmail":"e"}`
	for _, tt := range []struct {
		body   string
		status int
		word   string
	}{
		{`{}`, 400, "groupName"},
		{strings.Replace(whole, `"city":""`, `"city":null`, 1), 400, "address.city"},
		{strings.Replace(whole, `"g"`, `["g"]`, 1), 400, "groupName"},
		{strings.Replace(whole, `"g"`, `"`+strings.Repeat("é", 256)+`"`, 1), 400, "groupName"},
		{strings.Replace(whole, `"g"`, `"a\u0000b"`, 1), 400, "groupName"},
		{`nonsense`, 400, "deserialised"},
	} {
		d.call(t, "POST", "/groups", anna, strings.NewReader(tt.body), "Content-Type", "application/json").problem(t, tt.status, tt.word)
	}
	d.call(t, "POST", "/groups", anna, strings.NewReader(strings.Replace(whole, `"g"`, `5`, 1)), "Content-Type", "application/json; charset=utf-8").want(t, 200)
	d.call(t, "POST", "/groups", anna, strings.NewReader(whole), "Content-Type", "text/plain").problem(t, 415, "application/json")
	d.call(t, "POST", "/groups", anna, strings.NewReader(whole)).problem(t, http.StatusUnsupportedMediaType)
}

func TestApprove_Refusals(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	stored := d.submit(t, d.newGroup(t, anna), 2, 20)
	approve := func(token, body string) answer {
		return d.call(t, "POST", "/zika/approve-processed-data", token, strings.NewReader(body), "Content-Type", "application/json")
	}
	one := fmt.Sprintf(`[{"accession":%q,"version":"1"}]`, stored[0].Accession)
	approve(anna, `{}`).problem(t, 400, "scope")
	approve(anna, `{"scope":"SOME"}`).problem(t, 400, "SOME")
	approve(anna, `{"scope":"ALL","accessionVersionsFilter":[{"accession":"A"}]}`).problem(t, 400, "version")
	approve(anna, `{"scope":"ALL","accessionVersionsFilter":[{"accession":"NONE","version":1}]}`).problem(t, 422, "NONE.1")
	approve(anna, `{"scope":"ALL","accessionVersionsFilter":`+one+`}`).problem(t, 422, stored[0].String(), "RECEIVED")
	approve(anna, `{"scope":"ALL","accessionVersionsFilter":[`+strings.Repeat(`{"accession":"NONE","version":1},`, 20_000)+
		`{"accession":"NONE","version":2}]}`).problem(t, 422, "NONE.1, NONE.2")
	d.sendResults(t, resultsOf(d.claim(t, pipe, 2))).want(t, 204)
	approve(bob, `{"scope":"ALL","accessionVersionsFilter":`+one+`}`).problem(t, 403, "bob")
	if got := string(approve(bob, `{"scope":"ALL"}`).want(t, 200).body); got != "[]" {
		t.Errorf("bob approved %s", got)
	}
	if got := string(approve(anna, `{"scope":"ALL","submitterNamesFilter":[]}`).want(t, 200).body); got != "[]" {
		t.Errorf("an empty filter approved %s", got)
	}
	var approved []seqlease.AccessionVersion
	approve(anna, `{"scope":"WITHOUT_WARNINGS","accessionVersionsFilter":`+one+`,"groupIdsFilter":null}`).want(t, 200).into(t, &approved)
	if len(approved) != 1 || approved[0] != stored[0].AccessionVersion {
		t.Errorf("approved %v", approved)
	}
}
