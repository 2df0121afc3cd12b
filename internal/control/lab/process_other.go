//go:build !linux

package lab

import "syscall"

// A lab needs Linux: making its first socket pair has already said so.
func keeperAttributes(bool) *syscall.SysProcAttr { return nil }

func ownSession() *syscall.SysProcAttr { return nil }

func visitorAttributes(bool) *syscall.SysProcAttr { return nil }

func lockThread() {}
