//go:build !linux

package program

import (
	"os"
	"syscall"

	"linerate/internal/kernel/proc"
)

// attributes make a process that leads a group. Only Linux ends it with its
// parent; elsewhere a killed agent leaves it to end by itself.
func attributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func ownThread() {}

func killGroup(leader *os.Process) error { return proc.SignalGroup(leader, syscall.SIGKILL) }
