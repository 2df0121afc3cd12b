//go:build !linux

package proc

import "errors"

// RaiseOpenFiles returns errors.ErrUnsupported.
func RaiseOpenFiles() error { return errors.ErrUnsupported }
