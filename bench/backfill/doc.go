// Package backfill measures what a new pipeline version costs: how soon its first
// claim gets work, when every entry waits for it, and how long others wait
// meanwhile. The store and the queue are called directly.
package backfill
