// Package socket has what the sockets of all flows share: the options of a flow request, errors in terms of the
// network, and how many flows may have a thread of their own.
//
// It moves no data. The kernel's side is in tcp(7), socket(7) and ip(7).
package socket
