//go:build !linux

package datagram

var platform mover = portable{}
