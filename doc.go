// Package seqlease holds the words of the whole system: accessions, attempts,
// statuses, what a pipeline is given and what it sends back, and the errors
// that every room speaks. It does no input or output and imports only the
// standard library, so that every other package may import it.
//
// The system is a backend for a virus-sequence database. Submitted entries wait
// as tickets; a preprocessing pipeline claims a batch under a lease (an attempt
// id and an end time) and sends results back; a result counts only with the
// right attempt id and a lease that still runs.
package seqlease
