package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/fault/evidence"
)

// recorder writes down each call with its answer. The line is one write to a
// file that is appended to, so that killing the worker leaves it whole or not
// there at all, and never lets the worker act on what isn't written.
type recorder struct {
	worker string
	to     *os.File
	next   http.RoundTripper
}

// RoundTrip sends the request, and reads all of both bodies.
func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	line := evidence.Line{Call: path.Base(request.URL.Path), Worker: r.worker, Sent: evidence.Uptime()}
	var sent []byte
	if request.Body != nil {
		var err error
		sent, err = io.ReadAll(request.Body)
		_ = request.Body.Close() // it was only read
		if err != nil {
			return nil, err
		}
		request = request.Clone(request.Context())
		request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(sent)), int64(len(sent))
	}
	if line.Call == evidence.CallSubmit {
		r.write(evidence.Line{Call: evidence.CallSubmitting, Worker: r.worker, Sent: line.Sent, Got: line.Sent})
	}
	response, err := r.next.RoundTrip(request)
	var got []byte
	if err == nil {
		var cut error
		got, cut = io.ReadAll(response.Body)
		_ = response.Body.Close() // it was only read
		line.Status, line.Whole = response.StatusCode, cut == nil
		if cut != nil {
			line.Error = cut.Error()
		}
		response.Body = io.NopCloser(&replayed{bytes.NewReader(got), cut})
	} else {
		line.Error = err.Error()
	}
	switch line.Call {
	case evidence.CallClaim:
		line.Entries = heldIn(got)
	case evidence.CallSubmit:
		line.Entries = heldIn(sent)
		line.Refused = refusedIn(got)
	case evidence.CallGiveBack:
		line.Entries = returnedIn(sent)
	case evidence.CallRenew:
		line.Entries = renewedIn(sent, got)
	}
	line.Got, line.Clock = evidence.Uptime(), time.Now().Unix()
	r.write(line)
	return response, err
}

func (r *recorder) write(line evidence.Line) {
	text, err := json.Marshal(line)
	if err == nil {
		_, err = r.to.Write(append(text, '\n'))
	}
	if err != nil {
		panic(fmt.Sprintf("a worker that can't write its log proves nothing: %v", err))
	}
}

// replayed is a body that was read, with the error at its end.
type replayed struct {
	*bytes.Reader
	err error
}

func (r *replayed) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err == io.EOF && r.err != nil {
		err = r.err
	}
	return n, err
}

// heldIn reads the entries of as many lines as are whole.
func heldIn(body []byte) []evidence.Held {
	var list []evidence.Held
	for text := range bytes.Lines(body) {
		var h evidence.Held
		if json.Unmarshal(text, &h) == nil && h.Accession != "" {
			list = append(list, h)
		}
	}
	return list
}

// refusedIn reads the refusals of a problem document or of an answer in which
// the others were stored.
func refusedIn(body []byte) []seqlease.Refusal {
	var answer struct {
		Refused []seqlease.Refusal `json:"refused"`
	}
	_ = json.Unmarshal(body, &answer) // another answer names none
	return answer.Refused
}

// returnedIn reads what a worker gives back; a whole lease has no list.
func returnedIn(body []byte) []evidence.Held {
	var call struct {
		AttemptID seqlease.AttemptID          `json:"processingAttemptId"`
		Entries   []seqlease.AccessionVersion `json:"accessionVersions"`
	}
	_ = json.Unmarshal(body, &call) // the worker wrote it
	list := []evidence.Held{{AttemptID: call.AttemptID}}
	for _, av := range call.Entries {
		list = append(list, evidence.Held{AccessionVersion: av, AttemptID: call.AttemptID})
	}
	return list
}

// renewedIn reads which lease is renewed, and for how long: as the server says if
// it answers, or else as was asked.
func renewedIn(sent, got []byte) []evidence.Held {
	var h evidence.Held
	_ = json.Unmarshal(sent, &h) // the worker wrote it
	var answer struct {
		LeaseSeconds int64 `json:"leaseSeconds"`
	}
	_ = json.Unmarshal(got, &answer) // a refusal names none
	h.LeaseSeconds = max(h.LeaseSeconds, answer.LeaseSeconds)
	return []evidence.Held{h}
}
