//go:build !linux || portable

package sock

import (
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/model/netstate"
)

// onlyLinux returns the error for an option that only Linux has.
func onlyLinux(option string) error {
	return fmt.Errorf("%s is not available on %s: %w", option, runtime.GOOS, errors.ErrUnsupported)
}

// SetCongestionControl sets TCP_CONGESTION; on Linux only.
func SetCongestionControl(int, string) error { return onlyLinux("TCP_CONGESTION") }

// CongestionControl reads TCP_CONGESTION; on Linux only.
func CongestionControl(int) (string, error) { return "", onlyLinux("TCP_CONGESTION") }

// SetWindowClamp does nothing on this system: TCP_WINDOW_CLAMP is not needed.
func SetWindowClamp(int, int) error { return nil }

// CanPace says whether the kernel can limit a socket to a rate (SetPacingRate).
const CanPace = false

// SetPacingRate sets SO_MAX_PACING_RATE; on Linux only.
func SetPacingRate(int, uint64) error { return onlyLinux("SO_MAX_PACING_RATE") }

// SetBindAddressNoPort does nothing on this system: bind chooses the port, which matters only when ports run
// short.
func SetBindAddressNoPort(int) error { return nil }

// SetUserTimeout does nothing on this system: the kernel's own timeout applies.
func SetUserTimeout(int, time.Duration) error { return nil }

// Queued is the number of unacknowledged or unread bytes of a TCP socket; on Linux only.
func Queued(int, bool) (int64, error) { return 0, onlyLinux("SIOCOUTQ") }

// Held is the memory of what has arrived and has not been read; on Linux only.
func Held(int) (int64, error) { return 0, onlyLinux("SO_MEMINFO") }

// SetReceiveBuffer sets SO_RCVBUF and returns the size that the kernel granted, in bytes.
func SetReceiveBuffer(fd, bytes int) (granted int, err error) {
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, bytes); err != nil {
		return 0, err
	}
	return unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
}

// Disconnect has a connected socket receive from any address and port; on Linux only.
func Disconnect(int) error { return onlyLinux("connect(2) with AF_UNSPEC") }

// PathMTU is the MTU of the path of a connected socket; on Linux only.
func PathMTU(int, bool) (int, error) { return 0, onlyLinux("IP_MTU") }

// SetRecvPktinfo adds the destination address to control messages; on Linux only.
func SetRecvPktinfo(int, bool) error { return onlyLinux("IP_PKTINFO") }

// PktinfoAddress returns the destination address of a datagram; on Linux only.
func PktinfoAddress([]byte) netip.Addr { return netip.Addr{} }

// Pktinfo returns the control message that sets the source address; on Linux only.
func Pktinfo(netip.Addr, bool) []byte { return nil }

// TCPInfo reads TCP_INFO; on Linux only.
func TCPInfo(int) (netstate.TCPInfo, error) { return netstate.TCPInfo{}, onlyLinux("TCP_INFO") }

// Echo sends ICMP echo requests; on Linux only.
type Echo struct{}

// EchoAnswer is the answer to a request.
type EchoAnswer struct {
	Sequence uint16
	MTU      int
	Local    bool
}

// OpenEcho opens a socket for one address; on Linux only.
func OpenEcho(netip.Addr, uint32) (*Echo, error) { return nil, onlyLinux("ICMP echo") }

// Close does nothing.
func (*Echo) Close() error { return nil }

// Send sends a request; on Linux only.
func (*Echo) Send(uint16, int) (EchoAnswer, error) { return EchoAnswer{}, onlyLinux("ICMP echo") }

// Receive waits for an answer; on Linux only.
func (*Echo) Receive(time.Time) (EchoAnswer, bool) { return EchoAnswer{}, false }

// HungUp returns false: only Linux reports it while data is not read.
func HungUp(int) bool { return false }
