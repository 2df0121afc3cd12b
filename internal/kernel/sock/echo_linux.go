//go:build !portable

package sock

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/model/checksum"
)

// Echo sends ICMP echo requests to one address (RFC 792, RFC 4443), never fragmented. It is a ping socket if
// the process's group may open one (net.ipv4.ping_group_range), or else a raw socket, which needs CAP_NET_RAW.
type Echo struct {
	fd, id int
	six    bool
	raw    bool
}

// echoHeader is the size of ICMP's header; largestEcho limits what is received.
const echoHeader, largestEcho = 8, 1 << 16

// OpenEcho opens a socket for one address. index is the interface of a link-local address.
func OpenEcho(to netip.Addr, index uint32) (*Echo, error) {
	e := &Echo{six: to.Is6() && !to.Is4In6(), id: os.Getpid() & 0xffff}
	family, protocol := unix.AF_INET, unix.IPPROTO_ICMP
	if e.six {
		family, protocol = unix.AF_INET6, unix.IPPROTO_ICMPV6
	}
	const object = "socket for ICMP echo"
	var err error
	if e.fd, err = unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, protocol); err != nil {
		e.raw = true
		if e.fd, err = unix.Socket(family, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, protocol); err != nil {
			return nil, &kernel.Error{Op: "open", Object: object, Err: err,
				Detail: "net.ipv4.ping_group_range has no group of this process, and a raw socket needs CAP_NET_RAW"}
		}
	}
	if e.six {
		err = errors.Join(unix.SetsockoptInt(e.fd, unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_PROBE),
			unix.SetsockoptInt(e.fd, unix.IPPROTO_IPV6, unix.IPV6_RECVERR, 1),
			unix.Connect(e.fd, &unix.SockaddrInet6{Addr: to.As16(), ZoneId: index}))
	} else {
		err = errors.Join(unix.SetsockoptInt(e.fd, unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_PROBE),
			unix.SetsockoptInt(e.fd, unix.IPPROTO_IP, unix.IP_RECVERR, 1),
			unix.Connect(e.fd, &unix.SockaddrInet4{Addr: to.Unmap().As4()}))
	}
	if err != nil {
		unix.Close(e.fd)
		return nil, &kernel.Error{Op: "set up", Object: object, Err: err}
	}
	return e, nil
}

// Close closes the socket.
func (e *Echo) Close() error { return unix.Close(e.fd) }

// EchoAnswer is the answer to a request.
type EchoAnswer struct {
	Sequence uint16
	// MTU is the largest packet size that a router, or this host, reports; 0: the peer answered.
	MTU int
	// Local says that this host did not send the request, because the interface's MTU is smaller.
	Local bool
}

// Send sends a request with an IP packet of bytes, at least 28, for IPv6 48. For a packet that exceeds the
// interface's MTU it returns a Local answer.
func (e *Echo) Send(sequence uint16, bytes int) (EchoAnswer, error) {
	header := 20
	kind := byte(8)
	if e.six {
		header, kind = 40, 128
	}
	packet := make([]byte, max(bytes-header, echoHeader))
	packet[0] = kind
	binary.BigEndian.PutUint16(packet[4:], uint16(e.id))
	binary.BigEndian.PutUint16(packet[6:], sequence)
	if !e.six { // the kernel computes ICMPv6's
		binary.BigEndian.PutUint16(packet[2:], checksum.Of(packet))
	}
	err := unix.Send(e.fd, packet, 0)
	if errors.Is(err, unix.EMSGSIZE) {
		answer, _ := e.errorQueue()
		return EchoAnswer{Sequence: sequence, MTU: max(answer.MTU, 1), Local: true}, nil
	}
	if err != nil {
		return EchoAnswer{}, &kernel.Error{Op: "send", Object: "ICMP echo request", Err: err}
	}
	return EchoAnswer{}, nil
}

// Receive waits for an answer; it returns false if none came before the deadline.
func (e *Echo) Receive(deadline time.Time) (EchoAnswer, bool) {
	buffer := make([]byte, largestEcho)
	for {
		if answer, ok := e.errorQueue(); ok {
			return answer, true
		}
		n, err := unix.Read(e.fd, buffer)
		if err == nil {
			if sequence, ok := e.parse(buffer[:n]); ok {
				return EchoAnswer{Sequence: sequence}, true
			}
			continue
		}
		left := time.Until(deadline)
		if left <= 0 {
			return EchoAnswer{}, false
		}
		if !errors.Is(err, unix.EAGAIN) { // an ICMP error, which is also in the error queue
			continue
		}
		_, _ = unix.Poll([]unix.PollFd{{Fd: int32(e.fd), Events: unix.POLLIN}}, int(left.Milliseconds())+1)
	}
}

// parse reads an echo reply.
func (e *Echo) parse(packet []byte) (sequence uint16, ok bool) {
	if e.raw && !e.six { // a raw socket receives the IP header
		if len(packet) < 20 || len(packet) < int(packet[0]&15)*4 {
			return 0, false
		}
		packet = packet[int(packet[0]&15)*4:]
	}
	reply := byte(0)
	if e.six {
		reply = 129
	}
	if len(packet) < echoHeader || packet[0] != reply || e.raw && binary.BigEndian.Uint16(packet[4:]) != uint16(e.id) {
		return 0, false
	}
	return binary.BigEndian.Uint16(packet[6:]), true
}

// errorQueue reads one ICMP error (struct sock_extended_err, ip(7)). Only errors about the size count as
// answers.
func (e *Echo) errorQueue() (answer EchoAnswer, ok bool) {
	packet, control := make([]byte, 2048), make([]byte, 512)
	n, c, _, _, err := unix.Recvmsg(e.fd, packet, control, unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
	if err != nil {
		return answer, false
	}
	messages, err := unix.ParseSocketControlMessage(control[:c])
	if err != nil {
		return answer, false
	}
	for _, m := range messages {
		isError := m.Header.Level == unix.IPPROTO_IP && m.Header.Type == unix.IP_RECVERR ||
			m.Header.Level == unix.IPPROTO_IPV6 && m.Header.Type == unix.IPV6_RECVERR
		if !isError || len(m.Data) < 16 || syscall.Errno(binary.NativeEndian.Uint32(m.Data)) != syscall.EMSGSIZE {
			continue
		}
		if n >= echoHeader { // the request that was too large
			answer.Sequence = binary.BigEndian.Uint16(packet[6:])
		}
		answer.MTU = min(max(int(binary.NativeEndian.Uint32(m.Data[8:])), 1), largestEcho)
		answer.Local = m.Data[4] == unix.SO_EE_ORIGIN_LOCAL
		return answer, true
	}
	return answer, false
}
