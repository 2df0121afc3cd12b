//go:build !linux

package program

import "syscall"

// attributes returns the attributes of a process that leads a group. Only Linux ends it with its parent;
// elsewhere it continues when the agent is killed.
func attributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
