// Package submission is the life of an entry: groups, submit, approve, what is
// listed and what is released. It keeps permissions, order of checks and the
// meaning of states out of the door and the stores. The HTTP door calls it; it
// calls its [Store].
package submission
