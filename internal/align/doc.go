// Package align sets a genome against the reference of its organism: which base
// stands at which reference position, which bases are inserted, and whether the
// genome belongs to the reference at all. Pure functions on bytes, without input
// or output; the pipeline room calls it.
//
// The method: k-mers that are unique in the reference are chained into anchors,
// and what lies between two anchors is aligned exactly under affine gap costs by
// wavefronts (Marco-Sola et al., Bioinformatics 2021, doi
// 10.1093/bioinformatics/btaa777).
package align
