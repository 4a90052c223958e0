// Package spool keeps long answers on disk between the database and slow
// clients (L12): one writer fills a temporary, zstd-compressed file at database
// speed, and any number of readers follow it while it grows. A reader sees the
// end only after the writer has closed the file well, and otherwise the writer's
// error, so that a broken answer never looks whole (L15). Beside them it keeps uploads
// under way. A [Dir] bounds the disk space of all its files together. The
// submission and intake rooms and the door use it.
package spool
