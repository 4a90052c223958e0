// Package drain measures the queue where it lives: the store is called directly and
// drained by many claimers whose work takes no time, beside other designs of a
// queue on the same server with the same connections, batches and bytes. Every
// contender checks that each entry ended with exactly one result, its own.
package drain
