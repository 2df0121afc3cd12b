package program

import "syscall"

// attributes make a process that leads a group and dies with the agent; alone, it
// is the first of a process namespace, whose others die with it.
func attributes(alone bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if alone {
		a.Cloneflags = syscall.CLONE_NEWPID
	}
	return a
}
