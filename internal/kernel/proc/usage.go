package proc

import (
	"time"

	"golang.org/x/sys/unix"
)

// ProcessTimes is the processor time that this process has used, by kind
// (getrusage(2)).
func ProcessTimes() (user, system time.Duration) {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0, 0
	}
	return time.Duration(usage.Utime.Nano()), time.Duration(usage.Stime.Nano())
}

// SetTrafficClass sets the field by which routers tell traffic apart, for what a
// socket sends: IP_TOS (ip(7)) and, where six, IPV6_TCLASS (ipv6(7)). The kernel
// keeps the two bits of ECN to itself on TCP sockets.
func SetTrafficClass(fd int, six bool, class int) error {
	if six {
		return unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_TCLASS, class)
	}
	return unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TOS, class)
}
