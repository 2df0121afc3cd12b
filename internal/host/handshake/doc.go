// Package handshake opens flows over UDP, which has no connections: an acceptor's
// Listener and an opener's Dial exchange four datagrams (frame.go), by which each end
// knows that the other is reachable, and the acceptor that the opener receives what is
// sent to its address. After that each has a socket that is connected to the other.
//
// It does not know what the sockets are for. The exchange is described in
// docs/datagrams.md.
package handshake
