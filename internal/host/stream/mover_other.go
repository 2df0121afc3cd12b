//go:build !linux

package stream

var platform mover = portable{}
