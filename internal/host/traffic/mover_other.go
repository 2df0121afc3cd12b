//go:build !linux

package traffic

var platform mover = portable{}
