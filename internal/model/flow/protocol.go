// Package flow is the home of a flow: the protocols, the options and what they
// mean to each protocol.
package flow

import "slices"

// Protocols of a flow.
const (
	TCP   = "tcp"    // bulk data one way over one connection
	UDP   = "udp"    // a stream of datagrams one way
	RR    = "rr"     // transactions: a request and its response, over TCP connections that stay
	UDPRR = "udp-rr" // transactions of one datagram each way
	CRR   = "crr"    // transactions with a connection each: connect, request, response
)

// Protocols is every protocol that may be ordered.
var Protocols = []string{TCP, UDP, RR, UDPRR, CRR}

// Transactional are those of requests and responses.
var Transactional = []string{RR, UDPRR, CRR}

// MaxDatagramBytes is the most that one datagram can carry over IPv4, as UDP payload.
const MaxDatagramBytes = 65535 - 20 - 8

// Bulk says of a flow's protocol that it is judged by the data it carries;
// transactions are judged by how many there are and how long they take.
func Bulk(protocol string) bool { return !slices.Contains(Transactional, protocol) }

// Transport is the protocol of a flow's packets, tcp or udp.
func Transport(protocol string) string {
	if protocol == UDP || protocol == UDPRR {
		return UDP
	}
	return TCP
}
