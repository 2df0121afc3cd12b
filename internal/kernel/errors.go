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

// Lacking is the error for something that this kernel does not have, such as a kind of qdisc, and says
// what that is. It is ENOENT, as the kernel has it, and errors.ErrUnsupported.
type Lacking string

func (l Lacking) Error() string { return string(l) }

func (Lacking) Unwrap() []error { return []error{syscall.ENOENT, errors.ErrUnsupported} }
