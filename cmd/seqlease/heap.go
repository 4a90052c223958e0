package main

import (
	"os"
	"runtime/debug"
)

// By default the heap grows by what lives on it before it is collected. What lives in
// a server is some 20 MB, and workers that bring in genomes make as much garbage
// twenty times a second. So a small heap may grow more; at the limit, which leaves
// room within the 256 MiB that a server may take, it is collected as before.
const (
	heapPercent = 300
	heapLimit   = 160 << 20 // bytes
)

// roomyHeap lets the heap grow so until restore is called, unless whoever runs the
// server has decided otherwise.
func roomyHeap() (restore func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	percent, limit := debug.SetGCPercent(heapPercent), debug.SetMemoryLimit(heapLimit)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}
