//go:build !linux

package proc

import (
	"errors"

	"linerate/internal/model/record"
)

// ClockSource needs Linux.
func ClockSource() (*record.ClockSource, error) { return nil, errors.ErrUnsupported }
