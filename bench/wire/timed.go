package wire

import "time"

// timed says how long work took.
func timed(work func() error) (time.Duration, error) {
	began := time.Now()
	err := work()
	return time.Since(began), err
}
