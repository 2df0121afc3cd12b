//go:build !portable

package netlink

import (
	"errors"
	"net"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
)

// ProbeARP sends an ARP probe for each request and returns the distinct replies that arrive within
// wait. Unlike the kernel's neighbour table, which stores one MAC address, it shows several hosts
// that answer for one address. Replies update existing entries of this host's table, as usual.
// Requests without an IPv4 address and a 6-byte MAC are skipped. It requires CAP_NET_RAW
// (packet(7)).
func ProbeARP(requests []ARP, wait time.Duration) (replies []ARP, err error) {
	const object = "packet socket for ARP"
	protocol := networkOrder(unix.ETH_P_ARP)
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, int(protocol))
	if err != nil {
		return nil, &kernel.Error{Op: "open", Object: object, Err: err, Detail: "it needs CAP_NET_RAW"}
	}
	defer unix.Close(fd)
	deadline := time.Now().Add(wait)
	for _, q := range requests {
		own, err := net.ParseMAC(q.MAC)
		if err != nil || len(own) != 6 || !q.Address.Is4() {
			continue
		}
		to := unix.SockaddrLinklayer{Protocol: protocol, Ifindex: q.Index, Halen: 6,
			Addr: [8]byte{255, 255, 255, 255, 255, 255}}
		// An interface that is down cannot send.
		if err := unix.Sendto(fd, arpProbe(own, q.Address), 0, &to); err != nil && !errors.Is(err, unix.ENETDOWN) &&
			!errors.Is(err, unix.ENXIO) {
			return nil, &kernel.Error{Op: "send by", Object: object, Err: err}
		}
	}
	packet := make([]byte, 128)
	for {
		n, from, err := unix.Recvfrom(fd, packet, 0)
		switch left := time.Until(deadline); {
		case err == nil:
			link, isLink := from.(*unix.SockaddrLinklayer)
			if a, ok := parseARPReply(packet[:n]); ok && isLink && link.Pkttype == unix.PACKET_HOST {
				a.Index = link.Ifindex
				requested := slices.ContainsFunc(requests, func(q ARP) bool {
					return q.Index == a.Index && q.Address == a.Address
				})
				if requested && !slices.Contains(replies, a) {
					replies = append(replies, a)
				}
			}
		case errors.Is(err, unix.EINTR):
		case !errors.Is(err, unix.EAGAIN):
			return replies, &kernel.Error{Op: "receive by", Object: object, Err: err}
		case left <= 0:
			return replies, nil
		default:
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(left.Milliseconds())+1)
		}
	}
}

// networkOrder converts a 16-bit number to network byte order.
func networkOrder(n uint16) uint16 { return native.Uint16([]byte{byte(n >> 8), byte(n)}) }
