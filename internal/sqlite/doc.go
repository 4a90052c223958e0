// Package sqlite is the embedded store: one file, one server process, no set-up.
// It keeps the queue and the entries and implements the Store interfaces of the
// domain rooms; cmd/seqlease opens it.
//
// There is one writer. Requests to write wait in line, and those that wait at
// the same time share a transaction and its fsync (synchronous=FULL: what was
// answered survives a power cut). Readers have snapshots of their own (WAL) and
// never wait for the writer. A lock on FILE.lock keeps other processes out.
package sqlite
