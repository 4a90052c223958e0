package httpapi

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// Patient returns a listener for the server: its connections take a write deadline for
// how long a client may take no byte of what is written, however much that is. Without
// it a large write has to be taken whole in that time.
func Patient(l net.Listener) net.Listener { return patientListener{l} }

type patientListener struct{ net.Listener }

// Accept waits for a connection.
func (l patientListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok {
		return &patientConn{TCPConn: tcp}, err
	}
	return c, err
}

// patientConn is a connection whose writes go on while the client takes something.
type patientConn struct {
	*net.TCPConn
	patience atomic.Int64 // nanoseconds; 0: no deadline
}

// patienceSteps is by how much of its patience a write may be off: at the end of a
// step it sees whether any byte was taken within it.
const patienceSteps = 8

// SetDeadline is [net.Conn]'s.
func (c *patientConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetWriteDeadline says how long from now on a write goes on without any byte taken.
func (c *patientConn) SetWriteDeadline(t time.Time) error {
	patience := time.Duration(0)
	if !t.IsZero() {
		patience = max(time.Until(t), time.Nanosecond)
		t = time.Now().Add(patience / patienceSteps)
	}
	c.patience.Store(int64(patience))
	return c.TCPConn.SetWriteDeadline(t)
}

// Write ends with [os.ErrDeadlineExceeded] when nothing was taken for too long.
func (c *patientConn) Write(p []byte) (int, error) {
	taken, last := 0, time.Now()
	for {
		n, err := c.TCPConn.Write(p[taken:])
		taken += n
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return taken, err
		}
		now, patience := time.Now(), time.Duration(c.patience.Load())
		if n > 0 {
			last = now
		}
		left := patience - now.Sub(last)
		if left <= 0 {
			return taken, err
		}
		if failed := c.TCPConn.SetWriteDeadline(now.Add(min(left, patience/patienceSteps+1))); failed != nil {
			return taken, failed
		}
	}
}
