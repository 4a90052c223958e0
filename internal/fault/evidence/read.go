package evidence

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/go-json-experiment/json"
)

// Log reads the log of a worker as it grows.
type Log struct {
	Path  string
	Lines []Line
	read  int64 // up to here
}

// Read adds the lines that were written since the last call. A line without an
// end, which a killed worker may leave, is left for the next call.
func (l *Log) Read() error {
	file, err := os.Open(l.Path)
	if os.IsNotExist(err) {
		return nil // the worker hasn't said anything
	} else if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it was only read
	content, err := io.ReadAll(io.NewSectionReader(file, l.read, 1<<40))
	if err != nil {
		return err
	}
	for {
		text, rest, whole := bytes.Cut(content, []byte("\n"))
		if !whole {
			return nil
		}
		var line Line
		if err := json.Unmarshal(text, &line); err != nil {
			return fmt.Errorf("%s from byte %d on: %w", l.Path, l.read, err)
		}
		l.Lines = append(l.Lines, line)
		l.read += int64(len(text)) + 1
		content = rest
	}
}

// Open returns the entries of the last claim that was delivered, if sending their
// results hasn't begun and they weren't given back: what the worker is working on.
func (l *Log) Open() []Held {
	for i := len(l.Lines) - 1; i >= 0; i-- {
		switch line := &l.Lines[i]; {
		case line.Call == CallClaim && line.Status == 0: // a try in vain
		case line.Call == CallClaim && line.Whole:
			return line.Entries
		case line.Call == CallSubmitting || line.Call == CallSubmit || line.Call == CallGiveBack:
			return nil
		}
	}
	return nil
}
