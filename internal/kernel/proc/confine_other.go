//go:build !linux

package proc

import "errors"

// Capability is not used on this system.
type Capability int

// Needs are not used on this system.
type Needs struct {
	Capabilities []Capability
	UnixSockets  string
}

// UserSwitching is empty on this system.
var UserSwitching []Capability

// Confine returns errors.ErrUnsupported.
func Confine(Needs) error { return errors.ErrUnsupported }

// Apart returns errors.ErrUnsupported.
func Apart() (limit string, err error) { return "", errors.ErrUnsupported }

// KilledFirst does nothing: other systems have no such setting.
func KilledFirst(int) {}
