// Package packet transmits and receives whole Ethernet frames by an interface, without the
// kernel's IP and UDP. Each frame begins with its Ethernet header and has no check sequence.
//
// A Sender transmits in one of two modes:
//   - Program: a BPF program, run by BPF_PROG_RUN (bpf(2)), transmits a batch of frames from
//     memory that it shares with this process (bpf_clone_redirect, bpf-helpers(7)). The
//     receiving CPU is woken once for a batch. It needs CAP_BPF and CAP_NET_ADMIN in the
//     initial user namespace.
//   - Socket: a packet socket (packet(7)) with sendmmsg(2). It needs CAP_NET_RAW in the network
//     namespace.
//
// Both transmit through the interface's queueing discipline, so that a rate it has applies. On
// an interface without one the socket sets PACKET_QDISC_BYPASS, which is faster.
//
// A Receiver and a Counter are packet sockets in promiscuous mode. Frames are made by package frames, and
// paced by the callers.
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
	// MinBytes and MaxBytes bound a frame without its check sequence: an Ethernet header,
	// and one of 9,000 bytes behind it.
	MinBytes = 14
	MaxBytes = MinBytes + 9000
)

// ErrSize: a frame has fewer than MinBytes, or more than the sender was opened for.
var ErrSize = errors.New("the frame is too short or too long")

// Options are what a Sender is for.
type Options struct {
	Interface string
	// Bytes is what the largest frame has, without its check sequence: MinBytes to MaxBytes.
	Bytes int
	// Mode is the only one to use; empty: the first of Program and Socket that the kernel
	// lets this process use.
	Mode string
}

// Match is what a Receiver or Counter is to see; the zero value is every frame.
type Match struct {
	// Destination and Port are those of UDP over IP without options or extension headers.
	Destination netip.Prefix
	Port        uint16
	// Word is the payload's first four bytes, in network order, as far as Mask has bits.
	Word, Mask uint32
}

// Message is a frame that was received.
type Message struct {
	Data []byte // of Bytes, MaxBytes at most
	// Bytes is its size without check sequence and VLAN tag, and Dropped how many frames the
	// receiver's buffer had had no room for when this one was queued.
	Bytes   int
	Dropped uint32
	AtNs    int64 // when the kernel received it, on the clock of sched.Now
}
