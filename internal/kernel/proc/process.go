package proc

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// CloseOnExec sets FD_CLOEXEC (fcntl(2)) on inherited descriptors, count of them from
// first on, so that processes started later do not inherit them: a stream ends for its
// reader when the last descriptor of the other end is closed.
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

// CPUTime returns the processor time of this process in user and in kernel mode (getrusage(2)); see
// TotalCPUTime.
func CPUTime() (user, system time.Duration) {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0, 0
	}
	return time.Duration(usage.Utime.Nano()), time.Duration(usage.Stime.Nano())
}

// TotalCPUTime returns the processor time of this process (CLOCK_PROCESS_CPUTIME_ID). Unlike CPUTime it
// includes the current tick of all threads.
func TotalCPUTime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// Release returns the kernel's release (uname(2)), such as "6.18.44"; empty if unknown.
func Release() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

// MaxOpenFiles returns how many descriptors this process may have (RLIMIT_NOFILE, getrlimit(2)); 0 if unknown.
func MaxOpenFiles() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int(min(limit.Cur, 1<<30))
}
