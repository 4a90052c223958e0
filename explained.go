package seqlease

import (
	"errors"
	"fmt"
)

// ExplainedError is an error of a kind, such as [ErrNotFound], with one sentence
// for whoever asked: what is wrong, with what, and what to do. Rooms wrap errors
// with what was being done, for the log; whoever asked is shown the sentence
// alone ([Explanation]).
type ExplainedError struct {
	Kind     error
	Sentence string
	Problem  *Problem // the sentence in its parts, nil if it is not about a place in an input
}

// Explain returns an error of the kind that says the sentence.
func Explain(kind error, format string, args ...any) error {
	return &ExplainedError{Kind: kind, Sentence: fmt.Sprintf(format, args...)}
}

// Error returns "kind: sentence".
func (e *ExplainedError) Error() string { return e.Kind.Error() + ": " + e.Sentence }

// Unwrap returns the kind.
func (e *ExplainedError) Unwrap() error { return e.Kind }

// Explanation returns the sentence.
func (e *ExplainedError) Explanation() string { return e.Sentence }

// Explanation returns what whoever asked is told of an error: the sentence of the
// first error in its chain that has a method Explanation() string, or the whole
// text of an error that has none.
func Explanation(err error) string {
	var explained interface {
		error
		Explanation() string
	}
	if errors.As(err, &explained) {
		return explained.Explanation()
	}
	return err.Error()
}
