package message

import "linerate/internal/model/record"

// Code is the kind of a failure, the same on every host. A Code is an error, so that
// callers ask errors.Is(err, message.NotFound) of whatever wraps an Error. The zero
// value is a failure of no particular kind.
type Code string

const (
	Unsupported  Code = "unsupported"      // by this kernel, or an agent that does not answer the verb
	NotPermitted Code = "not permitted"    // needs privileges, or is not granted to a client
	NotFound     Code = "not found"        // no such object: interface, route, file, program
	Exists       Code = "exists"           // an object with this identity is there already
	Invalid      Code = "invalid argument" // the kernel or the agent cannot make sense of the request
	Exhausted    Code = "exhausted"        // no port, memory, descriptor or disk space left
	OutOfBounds  Code = "out of bounds"    // more than a serving host grants to one client
	Busy         Code = "busy"             // in use by another process, or a trial is in progress
	Unreachable  Code = "unreachable"      // no route, no neighbour, nothing listens
	Deadline     Code = "deadline"         // not done in time
	Canceled     Code = "canceled"         // the caller gave up
	Gone         Code = "gone"             // the agent's stream has ended
	Crashed      Code = "crashed"          // the handler panicked; the agent goes on
	TooLarge     Code = "too large"        // a message of more than 64 MiB
	Leftover     Code = "leftover"         // an agent that was killed has left settings changed
)

func (c Code) Error() string { return string(c) }

// Error is a failure on a host as it crosses the bus: of a request, or of one flow or
// event of a request. errors.Is finds its Code; a nil *Error is no failure.
type Error struct {
	Code Code `json:"code,omitempty"` // empty: of no particular kind
	// Text names operation, object, errno and the kernel's extended acknowledgement, as
	// far as there are any.
	Text string `json:"text"`
	// Ports says which ports are in use, where none was left for a flow (Exhausted).
	Ports *record.PortsExhausted `json:"ports,omitempty"`
	// Descriptors says how many there may be, where none was left for a flow (Exhausted).
	Descriptors *record.DescriptorsExhausted `json:"descriptors,omitempty"`
}

// Error is the text; empty: e is nil.
func (e *Error) Error() string {
	if e == nil {
		return ""
	}
	return e.Text
}

func (e *Error) Unwrap() error {
	if e == nil || e.Code == "" {
		return nil
	}
	return e.Code
}
