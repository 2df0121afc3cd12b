//go:build !linux

package proc

import (
	"errors"

	"linerate/internal/model/netstate"
)

// KernelLog is not supported on this system.
type KernelLog struct{}

// OpenKernelLog returns errors.ErrUnsupported.
func OpenKernelLog(bool) (*KernelLog, error) { return nil, errors.ErrUnsupported }

// Close does nothing.
func (*KernelLog) Close() {}

// Read passes nothing.
func (*KernelLog) Read(func(netstate.LogLine)) error { return nil }
