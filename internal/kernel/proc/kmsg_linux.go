package proc

import (
	"errors"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/model/netstate"
)

// KernelLog reads the machine's kernel log from /dev/kmsg, without waiting. A nil KernelLog has no lines.
type KernelLog struct{ fd int }

// OpenKernelLog opens the log at its first line or, if behind, after its last. It needs CAP_SYSLOG where
// kernel.dmesg_restrict is 1.
func OpenKernelLog(behind bool) (*KernelLog, error) {
	fd, err := unix.Open("/dev/kmsg", unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == nil && behind {
		_, err = unix.Seek(fd, 0, unix.SEEK_END)
	}
	if err != nil {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
		return nil, &kernel.Error{Op: "read", Object: "/dev/kmsg", Err: err}
	}
	return &KernelLog{fd}, nil
}

// Close closes the log.
func (l *KernelLog) Close() {
	if l != nil {
		_ = unix.Close(l.fd)
	}
}

// mostRecords limits the records of one Read; a log of 1 MiB has fewer.
const mostRecords = 20000

// Read passes the lines about the network since the last Read, the oldest first. Times are those of the
// kernel's log, which are close to the monotonic clock.
func (l *KernelLog) Read(pass func(netstate.LogLine)) error {
	if l == nil {
		return nil
	}
	buffer := make([]byte, 8192) // larger than any record
	for range mostRecords {
		n, err := unix.Read(l.fd, buffer)
		switch {
		case errors.Is(err, unix.EAGAIN):
			return nil
		case errors.Is(err, unix.EPIPE), errors.Is(err, unix.EINTR):
			continue // records were overwritten before being read: continue with the next one
		case err != nil:
			return &kernel.Error{Op: "read", Object: "/dev/kmsg", Err: err}
		case n == 0:
			return nil
		}
		line, network, err := logLine(string(buffer[:n]))
		if err != nil {
			return err
		}
		if network {
			pass(line)
		}
	}
	return nil
}
