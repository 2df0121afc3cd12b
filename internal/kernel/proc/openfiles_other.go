//go:build !linux

package proc

import "errors"

// RaiseOpenFiles needs Linux.
func RaiseOpenFiles() error { return errors.ErrUnsupported }
