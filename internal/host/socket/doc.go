// Package socket is what the carriers of package traffic have in common: the books
// of a trial's ends of flows, setting a flow's options on its sockets, saying in a
// network's words why one failed, the clock that every call is stamped with, and
// how many threads of their own flows may have.
//
// It opens nothing and moves no bytes. The kernel's side is in tcp(7), socket(7)
// and ip(7).
package socket
