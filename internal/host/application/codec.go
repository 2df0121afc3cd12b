package application

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Codec is the client's end of a protocol as functions of bytes: it does no input or output, and reads no clock. A flow
// whose protocol has one runs on event loops, or in sessions where the operating system requires that. Its methods are
// safe for concurrent use.
type Codec interface {
	// Append appends a request to b, without its payload.
	Append(b []byte, r Request) []byte
	// Payload returns how many bytes of payload follow each request.
	Payload() int64
	// Ordered reports whether answers come in the order of the requests, so that one that is missing delays all others.
	Ordered() bool
	// Parser returns a parser for the answers on a new connection.
	Parser() Parser
}

// Greeter is a codec whose connections begin with a dialogue, before the first request. Greet also starts TLS where the
// flow has that.
type Greeter interface {
	Greet(ctx context.Context, o *Opening) error
}

// Request tells the requests of a flow apart.
type Request struct {
	ID     uint16 // differs from those of all unanswered requests of the connection
	Number uint64 // counts the requests of a client, from a random number
}

// Parser finds the answers in what a connection receives, a datagram or any piece of a stream at a time.
type Parser interface {
	// Next parses the beginning of b, which is not empty, until an answer is complete or b ends, and returns how many
	// bytes it has used. An error means that what was received is no answer of the protocol.
	Next(b []byte, p *Pending) (n int, e Event, err error)
	// Body returns how many of the bytes that follow have no other meaning than their number. The caller may discard
	// any number of them, which it reports by Discarded.
	Body() int64
	Discarded(n int64, p *Pending) Event
	// End returns the answer that the end of the stream completes; false if it completes none.
	End(p *Pending) (Event, bool)
}

// Whole is a base of parsers whose answers have no bytes without a meaning, and end before the stream does.
type Whole struct{}

// Body returns 0.
func (Whole) Body() int64 { return 0 }

// Discarded returns nothing.
func (Whole) Discarded(int64, *Pending) (e Event) { return e }

// End returns false.
func (Whole) End(*Pending) (e Event, is bool) { return e, false }

// Values is a base of parsers of ordered answers that are lines, and values whose size a line has announced.
type Values struct {
	Whole
	lines Lines
	left  int64 // bytes of a value that have not arrived
}

// Await makes the next bytes a value.
func (v *Values) Await(bytes int64) { v.left = bytes }

// Line returns the next line, without its LF, and how many bytes of b it has used; whole is false if b ends before it,
// or has a value only. A line of more than longest bytes is an error.
func (v *Values) Line(b []byte, longest int) (line []byte, n int, whole bool, err error) {
	if n = int(min(v.left, int64(len(b)))); n > 0 {
		v.left -= int64(n)
		return nil, n, false, nil
	}
	line, n, whole = v.lines.Next(b)
	if len(line) > longest {
		err = fmt.Errorf("a line of the answer has more than %d bytes", longest)
	}
	return line, n, whole, err
}

// Body returns how many bytes of a value have not arrived.
func (v *Values) Body() int64 { return v.left }

// Discarded counts bytes of a value.
func (v *Values) Discarded(n int64, p *Pending) Event {
	v.left -= n
	return Event{Call: p.Oldest()}
}

// Lines finds lines in the pieces of a stream. The zero value is at the beginning of a line.
type Lines struct{ part []byte }

// Next returns the line that b completes, without its LF, and how many bytes of b it has used; whole is false if b ends
// before the line does. The line is valid until the next call.
func (l *Lines) Next(b []byte) (line []byte, n int, whole bool) {
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		l.part = append(l.part, b...)
		return l.part, len(b), false
	}
	if len(l.part) == 0 {
		return b[:end], end + 1, true
	}
	line = append(l.part, b[:end]...)
	if l.part = line[:0]; cap(line) > receiveBytes {
		l.part = nil
	}
	return line, end + 1, true
}

// Held returns how many bytes of a line have arrived whose end has not.
func (l *Lines) Held() int { return len(l.part) }

// Event is what a parser has found. The zero value is nothing.
type Event struct {
	Call    *Call  // whose answer it is; nil: of none
	Done    bool   // the answer is complete; otherwise it has begun
	Outcome string // as in Exchange.Answer
	Failed  bool
	Late    bool // an answer that no request awaits
	// Send is what the request goes on with, as in a dialogue; nil: nothing. It must not be changed later.
	Send []byte
	Last bool // the connection must not be used for further requests
}

// Call is a request that awaits its answer.
type Call struct {
	Request
	x       *Exchange
	pending bool       // it is unanswered; otherwise its place may be another's by now
	sent    int64      // when it was sent
	first   int64      // when its answer began; 0: not yet
	ended   chan error // of a session: receives the failure, or nil

	// Of a loop:
	own        Exchange // x
	client     int32    // its index
	deadline   int64
	next, prev *Call // in the order of beginning
}

// Pending are the unanswered requests of a connection.
type Pending struct {
	slots []Call  // by their ID modulo its length
	queue []*Call // those in use, oldest first
	free  []int32 // indices of the others
}

// NewPending returns room for most requests, at least one.
func NewPending(most int) (p Pending) {
	most = max(1, most)
	p.slots, p.queue, p.free = make([]Call, most), make([]*Call, 0, most), make([]int32, most)
	for i := range p.free {
		p.free[i] = int32(i)
	}
	return p
}

// Add returns a new request, with an ID that a stranger cannot guess; nil if there is no room.
func (p *Pending) Add() *Call {
	if len(p.free) == 0 {
		return nil
	}
	slot, size := int(p.free[len(p.free)-1]), len(p.slots)
	p.free = p.free[:len(p.free)-1]
	c := &p.slots[slot]
	*c = Call{Request: Request{ID: uint16(slot + size*rand.IntN((1<<16-1-slot)/size+1))}, pending: true}
	p.queue = append(p.queue, c)
	return c
}

// remove removes a request, whose place another one may then have.
func (p *Pending) remove(c *Call) {
	i := slices.Index(p.queue, c)
	p.queue = slices.Delete(p.queue, i, i+1)
	c.pending = false
	p.free = append(p.free, int32(int(c.ID)%len(p.slots)))
}

// Oldest returns the request that was added first, nil if there is none.
func (p *Pending) Oldest() *Call {
	if len(p.queue) == 0 {
		return nil
	}
	return p.queue[0]
}

// WithID returns the request with an ID, nil if there is none.
func (p *Pending) WithID(id uint16) *Call {
	c := &p.slots[int(id)%len(p.slots)]
	if c.ID != id || !c.pending {
		return nil
	}
	return c
}
