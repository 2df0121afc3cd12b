// Package datagram makes flows of UDP datagrams one way, from address to address,
// and counts them. It is one of the engines of package traffic.
//
// A flow is opened as package handshake has it; after that each end has a socket that
// is connected to the other. Datagrams then carry a sequence number
// and the instant of sending; what became of them is counted at the receiver
// (tracker.go).
//
// engine.go opens flows, read.go reads their counts, sender.go and receiver.go move
// datagrams by what packetWriter and packetReader the system has; the life cycle is
// that of package flowset.
//
// It does not decide between which hosts flows are, computes no rates, and takes no readings
// on its own. What is counted where is in docs/datagrams.md; the kernel's side is
// in udp(7), and the meaning of jitter in RFC 3550, section 6.4.1.
package datagram
