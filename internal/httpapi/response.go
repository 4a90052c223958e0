package httpapi

import (
	"fmt"
	"net/http"
	"time"
)

// stallTimeout is how long a client may take no byte of an answer, or send next
// to nothing of a body, before it is cut off.
const stallTimeout = 60 * time.Second

// deadlineSteps is by how much of the stall timeout a deadline may be off, so
// that not every write moves it: a second of a minute.
const deadlineSteps = 64

// response is the writer that handlers see: it notes what was answered and cuts
// off clients that stall. There is no limit on how long an answer takes that is
// being read.
type response struct {
	http.ResponseWriter
	control  *http.ResponseController
	stall    time.Duration
	deadline time.Time // when it was set last
	status   int       // 0: nothing sent yet
	bytes    int64
	user     string // for the access log
	// unread: nothing of the request's body was read. Of such a body net/http reads some
	// before it sends the answer, for as long as the client likes to keep it waiting.
	unread bool
	// beforeAnswer, if set, is called once before anything is sent, which may take
	// as long as the client likes.
	beforeAnswer func()
}

func newResponse(w http.ResponseWriter, stall time.Duration) *response {
	return &response{ResponseWriter: w, control: http.NewResponseController(w), stall: stall}
}

// Unwrap lets [http.ResponseController] reach the connection.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader notes the status.
func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.release()
	w.moveDeadline()
	w.dismissBody()
	w.ResponseWriter.WriteHeader(status)
}

// Write gives the client another stall timeout to take some of the bytes ([Patient]).
func (w *response) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.moveDeadline()
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	if err != nil {
		return n, fmt.Errorf("send answer: %w", err)
	}
	return n, nil
}

// FlushError sends what is buffered; [http.ResponseController] calls it.
func (w *response) FlushError() error {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.moveDeadline()
	if err := w.control.Flush(); err != nil {
		return fmt.Errorf("send answer: %w", err)
	}
	return nil
}

// release gives up what the request holds. It is for those that send nothing, too.
func (w *response) release() {
	if w.beforeAnswer != nil {
		w.beforeAnswer()
		w.beforeAnswer = nil
	}
}

// dismissBody bounds how long an unread body is waited for, so that there is time left
// for the client to take the answer. When the body ends, net/http lifts the deadline.
func (w *response) dismissBody() {
	if w.unread {
		_ = w.control.SetReadDeadline(time.Now().Add(w.stall / 2)) // not supported by recorders in tests: no limit there
	}
}

func (w *response) moveDeadline() {
	if now := time.Now(); now.Sub(w.deadline) > w.stall/deadlineSteps {
		w.deadline = now
		_ = w.control.SetWriteDeadline(now.Add(w.stall)) // not supported by recorders in tests: no limit there
	}
}
