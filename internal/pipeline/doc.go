// Package pipeline has the built-in preprocessing pipelines: Align, which types
// the metadata against the organism's schema and sets every sequence against its
// segment's reference, and Echo, which gives back what it was given. Each makes a
// result of one entry and knows nothing of claims and leases; the worker calls it.
//
// Whatever is wrong with an entry is an error or a warning on it, written for the
// submitter. One entry never affects another.
package pipeline
