// Package stored measures how many bytes a processed genome of 30 kb takes: its
// compressed sequences, and the rows on disk with their indexes. Genomes are
// uploaded to a real server, aligned by the product's pipeline, and their genes
// translated.
package stored
