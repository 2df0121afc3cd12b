// Package datagram sends flows of UDP datagrams from one address to another and counts them. It is one of the
// engines of package traffic.
//
// Package handshake opens a flow; after that each end has a socket connected to the other. Each datagram
// carries a sequence number and its send time; the receiver counts what arrived, was lost, reordered or
// duplicated (tracker.go).
//
// engine.go opens flows and read.go reads their counts. sender.go and receiver.go move datagrams through the
// packetWriter and packetReader that the system supports. Package flowset has the life cycle.
//
// This package does not choose the hosts of a flow, computes no rates and takes no readings on its own. What is
// counted where is in docs/datagrams.md; the kernel's side is in udp(7), and RFC 3550, section 6.4.1, defines
// jitter.
package datagram
