package pgcluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ClockLibrary returns the path of libfaketime, which gives programs that are
// linked with the C library another time of day. The error says how to get it.
func ClockLibrary() (string, error) {
	for _, pattern := range []string{"/usr/lib/*/faketime/libfaketime.so.1", "/usr/lib*/faketime/libfaketime.so.1"} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 { // the patterns are constant
			return found[0], nil
		}
	}
	return "", errors.New("libfaketime is not installed here: run `apt-get install faketime`")
}

// ClockEnvironment returns the variables that make the clock of a program wrong
// by d. Its monotonic clock stays right.
func ClockEnvironment(d time.Duration) ([]string, error) {
	library, err := ClockLibrary()
	if err != nil {
		return nil, err
	}
	return []string{
		"LD_PRELOAD=" + library, fmt.Sprintf("FAKETIME=%+ds", int64(d/time.Second)),
		"FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME_DONT_RESET=1",
	}, nil
}

// clockEnvironment is the whole environment of the server; nil: this process's.
func clockEnvironment(d time.Duration) ([]string, error) {
	if d == 0 {
		return nil, nil
	}
	added, err := ClockEnvironment(d)
	return append(os.Environ(), added...), err
}
