package lab

import (
	"os"
	"runtime"
	"syscall"
)

// initAttributes put the keeper into a process namespace, whose end is the
// end of everything in the lab, and a network namespace, so that nothing it
// does can touch the machine's own; without root, into a user namespace too, in
// which the user is root. Its own session keeps Ctrl-C at the terminal from it.
func initAttributes(rootless bool) *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS,
		Setsid:     true,
		Pdeathsig:  syscall.SIGKILL,
	}
	if rootless {
		attributes.Cloneflags |= syscall.CLONE_NEWUSER
		attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		attributes.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return attributes
}

func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func execAttributes(terminal bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Setctty: terminal}
}

func lockThread() { runtime.LockOSThread() }
