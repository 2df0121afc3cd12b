//go:build !linux

package proc

import "errors"

// Capability needs Linux.
type Capability int

// UserSwitching needs Linux.
var UserSwitching []Capability

// Confine needs Linux.
func Confine(...Capability) error { return errors.ErrUnsupported }
