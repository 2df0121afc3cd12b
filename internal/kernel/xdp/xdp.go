// Package xdp attaches programs to interfaces that decide on a packet in the driver, before the
// kernel's network stack has seen it (express data path, linux/if_link.h). They are written as
// instructions; no compiler is needed.
package xdp

import "strings"

// None is what an interface without a program has.
const None = "none"

// kernelName is the name in the kernel of one of setting.XDPPrograms: letters, digits and
// underscores, at most 15.
func kernelName(name string) string {
	name = "lr_" + strings.ReplaceAll(name, "-", "_")
	return name[:min(len(name), 15)]
}
