//go:build !linux

package proc

import (
	"errors"

	"linerate/internal/model/record"
)

// ClockSource returns errors.ErrUnsupported.
func ClockSource() (*record.ClockSource, error) { return nil, errors.ErrUnsupported }
