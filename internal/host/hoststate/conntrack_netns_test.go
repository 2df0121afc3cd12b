//go:build linux && !portable

package hoststate

import (
	"encoding/binary"
	"strconv"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel/proc"
)

// mostTracked bounds the size of the connection tracking table that is filled, which is the
// machine's: each entry takes some 300 bytes of the kernel's memory until the namespace ends.
const mostTracked = 1 << 18

// fillConntrack fills the connection tracking table of a namespace by ctnetlink, as a router of
// many clients does. Its size, nf_conntrack_max, is the machine's and cannot be set in a
// namespace; the entries are counted in each. It returns why that cannot be done on a machine.
func fillConntrack() (why string, err error) {
	text, err := proc.Sysctls{}.Read("net.netfilter.nf_conntrack_max")
	if err != nil {
		return err.Error(), nil
	}
	most, err := strconv.Atoi(text)
	if err != nil || most > mostTracked {
		return "nf_conntrack_max is " + text, err
	}
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_NETFILTER)
	if err != nil {
		return err.Error(), nil // a kernel without ctnetlink
	}
	defer unix.Close(fd)
	const batch = 100
	for first := 0; first < most*95/100; first += batch {
		var request []byte
		for n := range batch {
			request = append(request, trackedUDP(uint32(first+n))...)
		}
		if err := unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
			return "", err
		}
	}
	return "", nil
}

// trackedUDP is the message that adds an exchange of datagrams between two hosts elsewhere
// (linux/netfilter/nfnetlink_conntrack.h).
func trackedUDP(n uint32) []byte {
	const (
		tupleOrig, tupleReply, status, timeout = 1, 2, 3, 7
		tupleIP, tupleProto                    = 1, 2
		source, destination                    = 1, 2
		number, sourcePort, destinationPort    = 1, 2, 3
		seenReply, assured, confirmed          = 1 << 1, 1 << 2, 1 << 3
		nested                                 = unix.NLA_F_NESTED
	)
	big := binary.BigEndian
	attribute := func(kind uint16, data ...byte) []byte {
		a := binary.NativeEndian.AppendUint16(nil, uint16(4+len(data)))
		a = append(binary.NativeEndian.AppendUint16(a, kind), data...)
		return append(a, make([]byte, -len(data)&3)...)
	}
	join := func(parts ...[]byte) (all []byte) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	near, far := big.AppendUint32(nil, 172<<24|16<<16|n>>12), []byte{198, 51, 100, 7}
	nearPort, farPort := big.AppendUint16(nil, uint16(n&0xfff)+1024), big.AppendUint16(nil, 443)
	tuple := func(kind uint16, from, to, fromPort, toPort []byte) []byte {
		return attribute(kind|nested, join(
			attribute(tupleIP|nested, join(attribute(source, from...), attribute(destination, to...))...),
			attribute(tupleProto|nested, join(attribute(number, unix.IPPROTO_UDP), attribute(sourcePort, fromPort...),
				attribute(destinationPort, toPort...))...))...)
	}
	body := join([]byte{unix.AF_INET, 0, 0, 0}, tuple(tupleOrig, near, far, nearPort, farPort),
		tuple(tupleReply, far, near, farPort, nearPort),
		attribute(status, big.AppendUint32(nil, seenReply|assured|confirmed)...),
		attribute(timeout, big.AppendUint32(nil, 600)...))
	header := binary.NativeEndian.AppendUint32(nil, uint32(unix.SizeofNlMsghdr+len(body)))
	header = binary.NativeEndian.AppendUint16(header, unix.NFNL_SUBSYS_CTNETLINK<<8)
	header = binary.NativeEndian.AppendUint16(header, unix.NLM_F_REQUEST|unix.NLM_F_CREATE)
	return append(append(header, make([]byte, 8)...), body...)
}
