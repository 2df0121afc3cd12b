// Package handshake opens flows over UDP, which has no connections. An acceptor's Listener and an opener's Dial
// exchange four datagrams (frame.go). After that each end knows that the other is reachable, the acceptor knows
// that the opener receives at its address, and each has a socket connected to the other.
//
// It does not know what the sockets are used for. docs/datagrams.md describes the exchange.
package handshake
