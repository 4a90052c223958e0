//go:build !unix

package demo

import (
	"errors"
	"os"
)

// canFreeze says whether processes can be stopped and continued here.
const canFreeze = false

func freeze(*os.Process) error { return errors.ErrUnsupported }

func thaw(*os.Process) error { return errors.ErrUnsupported }

func terminate(p *os.Process) error { return p.Kill() }
