//go:build !linux

package program

import "syscall"

// attributes make a process that leads a group. Only Linux ends it with its
// parent; elsewhere a killed agent leaves it to end by itself.
func attributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
