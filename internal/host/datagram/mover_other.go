//go:build !linux

package datagram

var platform backend = portable{}
