// Package proc reads the kernel's counters and parameters from /proc (proc(5)), and writes parameters below
// /proc/sys (sysctl(8)). The roots are fields, so that tests can use captured trees.
package proc
