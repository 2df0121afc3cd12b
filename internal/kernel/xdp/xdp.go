// Package xdp attaches programs to interfaces that decide on a packet in the driver, before the
// kernel's network stack has seen it (express data path, linux/if_link.h). They are made here of
// instructions; no compiler is needed.
package xdp

import "strings"

// Programs are the programs by their names, with what they do.
var Programs = map[string]string{
	Forward:       "forwards IPv4 and IPv6 by the kernel's routes and neighbours; what it cannot forward, such as a packet without a neighbour or with a time to live of 1, the stack gets",
	DropFragments: "drops fragments of IPv4 and IPv6; the stack gets the rest",
}

// Names of programs.
const (
	None          = "none"
	Forward       = "forward"
	DropFragments = "drop-fragments"
)

// kernelName is a program's name in the kernel: letters, digits and underscores, at most 15.
func kernelName(name string) string {
	name = "lr_" + strings.ReplaceAll(name, "-", "_")
	return name[:min(len(name), 15)]
}
