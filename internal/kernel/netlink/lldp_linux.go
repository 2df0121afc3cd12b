//go:build !portable

package netlink

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/model/lldp"
)

// ReceiveLLDP returns the different LLDP frames that arrive at interfaces within wait. It ends earlier if
// each of them has received one, or with ctx. It sends nothing, and requires CAP_NET_RAW (packet(7)). An
// interface that does not exist is skipped.
func ReceiveLLDP(ctx context.Context, interfaces []int, wait time.Duration) (frames []LLDPFrame, err error) {
	const object = "packet socket for LLDP"
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK,
		int(networkOrder(lldp.EtherType)))
	if err != nil {
		return nil, &kernel.Error{Op: "open", Object: object, Err: err, Detail: "it needs CAP_NET_RAW"}
	}
	defer unix.Close(fd)
	for _, index := range interfaces {
		for _, group := range lldp.Groups {
			// In effect while the socket is open. Without it a NIC drops the frames.
			m := unix.PacketMreq{Ifindex: int32(index), Type: unix.PACKET_MR_MULTICAST, Alen: 6}
			copy(m.Address[:], group[:])
			_ = unix.SetsockoptPacketMreq(fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &m)
		}
	}
	missing := slices.Clone(interfaces)
	buffer := make([]byte, lldp.Longest)
	for deadline := time.Now().Add(wait); len(missing) > 0 && ctx.Err() == nil; {
		n, from, err := unix.Recvfrom(fd, buffer, 0)
		switch left := time.Until(deadline); {
		case left <= 0:
			return frames, nil
		case err == nil:
			link, is := from.(*unix.SockaddrLinklayer)
			if !is || link.Pkttype == unix.PACKET_OUTGOING || !slices.Contains(interfaces, link.Ifindex) {
				continue
			}
			missing = slices.DeleteFunc(missing, func(index int) bool { return index == link.Ifindex })
			same, of := false, 0
			for _, f := range frames {
				if f.Index == link.Ifindex {
					of++
					same = same || bytes.Equal(f.PDU, buffer[:n])
				}
			}
			if !same && of < mostLLDPFrames {
				frames = append(frames, LLDPFrame{link.Ifindex, slices.Clone(buffer[:n])})
			}
		case errors.Is(err, unix.EAGAIN):
			const longest = 200 // ms, after which ctx is looked at
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}},
				int(min(longest, left.Milliseconds()+1)))
		case !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.ENETDOWN):
			return frames, &kernel.Error{Op: "receive by", Object: object, Err: err}
		}
	}
	return frames, nil
}
