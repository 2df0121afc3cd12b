package proc

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// CloseOnExec keeps inherited descriptors, count of them from first on, from the
// processes that this one starts (fcntl(2), FD_CLOEXEC). A stream ends for its
// reader only when nobody holds the other end any more.
func CloseOnExec(first, count int) {
	for fd := first; fd < first+count; fd++ {
		unix.CloseOnExec(fd)
	}
}

// SignalGroup sends a signal to a process that leads a process group and to all
// others in the group (kill(2)).
func SignalGroup(leader *os.Process, signal syscall.Signal) error {
	return os.NewSyscallError("kill", unix.Kill(-leader.Pid, signal))
}

// KillGroup kills a process that leads a process group and all others in the
// group (kill(2)).
func KillGroup(leader *os.Process) error {
	return SignalGroup(leader, unix.SIGKILL)
}
