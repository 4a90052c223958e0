// Package genome has what the bench's contenders process: SARS-CoV-2 with its
// reference, its genes and its real genomes, genomes generated from the
// reference, and a small made-up virus for entries of a kilobyte. The results are
// those of the align pipeline, with the genes translated beside it.
package genome
