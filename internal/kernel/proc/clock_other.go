//go:build !linux

package proc

import (
	"errors"

	"linerate/internal/model/netstate"
)

// ClockSource returns errors.ErrUnsupported.
func ClockSource() (*netstate.ClockSource, error) { return nil, errors.ErrUnsupported }
