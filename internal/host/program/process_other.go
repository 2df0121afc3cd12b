//go:build !linux

package program

import (
	"errors"
	"syscall"
)

// attributes returns the attributes of a process that leads a group. Only Linux ends it with its parent;
// elsewhere it continues when the agent is killed.
func attributes(bool, bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// apart returns errors.ErrUnsupported.
func apart() (is bool, end func(), err error) { return false, func() {}, errors.ErrUnsupported }
