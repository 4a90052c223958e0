// Package organism keeps what is configured about an organism: its metadata
// schema, segments, genes and reference genome, and the rules for processed
// data that follow from them. It is built once at start and read-only from then
// on. The domain rooms and the pipelines read it; it does no input or output.
package organism
