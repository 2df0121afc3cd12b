// Package linkemu emulates links: it carries frames between two taps
// (Documentation/networking/tuntap.rst) with delay, jitter, loss, reordering and
// congestion marks (RFC 3168). topology.SplitLink decides what it applies. It runs as a
// process of a lab, `linerate lab emulate`.
//
// A super-frame that the sender's kernel has left to the network device to segment
// is carried whole, which is what makes a gigabit per second cheap. Losses,
// jitter and reordering apply to the segments.
//
// Rates and queues are the interfaces' own qdiscs, as on any other link, and their
// counters are true. Only a direction with congestion marks has its queue here,
// since marks depend on its length.
package linkemu
