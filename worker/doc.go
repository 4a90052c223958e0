// Package worker is the loop of a preprocessing pipeline: claim a batch under a
// lease, make a result of every entry, send the results, again. It waits out
// servers that are away and goes on after a batch that it lost. A pipeline is a
// function from an entry to a result; everything about HTTP is in package
// client.
package worker
