// Package unpack turns a file that may be compressed into its plain bytes: it
// recognises the format by content, reads all members of concatenated files,
// bounds what comes out and the memory that a decoder takes, and says in words
// for the submitter what is wrong with a file. It keeps the decoders and their
// traps out of the rooms that read what is inside. The intake room calls it.
package unpack
