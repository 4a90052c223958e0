package proxy_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seqlease/seqlease/internal/fault/proxy"
)

// answer is long enough to be cut anywhere.
var answer = strings.Repeat("0123456789abcdef", 64<<10/16)

// site is a server behind a proxy that fails every request in one way.
type site struct {
	proxy  *proxy.Proxy
	client *http.Client

	mu     sync.Mutex
	bodies []string      // that the server got whole
	got    chan struct{} // one for each
}

func newSite(t *testing.T, kind proxy.Kind) *site {
	t.Helper()
	s := &site{got: make(chan struct{}, 10)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.bodies = append(s.bodies, r.Method+" "+string(body))
		s.mu.Unlock()
		s.got <- struct{}{}
		_, _ = io.WriteString(w, answer)
	}))
	var err error
	s.proxy, err = proxy.New(t.Context(), server.Listener.Addr().String(), 1, func(r *http.Request) bool { return r.Method == http.MethodPost })
	if err != nil {
		t.Fatal(err)
	}
	s.client = &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}
	t.Cleanup(func() {
		if err := s.proxy.Close(); err != nil {
			t.Error(err)
		}
		server.Close()
	})
	if kind != proxy.None {
		s.proxy.Disturb(1, kind)
	}
	return s
}

// call sends a body and returns what came of the answer.
func (s *site) call(ctx context.Context, method, body string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+s.proxy.Address, io.NopCloser(strings.NewReader(body))) // chunked
	if err != nil {
		return "", err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	var got bytes.Buffer
	_, err = io.Copy(&got, response.Body)
	return got.String(), err
}

// reached waits until the server has got n requests, and returns them.
func (s *site) reached(n int) []string {
	for range n {
		<-s.got
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bodies
}

func TestProxy(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind    proxy.Kind
		answers bool // whole
		arrives int  // how often the request does, whole
	}{
		{proxy.None, true, 1},
		{proxy.Delay, true, 1},
		{proxy.SlowAnswer, true, 1},
		{proxy.DropRequest, false, 0},
		{proxy.CutRequest, false, 0},
		{proxy.DropAnswer, false, 1},
		{proxy.CutAnswer, false, 1},
		{proxy.CloseAnswer, false, 1},
		{proxy.Replay, true, 2},
		{proxy.ReplayLate, true, 2},
	} {
		t.Run(string(test.kind), func(t *testing.T) {
			t.Parallel()
			s := newSite(t, test.kind)
			got, err := s.call(t.Context(), http.MethodPost, "results")
			if test.answers && (err != nil || got != answer) {
				t.Errorf("%d bytes of the answer came, %v", len(got), err)
			}
			if !test.answers && err == nil {
				t.Errorf("an answer of %d bytes of %d seemed whole", len(got), len(answer))
			}
			for _, body := range s.reached(test.arrives) {
				if body != "POST results" {
					t.Errorf("%q arrived", body)
				}
			}
			if n := s.proxy.Counts()[test.kind]; test.kind != proxy.None && n != 1 {
				t.Errorf("counted %d times, want 1", n)
			}
			s.proxy.Disturb(0)
			if got, err := s.call(t.Context(), http.MethodPost, "again"); err != nil || got != answer {
				t.Errorf("after the fault %d bytes of the answer came, %v", len(got), err)
			}
		})
	}
}

// TestProxy_RepeatsWhatIsRepeatable: others pass as they are, and aren't counted.
func TestProxy_RepeatsWhatIsRepeatable(t *testing.T) {
	t.Parallel()
	s := newSite(t, proxy.Replay)
	if _, err := s.call(t.Context(), http.MethodPut, "upload"); err != nil {
		t.Fatal(err)
	}
	if bodies := s.reached(1); len(bodies) != 1 || len(s.proxy.Counts()) != 0 {
		t.Errorf("%v arrived, counted %v", bodies, s.proxy.Counts())
	}
}

// TestProxy_ResetAll: who waits for an answer sees a reset.
func TestProxy_ResetAll(t *testing.T) {
	t.Parallel()
	arrived, leave := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(arrived)
		<-leave
	}))
	defer server.Close()
	defer close(leave)
	p, err := proxy.New(t.Context(), server.Listener.Addr().String(), 1, func(*http.Request) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	s := &site{proxy: p, client: &http.Client{Transport: &http.Transport{}}}
	failed := make(chan error, 1)
	go func() {
		_, err := s.call(t.Context(), http.MethodPost, "x")
		failed <- err
	}()
	<-arrived
	p.ResetAll()
	if err := <-failed; !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the client saw %v, want a reset", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
