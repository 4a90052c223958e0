// Package postgres keeps entries and the processing queue in PostgreSQL (13 or
// later), which any number of servers may share. It implements the Stores of
// the queue and submission rooms and keeps SQL, snapshots, locks and retries
// out of them.
//
// Everything runs at READ COMMITTED. Locks are taken in the order entry, lease,
// ticket, result, each by key; claims only skip locked rows and never wait for
// one. Nothing depends on a session, so a pooler in transaction mode may stand
// in between; with default_query_exec_mode=exec in the address no prepared
// statement is used either. No method asks for a second connection while it
// holds one.
package postgres
