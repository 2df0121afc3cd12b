//go:build linux && !portable

package hoststate

import (
	"encoding/binary"
	"errors"
	"io"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel/proc"
)

func addr(text string) netip.AddrPort { return netip.MustParseAddrPort(text) }

func family(at netip.AddrPort) int {
	if at.Addr().Is4() {
		return unix.AF_INET
	}
	return unix.AF_INET6
}

func socketAddress(at netip.AddrPort) unix.Sockaddr {
	if at.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()}
}

// beginConnect opens a TCP socket that connects, without waiting for the answer.
func beginConnect(to netip.AddrPort) (io.Closer, error) {
	fd, err := unix.Socket(family(to), unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Connect(fd, socketAddress(to)); err != nil && !errors.Is(err, unix.EINPROGRESS) {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), "connecting"), nil
}

// listenOf opens a TCP socket that listens with a backlog, and nothing that accepts.
func listenOf(at netip.AddrPort, backlog int) (io.Closer, error) {
	fd, err := unix.Socket(family(at), unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(unix.Bind(fd, socketAddress(at)), unix.Listen(fd, backlog)); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), "listener"), nil
}

// rawSend sends an IPv4 packet as it is, its header included.
func rawSend(to netip.Addr, packet []byte) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_RAW)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Sendto(fd, packet, 0, &unix.SockaddrInet4{Addr: to.As4()})
}

// sendDontFragment sends datagrams of which none may be fragmented.
func sendDontFragment(to netip.AddrPort, size int) error {
	fd, err := unix.Socket(family(to), unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	level, option := unix.IPPROTO_IP, unix.IP_MTU_DISCOVER
	if to.Addr().Is6() {
		level, option = unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER
	}
	if err := unix.SetsockoptInt(fd, level, option, unix.IP_PMTUDISC_PROBE); err != nil { // the same of IPv6
		return err
	}
	for range 20 {
		_ = unix.Sendto(fd, make([]byte, size), 0, socketAddress(to))
	}
	return nil
}

// sendSYNs sends SYNs from addresses that do not answer, to port 7070 of 10.0.0.1.
func sendSYNs(n int) error {
	for i := range n {
		packet := make([]byte, 40)
		packet[0], packet[8], packet[9] = 0x45, 64, 6
		binary.BigEndian.PutUint16(packet[2:], uint16(len(packet)))
		copy(packet[12:], []byte{198, 18, byte(i >> 8), byte(i), 10, 0, 0, 1})
		tcp := packet[20:]
		binary.BigEndian.PutUint16(tcp[0:], uint16(20000+i))
		binary.BigEndian.PutUint16(tcp[2:], 7070)
		binary.BigEndian.PutUint32(tcp[4:], uint32(i))
		tcp[12], tcp[13] = 5<<4, 2
		binary.BigEndian.PutUint16(tcp[14:], 1000)
		sum := uint32(6 + len(tcp))
		for j := 12; j < len(packet); j += 2 {
			sum += uint32(binary.BigEndian.Uint16(packet[j:]))
		}
		for sum > 0xffff {
			sum = sum>>16 + sum&0xffff
		}
		binary.BigEndian.PutUint16(tcp[16:], ^uint16(sum))
		if err := rawSend(netip.MustParseAddr("10.0.0.1"), packet); err != nil {
			return err
		}
	}
	return nil
}

func writeParameter(key, value string) error { return proc.Sysctls{}.Write(key, value) }
