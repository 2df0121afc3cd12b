//go:build !linux

package lab

import "syscall"

// A lab needs Linux: making its first socket pair fails on this system.
func initAttributes(bool) *syscall.SysProcAttr { return nil }

func agentAttributes() *syscall.SysProcAttr { return nil }

func execAttributes(bool) *syscall.SysProcAttr { return nil }
