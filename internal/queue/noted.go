package queue

import "github.com/seqlease/seqlease"

// RefusalsPerAttempt is how many refusals of an entry a store notes for each of its
// attempts, the first ones: a worker may submit the same again and again.
const RefusalsPerAttempt = 10

// NotedRefusals returns the refusals that a store notes as [FailureRefused] of the
// entries that are held: the first of each entry, however many lines are for it. A
// duplicate says nothing of the entry, which another line is for.
func NotedRefusals(refused []seqlease.Refusal) []seqlease.Refusal {
	var noted []seqlease.Refusal
	seen := make(map[seqlease.AccessionVersion]bool)
	for _, r := range refused {
		switch {
		case r.Accession == "", r.Reason == seqlease.RefusedDuplicate, r.Reason == seqlease.RefusedNotFound, seen[r.AccessionVersion]:
		default:
			seen[r.AccessionVersion] = true
			noted = append(noted, r)
		}
	}
	return noted
}
