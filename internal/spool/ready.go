package spool

import (
	"errors"
	"fmt"
)

// Ready says whether files can be made in the directory now. A directory that is
// full by its limit is ready: it frees itself as others finish.
func (d *Dir) Ready() error {
	probe, err := d.CreateScratch()
	if err == nil {
		_, err = probe.Write([]byte{0})
		err = errors.Join(err, probe.Close())
	}
	if err == nil || errors.Is(err, ErrFull) {
		return nil
	}
	return fmt.Errorf("the spool directory can't be written to: %w", err)
}
