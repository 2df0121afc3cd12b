// Package iperf3 implements the protocol of iperf3 for a peer that runs a stock iperf3: the control connection
// (states, JSON documents, tokens), the header of datagrams, and the server that `linerate serve` runs beside
// its own.
//
// Figures are those of iperf3: each end counts over its own time, and there is no common window. Use it only
// with peers that have nothing else; package traffic makes linerate's own measurements.
//
// iperf3 has no written specification. docs/iperf3.md says what is supported and how that was determined.
// Tokens are encrypted by RFC 8017; jitter is that of RFC 1889, section 6.3.1.
package iperf3
