package httpapi

import (
	"io"
	"net/http"

	"github.com/seqlease/seqlease/internal/spool"
)

// sendLong sends what answer writes by way of the disk, so that neither the memory
// that it is made from nor the request's places are held for as long as the client
// takes to read it. Nothing that is large may be used by the caller afterwards.
func (s *server) sendLong(w http.ResponseWriter, answer func(http.ResponseWriter)) {
	disk, err := s.submissions.Spool().CreateScratch()
	if err != nil {
		answer(w) // the disk is full: it is told all the same
		return
	}
	defer func() { _ = disk.Close() }() // it is going away
	kept := &keptAnswer{header: w.Header(), disk: disk}
	answer(kept)
	if kept.err != nil {
		answer(w)
		return
	}
	if kept.status != 0 {
		w.WriteHeader(kept.status)
	}
	_, _ = io.Copy(w, disk.Open()) // a client that left finds out by itself
}

// keptAnswer is an answer on disk, but for its header.
type keptAnswer struct {
	header http.Header
	disk   *spool.Scratch
	status int
	err    error
}

// Header is that of the answer itself.
func (k *keptAnswer) Header() http.Header { return k.header }

// WriteHeader keeps the status.
func (k *keptAnswer) WriteHeader(status int) { k.status = status }

// Write keeps the bytes.
func (k *keptAnswer) Write(p []byte) (int, error) {
	n, err := k.disk.Write(p)
	if err != nil {
		k.err = err
	}
	return n, err
}
