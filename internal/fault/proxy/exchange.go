package proxy

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// The longest waits. A delayed repetition may come after the lease has ended.
const (
	longestDelay  = 2 * time.Second
	longestReplay = 12 * time.Second
	slowStep      = 20 * time.Millisecond
	slowBytes     = 512
)

// serve passes the requests of one connection on, one after the other.
func (p *Proxy) serve(c net.Conn) {
	for {
		var raw bytes.Buffer
		// A reader of its own for each request: clients don't send the next one early.
		request, err := http.ReadRequest(bufio.NewReader(io.TeeReader(c, &raw)))
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, request.Body); err != nil {
			return // the client cut it
		}
		if !p.exchange(c, request, raw.Bytes()) {
			return
		}
	}
}

// exchange does one request and says whether the connection is still good.
func (p *Proxy) exchange(c net.Conn, request *http.Request, raw []byte) bool {
	kind, random := p.draw(request)
	switch kind {
	case Delay:
		p.wait(random, longestDelay)
	case DropRequest:
		reset(c)
		return false
	case CutRequest:
		p.sendPart(raw[:random.IntN(len(raw))])
		reset(c)
		return false
	case Replay:
		p.repeat(request, raw)
	case ReplayLate:
		p.running.Go(func() {
			if p.wait(random, longestReplay) {
				p.repeat(request, raw)
			}
		})
	default: // what happens to the answer
	}
	return p.pass(c, request, raw, answerFault{kind, random})
}

// pass sends the request to the server and its answer to the client.
func (p *Proxy) pass(c net.Conn, request *http.Request, raw []byte, fault answerFault) bool {
	server, ok := p.dial()
	if !ok {
		reset(c)
		return false
	}
	defer p.forget(server)
	if _, err := server.Write(raw); err != nil {
		reset(c)
		return false
	}
	to := fault.writer(p, c)
	response, err := http.ReadResponse(bufio.NewReader(io.TeeReader(server, to)), request)
	if err == nil {
		_, err = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close() // it was only read
	}
	switch {
	case errors.Is(err, errEnough) && fault.kind == CloseAnswer:
		reset(server)
		return false // and c is closed in good order
	case err != nil || fault.kind == DropAnswer:
		reset(server)
		reset(c)
		return false
	}
	return !response.Close && !request.Close
}

// repeat sends the request on a connection of its own and reads all of the answer.
func (p *Proxy) repeat(request *http.Request, raw []byte) {
	server, ok := p.dial()
	if !ok {
		return
	}
	defer p.forget(server)
	if _, err := server.Write(raw); err != nil {
		return
	}
	if response, err := http.ReadResponse(bufio.NewReader(server), request); err == nil {
		_, _ = io.Copy(io.Discard, response.Body) // nobody waits for it
		_ = response.Body.Close()
	}
}

// sendPart sends the beginning of a request, and breaks the connection.
func (p *Proxy) sendPart(part []byte) {
	if server, ok := p.dial(); ok {
		defer p.forget(server)
		_, _ = server.Write(part) // what doesn't arrive is cut earlier
		reset(server)
	}
}

func (p *Proxy) dial() (net.Conn, bool) {
	var dialer net.Dialer
	server, err := dialer.DialContext(p.ctx, "tcp", p.target)
	if err != nil {
		return nil, false
	}
	return server, p.track(server)
}

// wait waits for a random time and says whether the proxy is still open then.
func (p *Proxy) wait(random *rand.Rand, longest time.Duration) bool {
	return p.pause(time.Duration(random.Int64N(int64(longest))))
}

func (p *Proxy) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.ctx.Done():
		return false
	}
}

// errEnough ends an answer that is to be cut.
var errEnough = errors.New("the answer is cut here")

// answerFault is what happens to an answer.
type answerFault struct {
	kind   Kind
	random *rand.Rand
}

// writer passes an answer on to the client as the fault wants it.
func (f answerFault) writer(p *Proxy, c net.Conn) io.Writer {
	switch f.kind {
	case DropAnswer:
		return io.Discard
	case CutAnswer, CloseAnswer:
		return &cutting{c, f.random.IntN(4 << 10)}
	case SlowAnswer:
		return &slow{p, c}
	default:
		return c
	}
}

// cutting passes a number of bytes on.
type cutting struct {
	to   io.Writer
	left int
}

func (w *cutting) Write(b []byte) (int, error) {
	if len(b) <= w.left {
		w.left -= len(b)
		return w.to.Write(b)
	}
	n, err := w.to.Write(b[:w.left])
	w.left = 0
	return n, errors.Join(err, errEnough)
}

// slow passes bytes on a few at a time.
type slow struct {
	proxy *Proxy
	to    io.Writer
}

func (w *slow) Write(b []byte) (int, error) {
	done := 0
	for len(b) > 0 {
		n, err := w.to.Write(b[:min(len(b), slowBytes)])
		done += n
		if err != nil {
			return done, err
		}
		b = b[n:]
		w.proxy.pause(slowStep)
	}
	return done, nil
}
