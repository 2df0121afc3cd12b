// Package transaction makes flows of requests and responses, and measures the time of each: rr over
// TCP connections that stay open, crr with a new connection for each, udp-rr with one datagram each
// way. It is one of the engines of package traffic.
//
// An Engine has one end of each of its flows. The end that opens the connections sends requests,
// the other one responds. Each end has a few threads that make all system calls themselves
// (epoll(7) if a thread has several connections), and neither allocate nor lock while transactions
// run. What differs over UDP is in udp_open.go (opening) and udp_linux.go (requests and responses).
//
// Only the requesting end measures latency, with one clock. With a pace, the time of a transaction
// begins at its scheduled instant, even if its connection is still busy then, so that waiting
// counts.
//
// The package does not select the hosts of flows, computes no rates, and takes no readings on its
// own. docs/transactions.md describes what is counted; for the kernel see tcp(7), udp(7), epoll(7)
// and socket(7).
package transaction
