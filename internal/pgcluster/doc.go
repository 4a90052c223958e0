// Package pgcluster starts throw-away PostgreSQL servers for tests and
// benchmarks, as root or not, and makes empty databases on them. It keeps
// process handling and binary paths out of the tests. Only test files and the
// benchmark import it; the product never does.
//
// With SEQLEASE_TEST_POSTGRES set to the address of a running server whose user
// may create databases, that server is used instead of a fresh one.
package pgcluster
