package submission

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// errPanic is a panic of a goroutine that isn't the caller's: only there it would end
// the request alone.
var errPanic = errors.New("panic")

// caught runs f and returns its error, or its panic and where that was.
func caught(f func() error) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%w: %v\n%s", errPanic, fault, debug.Stack())
		}
	}()
	return f()
}
