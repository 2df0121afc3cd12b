// Package packet sends and receives whole Ethernet frames on an interface, bypassing the kernel's IP and UDP.
// Each frame begins with its Ethernet header and has no check sequence.
//
// A Sender has one of two modes:
//   - Program: a BPF program, run by BPF_PROG_RUN (bpf(2)), transmits a batch of frames from
//     memory that it shares with this process (bpf_clone_redirect, bpf-helpers(7)). The
//     receiving CPU is woken once per batch. It needs CAP_BPF and CAP_NET_ADMIN in the
//     initial user namespace.
//   - Socket: a packet socket (packet(7)) with sendmmsg(2). It needs CAP_NET_RAW in the network
//     namespace.
//
// Both transmit through the interface's queueing discipline, so its rate applies. On an interface without one
// the socket sets PACKET_QDISC_BYPASS, which is faster.
//
// A Receiver and a Counter are packet sockets in promiscuous mode. Package frames builds frames; the callers
// pace them.
package packet

import (
	"errors"
	"net/netip"
)

// Modes of a Sender.
const (
	Program = "bpf"
	Socket  = "af_packet"
)

const (
	// Room is how many frames one call transmits at most.
	Room = 64
	// MinBytes and MaxBytes limit the size of a frame without its check sequence: an Ethernet header, and one
	// with 9,000 bytes behind it.
	MinBytes = 14
	MaxBytes = MinBytes + 9000
)

// ErrSize means that a frame is shorter than MinBytes, or longer than the sender was opened for.
var ErrSize = errors.New("the frame is too short or too long")

// Options configures a Sender.
type Options struct {
	Interface string
	// Bytes is the size of the largest frame, without its check sequence: MinBytes to MaxBytes.
	Bytes int
	// Mode is the mode to use; empty: the first of Program and Socket that the kernel allows this process.
	Mode string
}

// Match selects the frames that a Receiver or Counter sees; the zero value selects all.
type Match struct {
	// Destination and Port match UDP over IP without options or extension headers.
	Destination netip.Prefix
	Port        uint16
	// Word matches the payload's first four bytes, in network order, in the bits of Mask.
	Word, Mask uint32
}

// Message is a received frame.
type Message struct {
	Data []byte // of Bytes, MaxBytes at most
	// Bytes is the frame's size without check sequence and VLAN tag. Dropped is how many frames had found the
	// receiver's buffer full when this one was queued.
	Bytes   int
	Dropped uint32
	AtNs    int64 // when the kernel received it, on the clock of sched.Now
}
