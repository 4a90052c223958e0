//go:build linux

package fault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/seqlease/seqlease/client"
	"github.com/seqlease/seqlease/internal/fault/evidence"

	"github.com/seqlease/seqlease"
)

// slowReaders is how many clients read slowly at once, and slowClaims how many of
// them claim: what they ask for nobody else gets until they are gone.
const (
	slowReaders = 64
	slowClaims  = 4
)

// slowBuffer is what a slow client's socket holds: the smaller, the sooner the
// server has to wait.
const slowBuffer = 4 << 10

// readLimit is how long a client that reads on may take for everything.
const readLimit = 30 * time.Second

// readSlowly lets clients ask for everything that is released, or for entries to
// work on, and then hardly read (L12, B040). What is released is more than
// sockets hold, if the fleet has a large upload.
func (f *Fleet) readSlowly(ctx context.Context, random *rand.Rand) error {
	if err := f.releaseLarge(ctx); err != nil {
		return err
	}
	connections := f.slowConnections(ctx)
	defer func() {
		for _, c := range connections {
			_ = c.Close() // the server sees a client that has left
		}
	}()
	f.tell("%d slow readers", len(connections))
	from := evidence.Uptime()
	for end := time.Now().Add(between(random, 6*time.Second, 9*time.Second)); time.Now().Before(end) && ctx.Err() == nil; {
		for _, c := range connections {
			_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
			_, _ = c.Read(make([]byte, 16)) // whatever comes
		}
		pause(ctx, time.Second)
	}
	until := evidence.Uptime()
	var got int64
	if len(connections) > 0 { // the first one doesn't claim
		_ = connections[0].SetReadDeadline(time.Now().Add(readLimit))
		got, _ = io.Copy(io.Discard, connections[0]) // another fault may have ended it
	}
	f.lasted(Spell{Kind: SlowReaders, Span: evidence.Span{From: from, Until: until}, Bytes: got})
	return nil
}

// releaseLarge approves what is processed; the large upload is to be among it.
func (f *Fleet) releaseLarge(ctx context.Context) error {
	if f.options.LargeBytes > 0 {
		large, accepted := f.submit.largeStored(), f.accepted()
		for _, av := range large {
			if !accepted[av] {
				return errBusy
			}
		}
		if len(large) == 0 {
			return errBusy
		}
	}
	submitter, err := f.direct(f.settings.submitter)
	if err != nil {
		return err
	}
	if _, err := submitter.Approve(ctx, organism, client.Approval{Scope: seqlease.ApproveAll}); err != nil {
		return errors.Join(errBusy, err) // the server is in another fault's hands
	}
	return nil
}

// slowConnections connects to the servers past the network's faults, and asks.
func (f *Fleet) slowConnections(ctx context.Context) []net.Conn {
	dialer := net.Dialer{Control: func(_, _ string, c syscall.RawConn) (err error) {
		// Once it is connected it would be too late: its size is told to the server then.
		return errors.Join(c.Control(func(fd uintptr) {
			err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, slowBuffer)
		}), err)
	}}
	var connections []net.Conn
	for i := range slowReaders {
		c, err := dialer.DialContext(ctx, "tcp", f.servers[i%len(f.servers)].address)
		if err != nil {
			continue // the server is away
		}
		connections = append(connections, c)
		request := fmt.Sprintf("GET /%s/get-released-data HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", organism)
		if i >= slowReaders-slowClaims {
			form := fmt.Sprintf("numberOfSequenceEntries=100&pipelineVersion=1&leaseSeconds=%d&workerId=slow", leaseSeconds)
			request = fmt.Sprintf("POST /%s/extract-unprocessed-data HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"+
				"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s", organism, f.settings.pipeline, len(form), form)
		}
		_, _ = io.Copy(c, strings.NewReader(request)) // a server that is away by now isn't read from
	}
	return connections
}
