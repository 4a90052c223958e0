// Package witness judges what concurrent clients of the queue saw. Clients
// record each call with the instants of its beginning and its answer
// ([Recorder]); [Check] then looks for an order of all calls, each somewhere
// between its two instants, in which every answer is what the rules L1 to L10
// allow. The search is porcupine's, for one [Place] at a time; model.go says
// what a place may do. [Facts] are quick counts and comparisons over the whole
// history that need no search. Tests and the soak import it, the product never.
package witness
