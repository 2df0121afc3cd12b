package web

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"

	"linerate/internal/host/application"
)

// parser finds responses of HTTP/1.1 and HTTP/1.0 in the bytes of a connection (RFC 9112), as strictly as package
// net/http does. It keeps no header and no body. Interim responses (status 1xx, RFC 9110, section 15.2) are a part of
// the header of the final one.
type parser struct {
	head   bool // whether responses answer HEAD requests, and have no body
	lines  application.Lines
	left   int64 // bytes until the end of the body or chunk
	size   int   // bytes of the header, or of the trailer section
	excess int64 // bytes of chunks that are no data, beyond what small chunks need
	state  state
	header header
}

// header is what a response's header says of its framing.
type header struct {
	status       int
	major, minor byte
	fields       int   // number of fields
	length       int64 // Content-Length; negative: none
	digits       int   // of it
	codings      int   // number of Transfer-Encoding fields
	chunked      bool  // the first of them is "chunked"
	close, keep  bool  // options of Connection
	framing      bool  // the latest field is one of these
}

// state is what the next bytes are.
type state uint8

const (
	inStatus state = iota
	inHeader
	inBody      // of known length
	inRest      // a body that the end of the connection ends
	inChunkSize // its line
	inChunk
	inChunkEnd // CRLF after a chunk
	inTrailer
)

const (
	// longestChunkLine limits the line before a chunk, in bytes, longestExcess the bytes of chunks that are no data.
	longestChunkLine = 4 << 10
	longestExcess    = 16 << 10
)

var (
	errLongHeader = errors.New("the header of the response has more than 64 KiB")
	errChunk      = errors.New("malformed chunked encoding")
)

// reset prepares for the next response.
func (p *parser) reset() {
	p.state, p.size, p.excess, p.left = inStatus, 0, 0, 0
	p.header = header{length: -1}
}

func (p *parser) Next(b []byte, pending *application.Pending) (int, application.Event, error) {
	call := pending.Oldest()
	if call == nil { // bytes after the last response belong to no request
		return len(b), application.Event{Last: true}, nil
	}
	n, done, err := p.feed(b)
	if err != nil || !done {
		return n, application.Event{Call: call}, err
	}
	return n, p.complete(call), nil
}

// complete returns the event of a complete response.
func (p *parser) complete(call *application.Call) application.Event {
	e := application.Event{Call: call, Done: true, Last: p.last()}
	e.Outcome, e.Failed = outcome(p.header.status)
	p.reset()
	return e
}

// last reports whether the server closes the connection after the response, or uses it for another protocol (RFC 9112,
// section 9.6).
func (p *parser) last() bool {
	h := &p.header
	return h.close || h.major == 0 || h.major == 1 && h.minor == 0 && !h.keep || p.state == inRest || h.status == 101
}

func (p *parser) Body() int64 {
	switch p.state {
	case inBody, inChunk:
		return p.left
	case inRest:
		return math.MaxInt64
	}
	return 0
}

func (p *parser) Discarded(n int64, pending *application.Pending) application.Event {
	if p.state == inRest {
		return application.Event{}
	}
	p.left -= n
	if p.left > 0 || p.state == inChunk {
		p.advance()
		return application.Event{}
	}
	return p.complete(pending.Oldest())
}

// advance ends a chunk whose last byte has arrived.
func (p *parser) advance() {
	if p.state == inChunk && p.left == 0 {
		p.state = inChunkEnd
	}
}

func (p *parser) End(pending *application.Pending) (application.Event, bool) {
	if p.state != inRest || pending.Oldest() == nil {
		return application.Event{}, false
	}
	return p.complete(pending.Oldest()), true
}

// feed parses bytes until the response is complete or b ends, and returns how many it has used.
func (p *parser) feed(b []byte) (n int, done bool, err error) {
	for n < len(b) {
		switch p.state {
		case inRest:
			return len(b), false, nil
		case inBody, inChunk:
			take := min(int64(len(b)-n), p.left)
			n += int(take)
			p.left -= take
			if p.left == 0 && p.state == inBody {
				return n, true, nil
			}
			p.advance()
		default:
			line, used, whole := p.lines.Next(b[n:])
			n += used
			if err = p.limit(len(line)); err == nil && whole {
				done, err = p.line(line)
			}
			if done || err != nil {
				return n, done, err
			}
		}
	}
	return n, false, nil
}

// limit returns an error if a line of so many bytes exceeds what is permitted.
func (p *parser) limit(bytes int) error {
	switch {
	case p.state == inChunkSize && bytes >= longestChunkLine, p.state == inChunkEnd && bytes > 1:
		return errChunk
	case p.size+bytes > longestHeader:
		return errLongHeader
	}
	return nil
}

// line parses a line, without its LF. It reports whether it completes the response.
func (p *parser) line(line []byte) (done bool, err error) {
	text, hasCR := bytes.CutSuffix(line, []byte{'\r'})
	switch p.state {
	case inStatus:
		p.size += len(line) + 1
		p.state = inHeader
		return false, p.status(text)
	case inHeader:
		p.size += len(line) + 1
		if len(text) > 0 {
			return false, p.field(text)
		}
		return p.body()
	case inChunkSize:
		if !hasCR || bytes.IndexByte(text, '\r') >= 0 {
			return false, errChunk
		}
		return false, p.chunk(text)
	case inChunkEnd:
		if len(text) > 0 || !hasCR {
			return false, errChunk
		}
		p.state = inChunkSize
	case inTrailer:
		p.size += len(line) + 1
		if !hasCR {
			return false, errChunk
		}
		if len(text) == 0 {
			return true, nil
		}
		name, _, found := bytes.Cut(text, []byte{':'})
		if !found || !isName(name) || !isValue(text) {
			return false, fmt.Errorf("malformed trailer field %q", text)
		}
	}
	return false, nil
}

// status parses a status line (RFC 9112, section 4).
func (p *parser) status(line []byte) error {
	version, rest, _ := bytes.Cut(line, []byte{' '})
	code, _, _ := bytes.Cut(bytes.TrimLeft(rest, " "), []byte{' '})
	h := &p.header
	if len(version) != 8 || string(version[:5]) != "HTTP/" || version[6] != '.' || !isDigit(version[5]) ||
		!isDigit(version[7]) || len(code) != 3 || !isDigit(code[0]) || !isDigit(code[1]) || !isDigit(code[2]) {
		return fmt.Errorf("malformed status line %q", line[:min(len(line), 60)])
	}
	h.major, h.minor = version[5]-'0', version[7]-'0'
	h.status = int(code[0]-'0')*100 + int(code[1]-'0')*10 + int(code[2]-'0')
	return nil
}

// field parses a header field (RFC 9112, section 5).
func (p *parser) field(line []byte) error {
	h := &p.header
	if line[0] == ' ' || line[0] == '\t' {
		if h.fields == 0 || h.framing || !isValue(line) {
			return fmt.Errorf("malformed header field %q", line)
		}
		return nil // the rest of a folded field that has no meaning here
	}
	colon := bytes.IndexByte(line, ':')
	if colon < 0 || !isName(line[:colon]) || !isValue(line[colon+1:]) {
		return fmt.Errorf("malformed header field %q", line)
	}
	h.fields++
	h.framing = false
	name := line[:colon]
	switch {
	case len(name) == 14 && bytes.EqualFold(name, []byte("Content-Length")):
		h.framing = true
		return h.contentLength(trim(line[colon+1:]))
	case len(name) == 17 && bytes.EqualFold(name, []byte("Transfer-Encoding")):
		h.framing = true
		h.codings++
		h.chunked = bytes.EqualFold(trim(line[colon+1:]), []byte("chunked"))
	case len(name) == 10 && bytes.EqualFold(name, []byte("Connection")):
		h.framing = true
		for option := range bytes.SplitSeq(line[colon+1:], []byte{','}) {
			h.close = h.close || bytes.EqualFold(trim(option), []byte("close"))
			h.keep = h.keep || bytes.EqualFold(trim(option), []byte("keep-alive"))
		}
	}
	return nil
}

// contentLength parses a Content-Length field. Several must be equal (RFC 9112, section 6.3).
func (h *header) contentLength(value []byte) error {
	length, err := strconv.ParseUint(string(value), 10, 63)
	if err != nil || h.length >= 0 && (h.length != int64(length) || h.digits != len(value)) {
		return fmt.Errorf("malformed Content-Length %q", value)
	}
	h.length, h.digits = int64(length), len(value)
	return nil
}

// body begins the body after the header (RFC 9112, section 6.3). It reports whether there is none.
func (p *parser) body() (done bool, err error) {
	h := &p.header
	coded := h.codings > 0 && (h.major > 1 || h.major == 1 && h.minor > 0 || h.major == 0 && h.minor == 0)
	if coded && (h.codings > 1 || !h.chunked) {
		return false, errors.New("the transfer coding of the response is not supported")
	}
	switch {
	case h.status/100 == 1 && h.status != 101:
		size := p.size
		p.reset()
		p.size = size
		return false, nil
	case h.status/100 == 1, h.status == 204, h.status == 304, p.head:
		return true, nil
	case coded:
		p.state, p.size = inChunkSize, 0
	case h.length < 0:
		p.state = inRest
	case h.length == 0:
		return true, nil
	default:
		p.state, p.left = inBody, h.length
	}
	return false, nil
}

// chunk parses the line before a chunk (RFC 9112, section 7.1).
func (p *parser) chunk(line []byte) error {
	length, _, _ := bytes.Cut(line, []byte{';'})
	length = bytes.TrimRight(length, " \t")
	if len(length) == 0 || len(length) > 16 {
		return errChunk
	}
	size := uint64(0)
	for _, c := range length {
		digit := bytes.IndexByte([]byte("0123456789abcdef"), c|0x20)
		if digit < 0 || c < '0' {
			return errChunk
		}
		size = size<<4 | uint64(digit)
	}
	if size > math.MaxInt64/4 {
		return errChunk
	}
	p.excess = max(0, p.excess+int64(len(line))+2-16-2*int64(size))
	if p.excess > longestExcess {
		return errors.New("the chunks of the response are mostly not data")
	}
	p.state, p.left = inChunk, int64(size)
	if size == 0 {
		p.state = inTrailer
	}
	return nil
}

// trim removes white space around a value (OWS, RFC 9110, section 5.6.3).
func trim(value []byte) []byte { return bytes.Trim(value, " \t") }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isName reports whether a field has a name: a token (RFC 9110, section 5.6.2), before which and in which net/http also
// accepts spaces.
func isName(name []byte) bool {
	for _, c := range name {
		if !nameBytes[c] {
			return false
		}
	}
	return len(name) > 0
}

// isValue reports whether a field's value has no control characters (RFC 9110, section 5.5).
func isValue(value []byte) bool {
	for _, c := range value {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// nameBytes are the bytes of field names.
var nameBytes = func() (is [256]bool) {
	for _, c := range []byte("!#$%&'*+-.^_`|~ 0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		is[c] = true
	}
	return is
}()
