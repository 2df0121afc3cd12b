package message

import "linerate/internal/model/record"

// Code is the kind of a failure, equal on every host. A Code is an error, so callers can test
// errors.Is(err, message.NotFound) on an error that wraps an Error. The zero value is a failure of
// no particular kind.
type Code string

const (
	Unsupported  Code = "unsupported"      // by the kernel, or by an agent that does not know the verb
	NotPermitted Code = "not permitted"    // needs privileges, or is not granted to clients
	NotFound     Code = "not found"        // no such object: interface, route, file, program
	Exists       Code = "exists"           // an object with this identity already exists
	Invalid      Code = "invalid argument" // the kernel or the agent does not understand the request
	Exhausted    Code = "exhausted"        // no port, memory, descriptor or disk space left
	OutOfBounds  Code = "out of bounds"    // more than a serving host grants one client
	Busy         Code = "busy"             // in use by another process, or a trial is in progress
	Unreachable  Code = "unreachable"      // no route, no neighbour, nothing listens
	Deadline     Code = "deadline"         // not done in time
	Canceled     Code = "canceled"         // the caller cancelled the request
	Gone         Code = "gone"             // the agent's stream has ended
	Crashed      Code = "crashed"          // the handler panicked; the agent goes on
	TooLarge     Code = "too large"        // a message of more than 64 MiB
	Leftover     Code = "leftover"         // an agent that was killed has left changed settings behind
)

func (c Code) Error() string { return string(c) }

// Error is the failure of a request, or of one flow or event of a request, on another host.
// errors.Is finds its Code. A nil *Error means success.
type Error struct {
	Code Code `json:"code,omitempty" is:"words"` // empty: no particular kind
	// Text contains the operation, the object, the errno and the kernel's extended acknowledgement,
	// if there are any.
	Text string `json:"text" is:"text"`
	// Ports describes the ports in use if none was left for a flow (Exhausted).
	Ports *record.PortsExhausted `json:"ports,omitempty"`
	// Descriptors has the limit if no descriptor was left for a flow (Exhausted).
	Descriptors *record.DescriptorsExhausted `json:"descriptors,omitempty"`
}

// Error returns the text. Empty if e is nil.
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
