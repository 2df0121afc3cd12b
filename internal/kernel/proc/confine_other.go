//go:build !linux

package proc

import "errors"

// Confine needs Linux.
func Confine() error { return errors.ErrUnsupported }
