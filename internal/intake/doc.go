// Package intake turns an upload into entries: it recognises compression, reads
// metadata TSV and FASTA as streams, joins the two and reports what is wrong
// with file, line and field. Checked entries wait in a compressed spool file, so
// that memory is bounded and no transaction waits for an upload. The submission
// room calls it.
package intake
