// Package reprocess is the life of a pipeline version: it registers itself with
// its first claim, every entry gets a ticket for it while work goes on, it becomes
// current when it is complete, and its rows go when newer ones have been current. It
// keeps versions, their ceiling and the pace of all that out of the queue and the
// stores. The queue calls it when a claim finds no version or no work; it calls
// its [Store].
package reprocess
