//go:build !linux

package stream

var platform backend = portable{}
