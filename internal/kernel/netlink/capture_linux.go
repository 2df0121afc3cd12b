//go:build !portable

package netlink

import (
	"errors"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/kernel/sched"
)

// PacketCapture captures the headers of the packets that any interface of a network namespace
// receives. It uses a packet(7) socket with a receive ring
// (Documentation/networking/packet_mmap.rst) and requires CAP_NET_RAW.
//
// It wakes no thread, and packets that arrive while the ring is full are lost. So it shows which
// path flows take and when they were silent, but does not count packets.
type PacketCapture struct {
	fd     int
	ring   []byte
	next   int
	missed int64
}

// Each slot of the ring contains struct tpacket2_hdr, struct sockaddr_ll and the first bytes of the
// packet.
const (
	slotBytes      = 256
	ringSlots      = 4096
	ringBlockBytes = 64 << 10
)

// OpenPacketCapture starts capturing in the calling thread's network namespace.
func OpenPacketCapture() (*PacketCapture, error) {
	const object = "packet socket"
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, &kernel.Error{Op: "open", Object: object, Err: err, Detail: "it needs CAP_NET_RAW"}
	}
	fail := func(op string, err error) (*PacketCapture, error) {
		unix.Close(fd)
		return nil, &kernel.Error{Op: op, Object: object, Err: err}
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V2); err != nil {
		return fail("choose the version of", err)
	}
	// Since 4.20. In older kernels outgoing packets are in the ring, and Read skips them.
	_ = unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1)
	if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, captureFilter()); err != nil {
		return fail("attach a filter to", err)
	}
	request := unix.TpacketReq{
		Block_size: ringBlockBytes, Block_nr: ringSlots * slotBytes / ringBlockBytes,
		Frame_size: slotBytes, Frame_nr: ringSlots,
	}
	if err := unix.SetsockoptTpacketReq(fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &request); err != nil {
		return fail("make the ring of", err)
	}
	ring, err := unix.Mmap(fd, 0, ringSlots*slotBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fail("map the ring of", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: networkOrder(unix.ETH_P_ALL)}); err != nil {
		unix.Munmap(ring)
		return fail("bind", err)
	}
	return &PacketCapture{fd: fd, ring: ring}, nil
}

// captureFilter accepts IPv4 and IPv6 packets and truncates them after the headers (classic BPF,
// Documentation/networking/filter.rst).
func captureFilter() *unix.SockFprog {
	const protocol = 0xfffff000 // SKF_AD_OFF + SKF_AD_PROTOCOL
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_H | unix.BPF_ABS, K: protocol},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1, K: unix.ETH_P_IP},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.ETH_P_IPV6},
		{Code: unix.BPF_RET | unix.BPF_K, K: captureBytes},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	}
	return &unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
}

// Read calls visit for each packet that has arrived since the last call.
func (c *PacketCapture) Read(visit func(CapturedPacket)) {
	// struct tpacket2_hdr: status, len, snaplen (uint32), mac, net (uint16), sec,
	// nsec (uint32), …; struct sockaddr_ll behind it, aligned to 16.
	const snaplen, network, second, nanosecond, address, index, kind = 8, 14, 16, 20, 32, 4, 10
	since := wallClock() // packets carry CLOCK_REALTIME
	for range ringSlots {
		slot := c.ring[c.next*slotBytes:][:slotBytes]
		status := (*uint32)(unsafe.Pointer(unsafe.SliceData(slot)))
		if atomic.LoadUint32(status)&unix.TP_STATUS_USER == 0 {
			return
		}
		from := int(native.Uint16(slot[network:]))
		size := int(native.Uint32(slot[snaplen:]))
		outgoing := slot[address+kind] == unix.PACKET_OUTGOING
		if !outgoing && from+size <= slotBytes {
			if a, ok := parsePacket(slot[from : from+size]); ok {
				a.Index = int(int32(native.Uint32(slot[address+index:])))
				a.AtNs = int64(native.Uint32(slot[second:]))*1e9 + int64(native.Uint32(slot[nanosecond:])) - since
				visit(a)
			}
		}
		atomic.StoreUint32(status, unix.TP_STATUS_KERNEL)
		c.next = (c.next + 1) % ringSlots
	}
}

// Dropped returns the number of packets so far that arrived while the ring was full.
func (c *PacketCapture) Dropped() int64 {
	if stats, err := unix.GetsockoptTpacketStats(c.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil {
		c.missed += int64(stats.Drops) // since the previous call
	}
	return c.missed
}

// Close stops the capture.
func (c *PacketCapture) Close() error {
	err := errors.Join(unix.Munmap(c.ring), unix.Close(c.fd))
	c.ring = nil
	return err
}

// wallClock returns the time of day (CLOCK_REALTIME, in nanoseconds) at which sched.Now was 0.
func wallClock() int64 {
	var ts unix.Timespec
	before := sched.Now()
	if err := unix.ClockGettime(unix.CLOCK_REALTIME, &ts); err != nil {
		panic("clock_gettime(CLOCK_REALTIME): " + err.Error()) // cannot fail on Linux
	}
	return ts.Nano() - (before+sched.Now())/2
}
