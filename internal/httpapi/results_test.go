package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

func notReady(context.Context) error { return errors.New("the store is away") }

// TestResults_Refusals sends bodies that must be refused as a whole (L5), each
// with one good line before, and checks that nothing was stored.
func TestResults_Refusals(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		d.submit(t, group, 3, 20)
		mine, foreign := d.claim(t, pipe, 2), d.claim(t, pipe2, 1)
		before := d.statusCounts(t, "zika")
		good, second := resultOf(mine[0]), resultOf(mine[1])
		unknown := mine[1]
		unknown.Accession = "LOC_UNKNOWN"
		for _, tt := range []struct {
			name, line string
			reason     seqlease.RefusalReason
			words      []string
		}{
			{"no attempt id", strings.Replace(second, `"processingAttemptId"`, `"x"`, 1), seqlease.RefusedInvalid, []string{"processingAttemptId", "copy"}},
			{"numeric attempt id", strings.Replace(second, `"`+mine[1].AttemptID.String()+`"`, "5", 1), seqlease.RefusedInvalid, []string{"processingAttemptId"}},
			{"malformed attempt id", strings.Replace(second, mine[1].AttemptID.String(), "5", 1), seqlease.RefusedInvalid, []string{"processingAttemptId"}},
			{"L3 unknown attempt id", strings.Replace(second, mine[1].AttemptID.String(), seqlease.NewAttemptID().String(), 1), seqlease.RefusedLeaseLost, nil},
			{"L7 lease of another user", resultOf(foreign[0]), seqlease.RefusedLeaseLost, nil},
			{"unknown entry", resultOf(unknown), seqlease.RefusedNotFound, nil},
			{"the same entry twice", good, seqlease.RefusedDuplicate, []string{"lines 1 and 3"}},
			{"wrong length", strings.Replace(second, strings.ToLower(reference), "acgt", 1), seqlease.RefusedInvalid, []string{"main", "alignedNucleotideSequences", "4", "20"}},
			{"unknown field", strings.Replace(second, `"age"`, `"colour"`, 1), seqlease.RefusedInvalid, []string{"colour"}},
			{"L18 NUL", strings.Replace(second, `"Kenya"`, `"a\u0000b"`, 1), seqlease.RefusedInvalid, []string{"country"}},
		} {
			p := d.sendResults(t, good+"\n\r\n"+tt.line).problem(t, 422)
			if p.Type != "urn:seqlease:problem:results-refused" || len(p.Refused) != 1 {
				t.Errorf("%s: problem %+v", tt.name, p)
				continue
			}
			refused := p.Refused[0]
			if refused.Line != 3 || refused.Reason != tt.reason {
				t.Errorf("%s: got line %d, reason %s (%s); want 3 and %s", tt.name, refused.Line, refused.Reason, refused.Detail, tt.reason)
			}
			for _, word := range tt.words {
				if !strings.Contains(refused.Detail, word) {
					t.Errorf("%s: detail %q doesn't say %q", tt.name, refused.Detail, word)
				}
			}
		}
		for _, tt := range []struct {
			name, body, path, contentType string
			status                        int
			words                         []string
		}{
			{"broken line", good + "\n" + second[:50], "", "", 400, []string{"line 2", "deserialised"}},
			{"broken line after a refused one", resultOf(foreign[0]) + "\n{}", "", "", 400, []string{"line 2", "accession"}},
			{"more broken lines than a body may have", strings.Repeat("{}\n", queue.MaxResultLines+1), "", "", 400, []string{"line 1", "accession"}},
			{"missing member", strings.Replace(second, `"data"`, `"date"`, 1), "", "", 400, []string{"line 1", "data"}},
			{"L18 lone surrogate", strings.Replace(second, `"Kenya"`, `"\udc00"`, 1), "", "", 400, []string{"line 1", "data.metadata.country"}},
			{"another type", good, "", "application/json", 415, []string{"application/x-ndjson"}},
			{"no type", good, "", " ", 415, []string{"application/x-ndjson"}},
			{"no version", good, "/zika/submit-processed-data", "", 400, []string{"pipelineVersion"}},
			{"other case", good, "/zika/submit-processed-data?pipelineVersion=1&onRefused=SKIP", "", 400, []string{"onRefused", "SKIP"}},
			{"nonsense", good, "/zika/submit-processed-data?pipelineVersion=1&onRefused=maybe", "", 400, []string{"onRefused", "maybe"}},
			{"another organism", good, "/cchf/submit-processed-data?pipelineVersion=1", "", 422, nil},
		} {
			if tt.path == "" {
				tt.path = "/zika/submit-processed-data?pipelineVersion=1"
			}
			if tt.contentType == "" {
				tt.contentType = "application/x-ndjson"
			}
			t.Log(tt.name)
			d.call(t, "POST", tt.path, pipe, strings.NewReader(tt.body), "Content-Type", tt.contentType).problem(t, tt.status, tt.words...)
		}
		if got := d.statusCounts(t, "zika"); !cmp.Equal(got, before) {
			t.Errorf("counts %v, want unchanged %v", got, before)
		}
		d.sendResults(t, good+"\r"+second+"\r").want(t, 204)
	})
}

// TestResults_FormsOfBodies sends one entry's result in every form that is taken.
func TestResults_FormsOfBodies(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		d.submit(t, d.newGroup(t, anna), 1, 20)
		line := resultOf(d.claim(t, pipe, 1)[0])
		var zipped, squeezed bytes.Buffer
		z := gzip.NewWriter(&zipped)
		_, _ = z.Write([]byte(line + "\n"))
		_ = z.Close()
		e, err := zstd.NewWriter(&squeezed)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = e.Write([]byte(line))
		_ = e.Close()

		d.sendResults(t, "").want(t, 204)
		d.sendResults(t, line).want(t, 204) // the others repeat it (L6)
		d.sendResults(t, "\n\n"+line+"\r\n \n").want(t, 204)
		d.sendResults(t, line, "Content-Type", "application/X-NDJSON; charset=utf-8").want(t, 204)
		d.sendResults(t, line, "Content-Encoding", "identity").want(t, 204)
		d.sendResults(t, zipped.String(), "Content-Encoding", "gzip").want(t, 204)
		d.sendResults(t, squeezed.String(), "Content-Encoding", "zstd").want(t, 204)
		d.sendResults(t, line, "Content-Encoding", "gzip").problem(t, 400, "decompressed")
		d.sendResults(t, zipped.String()[:zipped.Len()/2], "Content-Encoding", "gzip").problem(t, 400, "decompressed")
		d.sendResults(t, line, "Content-Encoding", "br").problem(t, 415, "br")
		d.sendResults(t, zipped.String(), "Content-Encoding", "gzip, gzip").problem(t, 415, "gzip, gzip")
	})
}

// TestResults_LongLines has lines around the sizes at which buffers end (B067).
func TestResults_LongLines(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		lengths := []int{65_535, 65_536, 65_537, 131_072, 1 << 20, 30 << 20}
		d.submit(t, d.newGroup(t, anna), len(lengths), 20)
		for i, e := range d.claim(t, pipe, len(lengths)) {
			line := strings.TrimSuffix(resultOf(e), `"errors":[],"warnings":[]}`) + `"errors":[{"unprocessedFields":[],"processedFields":[],"message":"`
			line += strings.Repeat("x", max(0, lengths[i]-len(line)-5)) + `"}]}`
			d.sendResults(t, line).want(t, 204)
		}
		if got, want := d.statusCounts(t, "zika")[seqlease.Processed], int64(len(lengths)); got != want {
			t.Errorf("%d processed, want %d", got, want)
		}
	})
}

// TestResults_Bombs has small bodies that unpack to large ones (B094).
func TestResults_Bombs(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	var zipped bytes.Buffer
	z, _ := gzip.NewWriterLevel(&zipped, gzip.BestSpeed) // the race detector makes it slow
	chunk := bytes.Repeat([]byte(" "), 1<<20)
	for range 34 {
		_, _ = z.Write(chunk)
	}
	_ = z.Close()
	squeeze := func(options ...zstd.EOption) string {
		e, err := zstd.NewWriter(nil, append(options, zstd.WithEncoderLevel(zstd.SpeedFastest))...)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = e.Close() }()
		return string(e.EncodeAll(bytes.Repeat(chunk, 34), nil))
	}
	d.sendResults(t, zipped.String(), "Content-Encoding", "gzip").problem(t, 413, "line 1", "33554432")
	d.sendResults(t, squeeze(), "Content-Encoding", "zstd").problem(t, 413, "line 1")
	d.sendResults(t, squeeze(zstd.WithWindowSize(64<<20), zstd.WithSingleSegment(false)), "Content-Encoding", "zstd").problem(t, 413)
	d.sendResults(t, squeeze(zstd.WithSingleSegment(true)), "Content-Encoding", "zstd").problem(t, 413)
	d.sendResults(t, "{}\n"+strings.Repeat("[", 100_000)).problem(t, 400, "line 1")
	d.sendResults(t, `{"accession":`+strings.Repeat("[", 100_000)).problem(t, 400, "line 1")
	d.call(t, "POST", "/groups", anna, bytes.NewReader(zipped.Bytes()), "Content-Type", "application/json", "Content-Encoding", "gzip").problem(t, 413, "JSON body")
	d.call(t, "POST", "/zika/approve-processed-data", anna, bytes.NewReader(zipped.Bytes()),
		"Content-Type", "application/json", "Content-Encoding", "gzip").problem(t, 413, "JSON body")
	d.call(t, "POST", "/zika/extract-unprocessed-data", pipe, strings.NewReader("a="+strings.Repeat("x", 70<<10)),
		"Content-Type", "application/x-www-form-urlencoded").problem(t, 413, "form body")
}

// TestClaim_Parameters has the ways in which parameters come, and the limits.
func TestClaim_Parameters(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	d.stopWaiting() // a claim that waits is answered at once
	const form = "application/x-www-form-urlencoded"
	path := "/zika/extract-unprocessed-data"
	for _, tt := range []struct {
		name, query, body string
		status            int
		words             []string
	}{
		{"query", "?numberOfSequenceEntries=1&pipelineVersion=1", "", 200, nil},
		{"form", "", "numberOfSequenceEntries=1&pipelineVersion=1", 200, nil},
		{"both, the query wins", "?numberOfSequenceEntries=1", "numberOfSequenceEntries=nonsense&pipelineVersion=1", 200, nil},
		{"unknown ones", "?numberOfSequenceEntries=1&x=1", "pipelineVersion=1&y=2", 200, nil},
		{"empty optional ones", "?numberOfSequenceEntries=1&pipelineVersion=1&compression=&workerId=", "", 200, nil},
		{"all", "?numberOfSequenceEntries=100000&pipelineVersion=1&leaseSeconds=10&waitSeconds=30&workerId=w%C3%A91&compression=ZStd", "", 200, nil},
		{"nothing", "", "", 400, []string{"numberOfSequenceEntries"}},
		{"no version", "?numberOfSequenceEntries=1", "", 400, []string{"pipelineVersion"}},
		{"no number", "", "pipelineVersion=1", 400, []string{"numberOfSequenceEntries"}},
		{"text", "?numberOfSequenceEntries=many&pipelineVersion=1", "", 400, []string{"numberOfSequenceEntries"}},
		{"empty number", "?numberOfSequenceEntries=&pipelineVersion=1", "", 400, []string{"numberOfSequenceEntries"}},
		{"twice", "?numberOfSequenceEntries=1&numberOfSequenceEntries=2&pipelineVersion=1", "", 400, []string{"numberOfSequenceEntries"}},
		{"too many", "?numberOfSequenceEntries=100001&pipelineVersion=1", "", 400, []string{"numberOfSequenceEntries", "100000"}},
		{"negative", "?numberOfSequenceEntries=-1&pipelineVersion=1", "", 400, []string{"numberOfSequenceEntries"}},
		{"over 32 bit", "?numberOfSequenceEntries=4294967297&pipelineVersion=1", "", 400, []string{"numberOfSequenceEntries"}},
		{"over 64 bit", "?numberOfSequenceEntries=1&pipelineVersion=9223372036854775808", "", 400, []string{"pipelineVersion"}},
		{"short lease", "?numberOfSequenceEntries=1&pipelineVersion=1&leaseSeconds=9", "", 400, []string{"leaseSeconds"}},
		{"no lease", "?numberOfSequenceEntries=1&pipelineVersion=1&leaseSeconds=0", "", 400, []string{"leaseSeconds"}},
		{"long lease", "?numberOfSequenceEntries=1&pipelineVersion=1", "leaseSeconds=4294967306", 400, []string{"leaseSeconds"}},
		{"long wait", "?numberOfSequenceEntries=1&pipelineVersion=1&waitSeconds=31", "", 400, []string{"waitSeconds"}},
		{"long worker id", "?numberOfSequenceEntries=1&pipelineVersion=1&workerId=" + strings.Repeat("w", 201), "", 400, []string{"workerId"}},
		{"gzip", "?numberOfSequenceEntries=1&pipelineVersion=1&compression=gzip", "", 400, []string{"compression", "gzip"}},
		{"bad escape", "", "numberOfSequenceEntries=%zz", 400, []string{"form body"}},
		{"L18 NUL in a worker id", "?numberOfSequenceEntries=1&pipelineVersion=1&workerId=a%00b", "", 400, []string{"workerId"}},
		{"outdated version", "?numberOfSequenceEntries=1&pipelineVersion=0", "", 422, []string{"0", "1"}},
		{"unregistered version", "?numberOfSequenceEntries=1&pipelineVersion=7", "", 422, []string{"7", "1"}},
		{"outdated before the tag", "?numberOfSequenceEntries=0&pipelineVersion=-5", "", 422, []string{"-5"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := d.call(t, "POST", path+tt.query, pipe, strings.NewReader(tt.body), "Content-Type", form)
			if tt.status == 200 {
				if a.want(t, 200).Header.Get("ETag") == "" {
					t.Error("no ETag")
				}
				return
			}
			a.problem(t, tt.status, tt.words...)
		})
	}
	t.Run("multipart form", func(t *testing.T) {
		t.Parallel()
		body, contentType := upload(t, "numberOfSequenceEntries", "nonsense", "pipelineVersion", "1", "file", "@x\ny")
		d.call(t, "POST", path+"?numberOfSequenceEntries=1", pipe, body, "Content-Type", contentType).want(t, 200)
		body, contentType = upload(t, "numberOfSequenceEntries", "nonsense", "pipelineVersion", "1")
		d.call(t, "POST", path, pipe, body, "Content-Type", contentType).problem(t, 400, "numberOfSequenceEntries")
	})
	t.Run("list parameters", func(t *testing.T) {
		t.Parallel()
		for query, word := range map[string]string{
			"statusesFilter=received": "statusesFilter", "statusesFilter=RECEIVED,": "statusesFilter", "groupIdsFilter=1,x": "groupIdsFilter",
			"groupIdsFilter=1&groupIdsFilter=2,3": "groupIdsFilter", "processingResultFilter=GOOD": "processingResultFilter",
			"page=-1&size=1": "page", "page=0&size=-1": "size", "page=x": "page",
		} {
			d.call(t, "GET", "/zika/get-sequences?"+query, anna, nil).problem(t, 400, word)
		}
	})
}

func TestSubmit_Forms(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	group := strconv.FormatInt(d.newGroup(t, anna), 10)
	metadata, sequences := "@../../etc/passwd.tsv\nid\tcountry\ns1\tx\n", "@C:\\s.fasta\n>s1\nACGT\n"
	files := []string{"sequenceFile", sequences, "metadataFile", metadata}
	many := append([]string{}, files...)
	for range 99 {
		many = append(many, "x", "y")
	}
	for _, tt := range []struct {
		name, query string
		parts       []string
		status      int
		words       []string
	}{
		{"group last", "", append(append([]string{}, files...), "groupId", group), 200, nil},
		{"group first", "", append([]string{"groupId", group}, files...), 200, nil},
		{"group in the query", "?groupId=" + group, append([]string{"groupId", "nonsense", "unknown", "@x\ny"}, files...), 200, nil},
		{"no group", "", files, 400, []string{"groupId"}},
		{"group is no number", "", append([]string{"groupId", "one"}, files...), 400, []string{"groupId", "one"}},
		{"group in the query is no number", "?groupId=one", files, 400, []string{"groupId"}},
		{"unknown group", "?groupId=99", files, 404, []string{"99"}},
		{"no metadata", "?groupId=" + group, files[:2], 400, []string{"metadataFile"}},
		{"no sequences", "?groupId=" + group, files[2:], 400, []string{"sequenceFile"}},
		{"sequences not chosen", "?groupId=" + group, append([]string{"sequenceFile", "@\n"}, files[2:]...), 400, []string{"sequenceFile", "is missing"}},
		{"not chosen and chosen", "?groupId=" + group, append([]string{"metadataFile", "@\n"}, files...), 200, nil},
		{"metadata twice", "?groupId=" + group, append(append([]string{}, files...), "metadataFile", metadata), 400, []string{"metadataFile", "twice"}},
		{"many parts", "?groupId=" + group, many, 413, []string{"100 parts"}},
		{"long field", "", append([]string{"groupId", strings.Repeat("1", 70<<10)}, files...), 413, []string{"groupId"}},
		{"wrong ending", "?groupId=" + group, []string{"metadataFile", strings.Replace(metadata, ".tsv", ".csv", 1), "sequenceFile", sequences}, 400, []string{"metadataFile", "tsv"}},
	} {
		t.Log(tt.name)
		body, contentType := upload(t, tt.parts...)
		a := d.call(t, "POST", "/zika/submit"+tt.query, anna, body, "Content-Type", contentType)
		if tt.status == 200 {
			a.want(t, 200)
		} else {
			a.problem(t, tt.status, tt.words...)
		}
		if left := d.leftovers(t); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	if got, want := d.statusCounts(t, "zika"), counts(4, 0, 0, 0); !cmp.Equal(got, want) {
		t.Errorf("counts %v, want %v", got, want)
	}
	body, contentType := upload(t, files...)
	d.call(t, "POST", "/zika/submit?groupId="+group, bob, body, "Content-Type", contentType).problem(t, 403, "bob", group)
	body, contentType = upload(t, files...)
	d.call(t, "POST", "/zika/submit?groupId="+group, root, body, "Content-Type", contentType).want(t, 200)
	d.call(t, "POST", "/zika/submit?groupId="+group, anna, strings.NewReader("x"), "Content-Type", "application/json").problem(t, 415, "multipart/form-data")
	d.call(t, "POST", "/zika/submit?groupId="+group, anna, strings.NewReader("--b\r\nContent-Dispo"), "Content-Type", "multipart/form-data; boundary=b").problem(t, 400, "broke off")
	d.call(t, "POST", "/zika/submit?groupId="+group, anna, strings.NewReader("x"), "Content-Type", "multipart/form-data").problem(t, 415)
}

// TestBody_BombsAtOnce sends more of them than are read at once; none of them
// keeps its place.
func TestBody_BombsAtOnce(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	bomb := e.EncodeAll(bytes.Repeat([]byte(" "), 16<<20), nil)
	var group errgroup.Group
	for path, contentType := range map[string]string{
		"/groups": "application/json", "/zika/extract-unprocessed-data": "application/x-www-form-urlencoded",
	} {
		for range 40 {
			group.Go(func() error {
				a, err := d.try(t, "POST", path, pipe, bytes.NewReader(bomb), "Content-Type", contentType, "Content-Encoding", "zstd")
				if err == nil && a.StatusCode != http.StatusRequestEntityTooLarge {
					err = fmt.Errorf("%s: got %d, want 413", path, a.StatusCode)
				}
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}
