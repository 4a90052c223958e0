// Package upload measures uploads of FASTA and TSV over HTTP: against COPY of the
// rows that they become, two at once against one after the other, and how long
// claims wait beside one.
package upload
