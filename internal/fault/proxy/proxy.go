package proxy

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
)

// Kind is a way in which the network fails a request.
type Kind string

// The kinds of faults.
const (
	None        Kind = ""
	Delay       Kind = "request delayed"
	DropRequest Kind = "request dropped"     // the server never sees it
	CutRequest  Kind = "request cut"         // the server sees a part
	DropAnswer  Kind = "answer dropped"      // the server did it, the client doesn't know
	CutAnswer   Kind = "answer cut"          // reset after a part of it
	CloseAnswer Kind = "answer closed early" // closed in good order after a part of it
	SlowAnswer  Kind = "answer slow"
	Replay      Kind = "request replayed"       // at once, before the client's own
	ReplayLate  Kind = "request replayed later" // seconds after the answer
)

// Kinds are all of them.
var Kinds = []Kind{Delay, DropRequest, CutRequest, DropAnswer, CutAnswer, CloseAnswer, SlowAnswer, Replay, ReplayLate}

// Proxy passes connections on to a server. Close it.
type Proxy struct {
	// Address is where it listens, HOST:PORT.
	Address string
	target  string
	listen  net.Listener
	// repeatable says which requests may be repeated.
	repeatable func(*http.Request) bool
	ctx        context.Context // ends everything that the proxy runs
	stop       context.CancelFunc
	running    sync.WaitGroup

	mu     sync.Mutex
	chance float64
	kinds  []Kind
	next   []Kind // that are still to come before each kind comes again
	random *rand.Rand
	counts map[Kind]int
	open   map[net.Conn]bool
}

// New starts a proxy on a free port of the loopback before the server at target,
// HOST:PORT. It lets everything pass until [Proxy.Disturb], and repeats only what
// is repeatable.
func New(ctx context.Context, target string, seed uint64, repeatable func(*http.Request) bool) (*Proxy, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{
		Address: listener.Addr().String(), target: target, listen: listener, repeatable: repeatable,
		random: rand.New(rand.NewPCG(seed, 1)),
		counts: map[Kind]int{}, open: map[net.Conn]bool{},
	}
	p.ctx, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	p.running.Go(p.accept)
	return p, nil
}

// Disturb lets each request fail with the given chance, in one of the kinds. A
// chance of 0 lets everything pass.
func (p *Proxy) Disturb(chance float64, kinds ...Kind) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.chance, p.kinds, p.next = chance, kinds, nil
}

// Counts returns how often each kind has happened.
func (p *Proxy) Counts() map[Kind]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	counts := map[Kind]int{}
	for kind, n := range p.counts {
		counts[kind] = n
	}
	return counts
}

// ResetAll breaks every connection that is open.
func (p *Proxy) ResetAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		reset(c)
	}
}

// Close ends every connection and waits until nothing runs.
func (p *Proxy) Close() error {
	p.stop()
	err := p.listen.Close()
	p.ResetAll()
	p.running.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		c, err := p.listen.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			continue // too many open files, or a client that has left already
		}
		p.running.Go(func() {
			if p.track(c) {
				defer p.forget(c)
				p.serve(c)
			}
		})
	}
}

// track notes a connection, so that it can be reset, unless the proxy is closing.
func (p *Proxy) track(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		reset(c)
		return false
	}
	p.open[c] = true
	return true
}

func (p *Proxy) forget(c net.Conn) {
	_ = c.Close() // it may be closed already
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
}

// draw decides about a request. Only calls that say how they bear it are
// repeated: an upload that comes twice is two uploads.
func (p *Proxy) draw(r *http.Request) (Kind, *rand.Rand) {
	p.mu.Lock()
	defer p.mu.Unlock()
	random := rand.New(rand.NewPCG(p.random.Uint64(), 2))
	if len(p.kinds) == 0 || p.random.Float64() >= p.chance {
		return None, random
	}
	if len(p.next) == 0 { // each kind has its turn, in an order of chance
		p.next = slices.Clone(p.kinds)
		p.random.Shuffle(len(p.next), func(i, j int) { p.next[i], p.next[j] = p.next[j], p.next[i] })
	}
	kind := p.next[0]
	if (kind == Replay || kind == ReplayLate) && !p.repeatable(r) {
		return None, random // the next request may be
	}
	p.next = p.next[1:]
	p.counts[kind]++
	return kind, random
}

// reset closes the connection so that the other side sees a reset and no end.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0) // a connection that is gone can't be reset
	}
	_ = c.Close()
}
