package program

import "syscall"

// attributes returns the attributes of a process that leads a group and dies with the agent. If alone, it is
// the first of a PID namespace, whose processes die with it.
func attributes(alone bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if alone {
		a.Cloneflags = syscall.CLONE_NEWPID
	}
	return a
}
