package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/ndjson"
)

// DefaultSilence is how long a call waits without a byte moving in either
// direction. The server promises an answer within 30 s (protocol).
const DefaultSilence = 60 * time.Second

// maxDocument bounds an answer that is read into memory as a whole: a listing of
// a million entries has 300 MB.
const maxDocument = 512 << 20

// maxLine bounds a line of an answer. Lines of results have at most
// [ndjson.DefaultLimit] bytes; released lines repeat such a result with the
// system's own fields added.
const maxLine = 2 * ndjson.DefaultLimit

// Client calls one server with one token. It may be used concurrently.
type Client struct {
	base    string
	token   string
	http    *http.Client
	silence time.Duration
}

// Option changes how a [Client] works.
type Option func(*Client)

// WithHTTP uses the given HTTP client instead of one of its own. Its Timeout
// should be 0, because it would cut long streams.
func WithHTTP(c *http.Client) Option { return func(client *Client) { client.http = c } }

// WithSilence replaces [DefaultSilence].
func WithSilence(d time.Duration) Option { return func(client *Client) { client.silence = d } }

// New returns a client of the server at base, such as http://127.0.0.1:8079. An
// empty token sends none: enough for what is public.
func New(base, token string, options ...Option) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("server address: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("server address %q: write it like http://127.0.0.1:8079", base)
	}
	c := &Client{base: strings.TrimRight(base, "/"), token: token, silence: DefaultSilence}
	for _, option := range options {
		option(c)
	}
	if c.http == nil {
		c.http = &http.Client{CheckRedirect: noRedirect}
	}
	return c, nil
}

// Apart returns a client of the same server and token whose calls share no
// connection and no limit on connections with those of c, so that a short call
// never waits behind a long one. A transport that isn't an [*http.Transport] can't
// be copied and is shared. Call [Client.CloseIdle] when it is no longer used.
func (c *Client) Apart() *Client {
	apart := *c
	transport := c.http.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	if own, ok := transport.(*http.Transport); ok {
		separate := *c.http
		separate.Transport = own.Clone()
		apart.http = &separate
	}
	return &apart
}

// CloseIdle closes connections that no call uses.
func (c *Client) CloseIdle() { c.http.CloseIdleConnections() }

// noRedirect stops at a redirect: the server sends none, and following one would
// turn a POST into a GET and carry the token elsewhere.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Ready says whether the server can serve requests.
func (c *Client) Ready(ctx context.Context) error {
	answer, err := c.send(ctx, call{method: http.MethodGet, path: "/readyz"})
	if err != nil {
		return fmt.Errorf("ask whether the server is ready: %w", err)
	}
	answer.close()
	return nil
}

// organismPath returns the path of an organism's call.
func organismPath(o seqlease.Organism, name string) string {
	return "/" + url.PathEscape(string(o)) + "/" + name
}

// call is one request. A nil accept takes every 2xx status.
type call struct {
	method      string
	path        string
	query       url.Values
	contentType string
	body        io.Reader
	ifNoneMatch string
	// idempotencyKey is sent if it isn't empty.
	idempotencyKey string
	// patience is added to the silence until the answer begins.
	patience time.Duration
}

// answer is a response whose status is 2xx or 304.
type answer struct {
	status int
	header http.Header
	body   io.Reader
	close  func()
}

// errSilent ends a call in which nothing moved for too long.
var errSilent = errors.New("no byte came or went for too long")

// send sends the request and returns the answer, whose close must be called. An
// answer with another status is an error as [problemOf] makes it.
func (c *Client) send(ctx context.Context, k call) (*answer, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	watch := time.AfterFunc(c.silence+k.patience, func() {
		cancel(fmt.Errorf("%w (%s)", errSilent, c.silence))
	})
	alive := func() { watch.Reset(c.silence) }
	stop := func() {
		watch.Stop()
		cancel(context.Canceled)
	}
	explain := func(err error) error { return causeOf(ctx, err) }
	request, err := c.request(ctx, k, alive)
	if err != nil {
		stop()
		return nil, err
	}
	response, err := c.http.Do(request) //nolint:bodyclose // the answer closes it, or the lines below
	if err != nil {
		err = causeOf(ctx, err)
		stop()
		return nil, err
	}
	alive()
	body := watchedReader{reader: response.Body, alive: alive, explain: explain}
	if response.StatusCode/100 == 2 || response.StatusCode == http.StatusNotModified {
		return &answer{
			status: response.StatusCode, header: response.Header, body: body,
			close: func() {
				stop() // first, so that closing doesn't read on
				_ = response.Body.Close()
			},
		}, nil
	}
	err = problemOf(response, body)
	stop()
	_ = response.Body.Close()
	return nil, err
}

func (c *Client) request(ctx context.Context, k call, alive func()) (*http.Request, error) {
	address := c.base + k.path
	if len(k.query) > 0 {
		address += "?" + k.query.Encode()
	}
	body := k.body
	if _, small := body.(*strings.Reader); body != nil && !small {
		body = watchedReader{reader: body, alive: alive, explain: func(err error) error { return err }}
	}
	request, err := http.NewRequestWithContext(ctx, k.method, address, body)
	if err != nil {
		return nil, err
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	if k.contentType != "" {
		request.Header.Set("Content-Type", k.contentType)
	}
	if k.ifNoneMatch != "" {
		request.Header.Set("If-None-Match", k.ifNoneMatch)
	}
	if k.idempotencyKey != "" {
		request.Header.Set("Idempotency-Key", k.idempotencyKey)
	}
	return request, nil
}

// causeOf names what ended the call where the context knows better than the
// HTTP library.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(cause, errSilent) {
		return cause
	}
	return err
}

// watchedReader notes that the call is alive with every read, and explains why
// reading ended.
type watchedReader struct {
	reader  io.Reader
	alive   func()
	explain func(error) error
}

func (r watchedReader) Read(p []byte) (int, error) {
	n, err := r.reader.Read(p)
	if n > 0 {
		r.alive()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = r.explain(err)
	}
	return n, err
}

// document sends the request and reads the answer as one JSON document.
func (c *Client) document(ctx context.Context, k call, into any) error {
	answer, err := c.send(ctx, k)
	if err != nil {
		return err
	}
	defer answer.close()
	if err := expectType(answer, "application/json"); err != nil {
		return err
	}
	if err := json.UnmarshalRead(io.LimitReader(answer.body, maxDocument), into); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return nil
}

// expectType refuses an answer that isn't what the server sends, such as the
// HTML page of a proxy (B091).
func expectType(a *answer, want string) error {
	got, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
	if strings.TrimSpace(got) != want {
		return fmt.Errorf("the answer is %q, not %s: is this the address of a seqlease server?", got, want)
	}
	return nil
}

// jsonCall returns a POST of a JSON document.
func jsonCall(path string, document any) (call, error) {
	body, err := json.Marshal(document)
	if err != nil {
		return call{}, err
	}
	return call{method: http.MethodPost, path: path, contentType: "application/json", body: strings.NewReader(string(body))}, nil
}

// post sends a JSON document and reads one.
func (c *Client) post(ctx context.Context, path string, document, into any) error {
	k, err := jsonCall(path, document)
	if err != nil {
		return err
	}
	return c.document(ctx, k, into)
}
