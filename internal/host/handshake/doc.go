// Package handshake is how the two ends of a flow over UDP meet. UDP has no
// connections, so that both have to hear of each other before anything is sent in
// earnest: an acceptor's Door and an opener's Open exchange four datagrams (frame.go),
// by which both ends know that the other is there, and the acceptor that the opener
// receives what is sent to its address. After that each has a socket that is connected
// to the other.
//
// It does not know what the sockets are for. The exchange is described in
// docs/datagrams.md.
package handshake
