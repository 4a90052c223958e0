// Package fault shows that the promises of the queue hold under faults. It runs
// a fleet of real processes (PostgreSQL or the embedded store, servers, workers,
// a network between them), lets entries be submitted and processed, breaks the
// parts one by one and together, and hands what is left to the checker in
// evidence. It keeps processes, signals and faults out of the other rooms; only
// its own tests and the soak of the benchmark's module import it. It needs Linux.
package fault
