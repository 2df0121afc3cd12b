// Package linkemu carries frames between the two interfaces of a link: later than they
// came, not all of them, and some before others, on a kernel that has no netem. It
// is a process of a lab, started by the lab's first one; the interfaces are taps
// (Documentation/networking/tuntap.rst), whose frames it reads and writes.
//
// A super-frame that the sender's kernel has left to the network device to cut
// into segments (segmentation offload) is carried as one, which is what makes a
// gigabit per second cheap. A loss hits the frames that it would have become.
//
// Rates and queues are the interfaces' own queueing disciplines', as on any other link,
// and what they count stays true. Only where frames are to get congestion marks
// (RFC 3168) the link's queue is here, since who marks has to know how much waits.
package linkemu
