package lab

import (
	"os"
	"syscall"
)

// initAttributes start the init process in a new process namespace, with which every
// process of the lab ends, and in new network, mount, UTS and IPC namespaces, so that it
// cannot change the machine's own; rootless: in a user namespace too, in which the user is
// root. In a session of its own it gets no signals from the terminal.
func initAttributes(rootless bool) *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS |
			syscall.CLONE_NEWIPC,
		Setsid:    true,
		Pdeathsig: syscall.SIGKILL,
	}
	if rootless {
		attributes.Cloneflags |= syscall.CLONE_NEWUSER
		attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		attributes.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return attributes
}

// agentAttributes start an agent in a process namespace of its own, with which all that it
// has started ends: a program that changes its user loses the parent-death signal
// (PR_SET_PDEATHSIG).
func agentAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
}

func execAttributes(terminal bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Setctty: terminal}
}
