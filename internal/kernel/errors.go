package kernel

import (
	"errors"
	"syscall"
)

// Error is an error of the kernel with its context. The packages below this one return
// errors from the kernel as this type; errors.Is finds the errno.
type Error struct {
	Op     string // "add route"
	Object string // "10.0.0.0/8 table 100"; empty: none
	Err    error  // usually a syscall.Errno
	Detail string // the kernel's extended acknowledgement, if any
}

func (e *Error) Error() string {
	text := e.Op
	if e.Object != "" {
		text += " " + e.Object
	}
	text += ": " + e.Err.Error()
	if e.Detail != "" {
		text += " (" + e.Detail + ")"
	}
	if errors.Is(e.Err, syscall.EPERM) {
		text += "; it needs root, or the capability CAP_NET_ADMIN over this network namespace (CAP_SYS_ADMIN to " +
			"make a network namespace)"
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }
