//go:build !portable

package packet

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// filter returns a classic BPF program that accepts what m matches (Documentation/networking/filter.rst). The
// kernel has already removed VLAN tags.
func (m Match) filter() *unix.SockFprog {
	const protocol = 0xfffff000 // SKF_AD_OFF + SKF_AD_PROTOCOL
	const ethernet, ipv4, ipv6, udp = 14, 20, 40, 17
	type load = unix.SockFilter
	word := func(at int) load { return load{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: uint32(at)} }
	half := func(at int) load { return load{Code: unix.BPF_LD | unix.BPF_H | unix.BPF_ABS, K: uint32(at)} }
	one := func(at int) load { return load{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: uint32(at)} }
	var program []unix.SockFilter
	is := func(l load, value uint32) {
		program = append(program, l, load{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: value})
	}
	and := func(l load, mask, value uint32) {
		program = append(program, l, load{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: mask},
			load{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: value & mask})
	}
	at := ethernet + ipv4
	to, bits := m.Destination.Addr(), m.Destination.Bits()
	// prefix compares the bits of an address that the prefix covers.
	prefix := func(at int, address []byte) {
		for i := 0; i < len(address) && 8*i < bits; i += 4 {
			and(word(at+i), ^uint32(0)<<max(0, 32-(bits-8*i)), binary.BigEndian.Uint32(address[i:]))
		}
	}
	if to.Is4() {
		is(load{Code: unix.BPF_LD | unix.BPF_H | unix.BPF_ABS, K: protocol}, unix.ETH_P_IP)
		is(one(ethernet), 0x45) // without options
		is(one(ethernet+9), udp)
		prefix(ethernet+16, to.AsSlice())
	} else {
		at = ethernet + ipv6
		is(load{Code: unix.BPF_LD | unix.BPF_H | unix.BPF_ABS, K: protocol}, unix.ETH_P_IPV6)
		is(one(ethernet+6), udp)
		prefix(ethernet+24, to.AsSlice())
	}
	is(half(at+2), uint32(m.Port))
	and(word(at+8), m.Mask, m.Word)
	program = append(program, load{Code: unix.BPF_RET | unix.BPF_K, K: MaxBytes}, load{Code: unix.BPF_RET | unix.BPF_K})
	for i, step := range program { // a mismatch jumps to the last instruction
		if step.Code == unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K {
			program[i].Jf = uint8(len(program) - 2 - i)
		}
	}
	return &unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
}

// attach makes a socket receive only what matches, from now on.
func (m Match) attach(fd int) error {
	if !m.Destination.IsValid() {
		return nil
	}
	return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, m.filter())
}

// Counter counts frames in the kernel, which discards them: it misses none at any rate. It is not safe for
// concurrent use.
type Counter struct {
	fd      int
	counted int64
}

// OpenCounter returns a counter of the frames received by an interface; it needs CAP_NET_RAW.
func OpenCounter(name string, m Match) (*Counter, error) {
	// A frame that finds the buffer full is counted and dropped; nothing is ever read.
	fd, err := open(name, m, 1)
	if err != nil {
		return nil, err
	}
	return &Counter{fd: fd}, nil
}

// Count returns how many frames have arrived since the counter was opened. The kernel's own count has 32 bits
// and restarts with each call.
func (c *Counter) Count() (int64, error) {
	// Packets that passed the filter, including those that found the buffer full (packet(7)).
	s, err := unix.GetsockoptTpacketStats(c.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return c.counted, err
	}
	c.counted += int64(s.Packets)
	return c.counted, nil
}

// Close ends the counter.
func (c *Counter) Close() error { return unix.Close(c.fd) }
