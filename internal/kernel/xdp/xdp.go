// Package xdp attaches programs to interfaces that handle packets in the driver, before the kernel's network
// stack (express data path, linux/if_link.h). They are written as instructions, so no compiler is needed.
package xdp

import "strings"

// None stands for an interface without a program.
const None = "none"

// kernelName returns the kernel's name for one of setting.XDPPrograms: at most 15 letters, digits and
// underscores.
func kernelName(name string) string {
	name = "lr_" + strings.ReplaceAll(name, "-", "_")
	return name[:min(len(name), 15)]
}
