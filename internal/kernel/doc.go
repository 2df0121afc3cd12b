// Package kernel is the only place for raw system calls, netlink and the roots
// of /proc and /sys. Packages above it see plain values and errors that carry
// the operation, the object and the kernel's own words.
package kernel
