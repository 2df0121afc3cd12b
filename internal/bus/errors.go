package bus

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"syscall"

	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// ErrEnded means that a request failed because the agent's stream ended.
var ErrEnded = errors.New("the agent is gone: its stream ended")

// ErrNotAnAgent means that the bus ended a stream because its first bytes are not those of
// an agent.
var ErrNotAnAgent = errors.New("the stream does not begin as an agent's does")

var errUnanswered = errors.New("the agent does not answer this request")

// ErrEarly means that an agent ended before its first message.
var ErrEarly = errors.New("the agent ended before it was ready")

// Error is a failed request to an agent. errors.Is finds the code of Err, and the cause if
// the caller's context ended.
type Error struct {
	Node string // empty: left out of the text
	Op   string // the verb, such as "apply"
	Err  error  // a *message.Error if the agent reported the failure
}

func (e *Error) Error() string {
	if e.Node == "" {
		return e.Err.Error()
	}
	return e.Node + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Local removes the name of the node from err if that is a failure of this node's agent,
// and returns other errors unchanged. It is for people who know which host they are on.
func Local(err error, node string) error {
	if e, ok := errors.AsType[*Error](err); ok && e.Node == node {
		return &Error{Op: e.Op, Err: e.Err}
	}
	return err
}

// Coded gives err a code that CodeOf cannot determine by itself; nil stays nil.
func Coded(code message.Code, err error) error {
	if err == nil {
		return nil
	}
	return &coded{code, err}
}

type coded struct {
	code message.Code
	err  error
}

func (c *coded) Error() string   { return c.err.Error() }
func (c *coded) Unwrap() []error { return []error{c.code, c.err} }

// Failure converts err to the form in which it crosses the bus: with its code and, if no
// port or descriptor was left, the figures of these; nil stays nil.
func Failure(err error) *message.Error {
	if err == nil {
		return nil
	}
	e := &message.Error{Code: CodeOf(err), Text: err.Error()}
	if e.Text == "" {
		e.Text = "failed without saying why"
	}
	if ports, ok := errors.AsType[*record.PortsExhausted](err); ok {
		e.Code, e.Ports = message.Exhausted, ports
	} else if descriptors, ok := errors.AsType[*record.DescriptorsExhausted](err); ok {
		e.Code, e.Descriptors = message.Exhausted, descriptors
	} else if inner, ok := errors.AsType[*message.Error](err); ok {
		e.Ports, e.Descriptors = inner.Ports, inner.Descriptors
	}
	return e
}

// longestText bounds each text of a node that is not trusted, in bytes: as an attribute of
// sysfs is, so that no list of CPUs exceeds it.
const longestText = 4 << 10

// cutTexts cuts the texts in a decoded value that are longer than longestText.
func cutTexts(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if text := v.String(); len(text) > longestText {
			v.SetString(strings.ToValidUTF8(text[:longestText], "") + "…")
		}
	case reflect.Pointer:
		if !v.IsNil() {
			cutTexts(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() {
			v.Set(withCutTexts(v.Elem()))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			cutTexts(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value := withCutTexts(v.MapIndex(key))
			v.SetMapIndex(key, reflect.Value{})
			v.SetMapIndex(withCutTexts(key), value)
		}
	case reflect.Struct:
		for field, of := range v.Fields() {
			if field.IsExported() {
				cutTexts(of)
			}
		}
	}
}

// withCutTexts is a value that cannot be set itself, with its texts cut.
func withCutTexts(v reflect.Value) reflect.Value {
	to := reflect.New(v.Type()).Elem()
	to.Set(v)
	cutTexts(to)
	return to
}

// CodeOf returns the code of an error: the one that it was given, otherwise that of the
// errno or standard error that it wraps; empty: none applies.
func CodeOf(err error) message.Code {
	if code, ok := errors.AsType[message.Code](err); ok {
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
	code message.Code
	errs []error
}{
	{message.Unsupported, []error{errors.ErrUnsupported, syscall.EOPNOTSUPP, syscall.ENOSYS, syscall.EPROTONOSUPPORT,
		syscall.EAFNOSUPPORT, syscall.ENOPROTOOPT}},
	{message.NotPermitted, []error{fs.ErrPermission, syscall.EPERM, syscall.EACCES, syscall.EROFS}},
	{message.Exists, []error{fs.ErrExist, syscall.EEXIST}},
	{message.NotFound, []error{fs.ErrNotExist, syscall.ENOENT, syscall.ENODEV, syscall.ENXIO, syscall.ESRCH}},
	{message.Exhausted, []error{syscall.EADDRNOTAVAIL, syscall.ENOSPC, syscall.EDQUOT, syscall.ENOMEM, syscall.ENOBUFS,
		syscall.EMFILE, syscall.ENFILE}},
	{message.Busy, []error{syscall.EBUSY, syscall.EADDRINUSE}},
	{message.Unreachable, []error{syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ECONNREFUSED, syscall.ENETDOWN}},
	{message.Deadline, []error{context.DeadlineExceeded, os.ErrDeadlineExceeded, syscall.ETIMEDOUT}},
	{message.Canceled, []error{context.Canceled}},
	{message.Invalid, []error{syscall.EINVAL, syscall.ERANGE}},
}
