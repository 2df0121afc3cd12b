//go:build !linux || portable

package datagram

var platform backend = portable
