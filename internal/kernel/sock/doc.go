// Package sock has the socket options and system calls that the runtime's net
// package does not offer: socket(7), tcp(7), udp(7), ip(7). What a system lacks
// returns an error that wraps errors.ErrUnsupported.
package sock
