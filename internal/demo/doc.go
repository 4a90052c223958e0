// Package demo does the system's main job once, on real Zika genomes and with
// real worker processes: submit, claim, align, send results, approve, release.
// One worker is killed in the middle of a batch and another one is stopped past
// its lease. Everything that the system promises about that is checked, and the
// outcome is a [Report]. The command line calls it and passes in how servers and
// workers are started.
package demo
