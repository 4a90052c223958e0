// Package queue is the life of a processing row: claim, accept results, give
// back. It keeps limits, validation and the meaning of refusals out of the door
// and the stores. The HTTP door calls it; it calls its [Store].
package queue
