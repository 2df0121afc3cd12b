//go:build !linux

package sock

import (
	"net/netip"

	"golang.org/x/sys/unix"
)

// SetReceiveBuffer asks for a receive buffer and says what was granted.
func SetReceiveBuffer(fd, bytes int) (granted int, err error) {
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, bytes); err != nil {
		return 0, err
	}
	return unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
}

// PathMTU is the MTU of the way to where a socket is connected to; on Linux only.
func PathMTU(int, bool) (int, error) { return 0, onlyLinux("IP_MTU") }

// SetRecvPktinfo has datagrams tell which address they came to; on Linux only.
func SetRecvPktinfo(int, bool) error { return onlyLinux("IP_PKTINFO") }

// PktinfoAddress is the address that a datagram came to; on Linux only.
func PktinfoAddress([]byte) netip.Addr { return netip.Addr{} }

// Pktinfo says which address a datagram is to come from; on Linux only.
func Pktinfo(netip.Addr, bool) []byte { return nil }
