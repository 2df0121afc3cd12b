// Package iperf3 speaks the protocol of iperf3, so that a stock iperf3 at the
// other end finds one here: what goes over its control connection (states, JSON
// documents, tokens), what its datagrams begin with, and the server that
// `linerate serve` runs beside its own.
//
// Its figures are those of iperf3: each end counts over its own time, and there
// is no common window. It is for measuring with those who have nothing else;
// linerate's own measurements are in package traffic and know nothing of this.
//
// iperf3 has no written specification. What is supported, and how it was found to
// be understood, is in docs/iperf3.md. The tokens' encryption is RFC 8017, jitter
// is that of RFC 1889 (section 6.3.1).
package iperf3
