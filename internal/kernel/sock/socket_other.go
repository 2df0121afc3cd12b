//go:build !linux || portable

package sock

import (
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// onlyLinux is the error for what this system's sockets cannot do.
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

// SetWindowClamp does nothing on this system: TCP_WINDOW_CLAMP is not needed.
func SetWindowClamp(int, int) error { return nil }

// CanPace: the kernel keeps a socket to a rate.
const CanPace = false

// SetPacingRate sets SO_MAX_PACING_RATE; on Linux only.
func SetPacingRate(int, uint64) error { return onlyLinux("SO_MAX_PACING_RATE") }

// SetBindAddressNoPort does nothing on this system: bind chooses the port, which differs
// only when ports run short.
func SetBindAddressNoPort(int) error { return nil }

// SendQueue is the number of unacknowledged bytes of a TCP socket; on Linux only.
func SendQueue(int) (int64, error) { return 0, onlyLinux("SIOCOUTQ") }

// ReceiveQueue is the number of unread bytes of a TCP socket; on Linux only.
func ReceiveQueue(int) (int64, error) { return 0, onlyLinux("SIOCINQ") }
