// Package sqlite is the embedded store: one file, one server process, no set-up.
// It keeps the queue and the entries and implements the Store interfaces of the
// domain rooms; cmd/seqlease opens it.
//
// There is one writer. Requests to write wait in line, and those that wait at
// the same time share a transaction. What was answered survives a power cut: answers
// wait until the log is on the disk, all but those to claims, while the writer goes
// on. Readers have snapshots of their own (WAL) and never wait for the writer. A
// lock on FILE.lock keeps other processes out.
package sqlite
