package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/bench/genome"
)

// Replies are the lines of results, made beforehand, of samples. Only the names of the
// entry and of the claim go before each.
type Replies [][]byte

// NewReplies makes the lines.
func NewReplies(samples []genome.Sample) (Replies, error) {
	r := make(Replies, len(samples))
	for i, s := range samples {
		var err error
		if r[i], err = json.Marshal(struct {
			Data     seqlease.ProcessedData `json:"data"`
			Errors   []seqlease.Annotation  `json:"errors"`
			Warnings []seqlease.Annotation  `json:"warnings"`
		}{s.Result.Data, s.Result.Errors, s.Result.Warnings}); err != nil {
			return nil, err
		}
		r[i] = append(r[i][1:], '\n') // without the brace, which the head has
	}
	return r, nil
}

// append appends the parts of the line of an entry.
func (r Replies) append(parts [][]byte, e claimed) [][]byte {
	head := fmt.Appendf(nil, `{"accession":"%s","version":%s,"processingAttemptId":"%s",`, e.accession, e.version, e.attempt)
	return append(parts, head, r[e.number%len(r)])
}

// claimed is what a worker needs to know of a claimed entry.
type claimed struct {
	number                      int // of the entry in the upload
	accession, version, attempt string
}

// replayer is a worker that looks for the names in the lines that it gets, without
// decoding them, and sends lines made beforehand.
type replayer struct {
	http     *http.Client
	base     string // up to the call
	token    string
	replies  Replies
	lines    *bufio.Reader
	workerID string
}

// longestLine is longer than the line of any entry here.
const longestLine = 128 << 10

func newReplayer(s *Site, number int, replies Replies, transport *http.Transport) *replayer {
	return &replayer{
		http: &http.Client{Transport: transport}, base: s.Servers[number%len(s.Servers)].URL + "/" + string(s.Organism.Key) + "/",
		token: s.settings.pipeline, replies: replies, lines: bufio.NewReaderSize(nil, longestLine), workerID: "bench-" + strconv.Itoa(number),
	}
}

func (w *replayer) post(ctx context.Context, path, contentType string, body io.Reader, length int64) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.base+path, body)
	if err != nil {
		return nil, err
	}
	request.ContentLength = length
	request.Header.Set("Authorization", "Bearer "+w.token)
	request.Header.Set("Content-Type", contentType)
	return w.http.Do(request)
}

// claim claims a batch and reads all of it.
func (w *replayer) claim(ctx context.Context, entries, waitSeconds int) ([]claimed, error) {
	form := url.Values{
		"numberOfSequenceEntries": {strconv.Itoa(entries)}, "pipelineVersion": {"1"}, "waitSeconds": {strconv.Itoa(waitSeconds)}, "workerId": {w.workerID},
	}.Encode()
	answer, err := w.post(ctx, "extract-unprocessed-data", "application/x-www-form-urlencoded", bytes.NewReader([]byte(form)), int64(len(form)))
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }() // it was read to its end, or failed
	if answer.StatusCode != http.StatusOK {
		return nil, unexpected(answer)
	}
	batch := make([]claimed, 0, entries)
	for w.lines.Reset(answer.Body); ; {
		line, err := w.lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return batch, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read a claim: %w", err)
		}
		entry, err := namesOf(line)
		if err != nil {
			return nil, err
		}
		batch = append(batch, entry)
	}
}

// submit sends the results of a batch, and says how many of them were refused.
func (w *replayer) submit(ctx context.Context, batch []claimed) (refused int, err error) {
	body := &parts{}
	for _, e := range batch {
		body.list = w.replies.append(body.list, e)
	}
	for _, p := range body.list {
		body.length += int64(len(p))
	}
	answer, err := w.post(ctx, "submit-processed-data?pipelineVersion=1", "application/x-ndjson", body, body.length)
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	switch answer.StatusCode {
	case http.StatusNoContent:
		return 0, nil
	case http.StatusUnprocessableEntity:
		var problem struct {
			Refused []seqlease.Refusal `json:"refused"`
		}
		if err := json.UnmarshalRead(answer.Body, &problem); err != nil || len(problem.Refused) == 0 {
			return 0, errors.Join(errors.New("refused results without their names"), err)
		}
		return len(problem.Refused), nil
	default:
		return 0, unexpected(answer)
	}
}

func unexpected(answer *http.Response) error {
	said, _ := io.ReadAll(io.LimitReader(answer.Body, 1000))
	return fmt.Errorf("%s %s: %s: %s", answer.Request.Method, answer.Request.URL.Path, answer.Status, said)
}

// namesOf finds the names in the line of a claimed entry: the accession is its first
// member, and the others come after the data.
func namesOf(line []byte) (e claimed, err error) {
	missing := func(name string) error { return fmt.Errorf("no %s in the line %.200q", name, line) }
	text := func(name string, at int) string {
		if at < 0 {
			err = missing(name)
			return ""
		}
		value := line[at+len(name)+len(`"":"`):]
		end := bytes.IndexByte(value, '"')
		if end < 0 {
			err = missing(name)
			return ""
		}
		return string(value[:end])
	}
	e.accession = text("accession", bytes.Index(line, []byte(`"accession":"`)))
	e.attempt = text("processingAttemptId", bytes.LastIndex(line, []byte(`"processingAttemptId":"`)))
	id := text("submissionId", bytes.LastIndex(line, []byte(`"submissionId":"`)))
	if err != nil {
		return e, err
	}
	_, rest, found := bytes.Cut(line, []byte(`,"version":`))
	digits := len(rest) - len(bytes.TrimLeft(rest, "0123456789"))
	if !found || digits == 0 {
		return e, missing("version")
	}
	e.version = string(rest[:digits])
	if len(id) < len(idPrefix) {
		return e, missing("submissionId")
	}
	e.number, err = strconv.Atoi(id[len(idPrefix):])
	return e, err
}

// parts is a body of parts that aren't copied together.
type parts struct {
	list   [][]byte
	length int64
	at     int // in the first of the list
}

// Read gives what fits.
func (b *parts) Read(p []byte) (n int, err error) {
	for n < len(p) && len(b.list) > 0 {
		copied := copy(p[n:], b.list[0][b.at:])
		n, b.at = n+copied, b.at+copied
		if b.at == len(b.list[0]) {
			b.list, b.at = b.list[1:], 0
		}
	}
	if n == 0 && len(b.list) == 0 {
		return 0, io.EOF
	}
	return n, nil
}
