// Package evidence says whether a run kept the promises of the queue. It is
// given what the worker processes wrote down, what the server says and what
// the database holds, and believes none of them alone. It imports neither the
// domain nor the stores, whose mistakes it is there to find.
package evidence
