// Package ndjson reads and writes newline-delimited JSON at both ends of the
// wire: lines of bounded length whatever ends them, and lines that every reader
// takes for one. It keeps line handling and its limits out of the HTTP door,
// the client and the program runner, which call it.
package ndjson
