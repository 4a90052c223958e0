// Package reprocess is the life of a pipeline version: it registers itself with
// its first claim, and every entry gets a ticket for it while work goes on. It
// keeps versions, their ceiling and the pace of backfills out of the queue and the
// stores. The queue calls it when a claim finds no version or no work; it calls
// its [Store].
package reprocess
