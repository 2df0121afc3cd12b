//go:build !linux || portable

package sock

import (
	"net/netip"

	"golang.org/x/sys/unix"
)

// SetReceiveBuffer sets SO_RCVBUF and returns the size that the kernel granted, in bytes.
func SetReceiveBuffer(fd, bytes int) (granted int, err error) {
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, bytes); err != nil {
		return 0, err
	}
	return unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
}

// PathMTU is the MTU of the path of a connected socket; on Linux only.
func PathMTU(int, bool) (int, error) { return 0, onlyLinux("IP_MTU") }

// SetRecvPktinfo adds the destination address to control messages; on Linux only.
func SetRecvPktinfo(int, bool) error { return onlyLinux("IP_PKTINFO") }

// PktinfoAddress returns the destination address of a datagram; on Linux only.
func PktinfoAddress([]byte) netip.Addr { return netip.Addr{} }

// Pktinfo returns the control message that sets the source address; on Linux only.
func Pktinfo(netip.Addr, bool) []byte { return nil }
