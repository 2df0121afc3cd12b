//go:build !portable

package sock

import (
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// SetRecvPktinfo adds the destination address to the control messages of received datagrams (IP_PKTINFO, ip(7);
// IPV6_RECVPKTINFO, ipv6(7)), so that a socket bound to no address can reply from the right one. six means an
// IPv6 socket, which may receive IPv4 too.
func SetRecvPktinfo(fd int, six bool) error {
	if six {
		return unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1)
	}
	return unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_PKTINFO, 1)
}

// PktinfoAddress returns the destination address of a received datagram from its control
// messages; the zero Addr if they do not have it.
func PktinfoAddress(control []byte) netip.Addr {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return netip.Addr{}
	}
	for _, m := range messages {
		switch {
		case m.Header.Level == unix.IPPROTO_IP && m.Header.Type == unix.IP_PKTINFO &&
			len(m.Data) >= int(unsafe.Sizeof(unix.Inet4Pktinfo{})):
			return netip.AddrFrom4((*unix.Inet4Pktinfo)(unsafe.Pointer(&m.Data[0])).Addr)
		case m.Header.Level == unix.IPPROTO_IPV6 && m.Header.Type == unix.IPV6_PKTINFO &&
			len(m.Data) >= int(unsafe.Sizeof(unix.Inet6Pktinfo{})):
			return netip.AddrFrom16((*unix.Inet6Pktinfo)(unsafe.Pointer(&m.Data[0])).Addr).Unmap()
		}
	}
	return netip.Addr{}
}

// Pktinfo returns the control message that sends a datagram from an address of this host; nil for the zero
// Addr. six means an IPv6 socket.
func Pktinfo(a netip.Addr, six bool) []byte {
	switch {
	case !a.IsValid():
		return nil
	case six:
		return unix.PktInfo6(&unix.Inet6Pktinfo{Addr: a.As16()})
	}
	return unix.PktInfo4(&unix.Inet4Pktinfo{Spec_dst: a.As4()})
}
