// Package transaction makes flows of requests and responses, and takes the time of
// each: rr over TCP connections that stay, crr with a connection each, udp-rr as a
// datagram each way. It is one of the engines of package traffic.
//
// An Engine holds one end of each of its flows. The end that opens the
// connections sends requests, the other responds. Each end has some threads that make all
// system calls themselves (epoll(7) where one of them has several connections),
// and take neither memory nor locks while transactions go on. What is different over
// UDP is in udp_open.go (opening) and udp_linux.go (requests and responses).
//
// Latency is counted by the requesting end alone, on one clock. With a pace, a
// transaction's time begins when the schedule says so, whether its connection is
// free by then or not: what had to wait has waited.
//
// It does not decide between which hosts flows are, computes no rates, and takes no readings
// on its own. What is counted is in docs/transactions.md; the kernel's side is in
// tcp(7), udp(7), epoll(7) and socket(7).
package transaction
