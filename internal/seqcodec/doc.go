// Package seqcodec compresses documents that hold sequences with zstd, using an
// organism's reference genome as dictionary: a genome that differs little from
// its reference takes a hundred bytes or two. It is pure: the stores keep the
// dictionaries and record beside each row which one was used.
package seqcodec
