// Package wire measures what goes over HTTP: real server processes on PostgreSQL
// databases or SQLite files, and 64 workers with connections of their own. Workers
// do no work of their own beyond the wire: they send results that were made
// beforehand, with the names that the server gave the entry and the claim. Servers,
// workers and database share the machine.
package wire
