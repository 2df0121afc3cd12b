// Package socket is what the sockets of a trial's flows have in common: the options
// that a flow is requested with, the reason of a failure in a network's terms, the
// clock that calls are stamped with, and how many threads of their own flows may
// have.
//
// It opens nothing and moves no data. The kernel's side is in tcp(7), socket(7) and
// ip(7).
package socket
