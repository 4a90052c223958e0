// Package client speaks the server's HTTP protocol: one method per call, values
// of the root package in and out, problem documents turned into the root
// package's errors. It never repeats a call by itself; package worker and the
// command line decide what is safe to repeat.
package client
