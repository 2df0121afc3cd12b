// Package linkemu emulates links: it carries frames between two taps (Documentation/networking/tuntap.rst) with
// delay, jitter, loss, reordering and congestion marks (RFC 3168). topology.SplitLink selects the impairments
// that it applies. It runs as a process of a lab, `linerate lab emulate`.
//
// A super-frame, which the sender's kernel left to the device to segment, is carried whole; that makes a
// gigabit per second cheap. Loss, jitter and reordering apply to its segments.
//
// Rates and queues are qdiscs of the interfaces, as on any other link, with real counters. Only a direction
// with congestion marks has its queue here, because marks depend on its length.
package linkemu
