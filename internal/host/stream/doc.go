// Package stream makes TCP flows that carry bulk data one way, from address to
// address, and counts them. It is one of the engines of package traffic.
//
// An Engine holds one end of each of its flows: some listen, some connect; some
// send, some receive. It sets the socket options a flow is requested with, starts
// all senders at one instant, stops them at another, and reads every flow's
// counters at any time.
//
// Package socket sets options, package flowset has the life cycle, engine.go opens
// connections, read.go reads counts, and a mover (mover.go) moves bytes and adds to a
// flow's tally, knowing nothing of the rest.
//
// It does not decide between which hosts flows are, computes no rates, and takes no
// readings on its own. What is counted where is in docs/traffic.md; the kernel's
// side is in tcp(7), socket(7) and Documentation/networking/ip-sysctl.rst.
package stream
