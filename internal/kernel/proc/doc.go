// Package proc reads counters and parameters of the kernel from /proc (proc(5)),
// and writes parameters below /proc/sys (sysctl(8)). The roots are fields, so that
// captured trees can stand in for them.
package proc
