//go:build !linux

package sock

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// onlyLinux is the answer for what this system's sockets cannot do.
func onlyLinux(option string) error {
	return fmt.Errorf("%s is not available on %s: %w", option, runtime.GOOS, errors.ErrUnsupported)
}

// SetMaxSeg sets TCP_MAXSEG, before connect or listen.
func SetMaxSeg(fd, bytes int) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_MAXSEG, bytes)
}

// SetCongestionControl sets TCP_CONGESTION; on Linux only.
func SetCongestionControl(int, string) error { return onlyLinux("TCP_CONGESTION") }

// CongestionControl reads TCP_CONGESTION; on Linux only.
func CongestionControl(int) (string, error) { return "", onlyLinux("TCP_CONGESTION") }

// SetWindowClamp sets TCP_WINDOW_CLAMP; on Linux only, and elsewhere not needed.
func SetWindowClamp(int, int) error { return nil }

// SetPacingRate sets SO_MAX_PACING_RATE; on Linux only.
func SetPacingRate(int, uint64) error { return onlyLinux("SO_MAX_PACING_RATE") }

// SetBindAddressNoPort sets IP_BIND_ADDRESS_NO_PORT; elsewhere bind chooses the
// port, which differs only when ports run short.
func SetBindAddressNoPort(int) error { return nil }

// ProcessCPU is the processor time this process has used, user and system.
func ProcessCPU() time.Duration {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// SendQueue is how many bytes a TCP socket holds unacknowledged; on Linux only.
func SendQueue(int) (int64, error) { return 0, onlyLinux("SIOCOUTQ") }

// ReceiveQueue is how many bytes a TCP socket holds unread; on Linux only.
func ReceiveQueue(int) (int64, error) { return 0, onlyLinux("SIOCINQ") }
