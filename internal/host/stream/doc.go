// Package stream sends TCP flows of bulk data from one address to another and counts them. It is one of the
// engines of package traffic.
//
// An Engine holds this host's ends of its flows: some listen, some connect; some send, some receive. It sets
// the socket options that a flow requests, starts all senders at one time, stops them at another, and reads
// every flow's counters at any time.
//
// Package socket sets options and package flowset has the life cycle. engine.go opens connections, read.go
// reads counts, and a mover (mover.go) moves bytes and counts them in a flow's tally.
//
// This package does not choose the hosts of a flow, computes no rates and takes no readings on its own. What is
// counted where is in docs/traffic.md; the kernel's side is in tcp(7), socket(7) and
// Documentation/networking/ip-sysctl.rst.
package stream
