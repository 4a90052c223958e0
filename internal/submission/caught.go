package submission

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// errPanic is a panic of a goroutine that isn't the caller's: only there it would end
// the request alone.
var errPanic = errors.New("panic")

// Caught runs f, on a goroutine where nobody else would keep a panic from ending the
// process, and returns its error, or its panic and where that was.
func Caught(f func() error) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%w: %v\n%s", errPanic, fault, debug.Stack())
		}
	}()
	return f()
}
