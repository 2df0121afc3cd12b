package program

import (
	"os"
	"runtime"
	"syscall"

	"linerate/internal/kernel/proc"
)

// attributes make a process that leads a group and dies with the agent; alone, it
// is the first of a process namespace, whose others die with it.
func attributes(alone bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if alone {
		a.Cloneflags = syscall.CLONE_NEWPID
	}
	return a
}

// ownThread keeps the caller on its thread until both end.
func ownThread() { runtime.LockOSThread() }

func killGroup(leader *os.Process) error { return proc.SignalGroup(leader, syscall.SIGKILL) }
