//go:build !linux || portable

package stream

var platform backend = portable
