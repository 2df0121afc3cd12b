package bus

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Code is the kind of a failure, the same on both sides of the bus. A Code is an
// error, so that callers ask errors.Is(err, bus.NotFound) of whatever wraps an
// Error. The zero value is a failure of no particular kind.
type Code string

const (
	Unsupported  Code = "unsupported"      // by this kernel, or an agent that does not answer the verb
	NotPermitted Code = "not permitted"    // needs privileges, or is not granted to a client
	NotFound     Code = "not found"        // no such object: interface, route, file, program
	Exists       Code = "exists"           // an object with this identity is there already
	Invalid      Code = "invalid argument" // the kernel or the agent cannot make sense of the request
	Exhausted    Code = "exhausted"        // no port, memory, descriptor or disk space left
	Bounds       Code = "out of bounds"    // more than a serving host grants to one client
	Busy         Code = "busy"             // in use by another process, or a trial is under way
	Unreachable  Code = "unreachable"      // no route, no neighbour, nothing listens
	Deadline     Code = "deadline"         // not done in time
	Canceled     Code = "canceled"         // the caller gave up
	Gone         Code = "gone"             // the agent's stream has ended
	Crashed      Code = "crashed"          // the handler panicked; the agent goes on
	TooLarge     Code = "too large"        // a message of more than 64 MiB
)

func (c Code) Error() string { return string(c) }

// Error is a failed request to an agent. It says the node and the agent's own text,
// which names operation, object, errno and the kernel's extended acknowledgement as
// far as there are any. errors.Is finds its Code, and what ended the caller's context.
type Error struct {
	Node string // empty: left out of the text
	Op   string // the verb: "apply"
	Code Code   // empty: of no particular kind
	Text string

	cause error // on the caller's side
}

func (e *Error) Error() string {
	if e.Node == "" {
		return e.Text
	}
	return e.Node + ": " + e.Text
}

func (e *Error) Unwrap() []error {
	var list []error
	if e.Code != "" {
		list = append(list, e.Code)
	}
	if e.cause != nil {
		list = append(list, e.cause)
	}
	return list
}

// Local returns err without the node where it is the failure of the node's agent,
// and err itself otherwise: for people who know which host they are at.
func Local(err error, node string) error {
	if e, ok := errors.AsType[*Error](err); ok && e.Node == node {
		bare := *e
		bare.Node = ""
		return &bare
	}
	return err
}

// Coded gives err a code that CodeOf cannot see by itself; nil stays nil.
func Coded(code Code, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Code: code, Text: err.Error(), cause: err}
}

// CodeOf is the code of an error: its own, where one was given, or else that of the
// errno or the standard error that it wraps; empty: of no particular kind.
func CodeOf(err error) Code {
	if code, ok := errors.AsType[Code](err); ok {
		return code
	}
	for _, kind := range kinds {
		for _, is := range kind.errs {
			if errors.Is(err, is) {
				return kind.code
			}
		}
	}
	return ""
}

// kinds maps errnos (errno(3)) and standard errors to codes, in this order.
var kinds = []struct {
	code Code
	errs []error
}{
	{Unsupported, []error{errors.ErrUnsupported, syscall.EOPNOTSUPP, syscall.ENOSYS, syscall.EPROTONOSUPPORT, syscall.EAFNOSUPPORT, syscall.ENOPROTOOPT}},
	{NotPermitted, []error{fs.ErrPermission, syscall.EPERM, syscall.EACCES, syscall.EROFS}},
	{Exists, []error{fs.ErrExist, syscall.EEXIST}},
	{NotFound, []error{fs.ErrNotExist, syscall.ENOENT, syscall.ENODEV, syscall.ENXIO, syscall.ESRCH}},
	{Exhausted, []error{syscall.EADDRNOTAVAIL, syscall.ENOSPC, syscall.EDQUOT, syscall.ENOMEM, syscall.ENOBUFS, syscall.EMFILE, syscall.ENFILE}},
	{Busy, []error{syscall.EBUSY, syscall.EADDRINUSE}},
	{Unreachable, []error{syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ECONNREFUSED, syscall.ENETDOWN}},
	{Deadline, []error{context.DeadlineExceeded, os.ErrDeadlineExceeded, syscall.ETIMEDOUT}},
	{Canceled, []error{context.Canceled}},
	{Invalid, []error{syscall.EINVAL, syscall.ERANGE}},
}
