package web

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpguts"

	"linerate/internal/host/application"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
)

// server1 answers over HTTP/1.1. A goroutine for each connection reads the common form of a request by itself, so that
// the server has time left where a client measures; all others are read by package net/http.
type server1 struct {
	*application.Server
	body int64
	head atomic.Pointer[head] // of answers in this second
}

// head is the status line of an answer and the fields that all answers have.
type head struct {
	second int64
	text   []byte
}

// serve1 answers the connections of the listener.
func serve1(ctx context.Context, s *application.Server) error {
	socket.FillPayload()
	server := &server1{Server: s, body: bodyOf(s.Spec)}
	return s.Each(ctx, func(conn net.Conn) {
		if application.Encrypted(s.Spec) {
			conn = s.Secure(conn, "http/1.1")
		}
		c := &conn1{Conn: conn, server: server, in: bufio.NewReaderSize(conn, requestHeader)}
		for ctx.Err() == nil && c.serve(ctx) {
		}
	})
}

// bodyOf returns the size of the answers of a flow's server, in bytes.
func bodyOf(spec flow.Spec) int64 { return int64(cmp.Or(spec.Response, flow.DefaultBody)) }

// heading returns the head of an answer. Its date has the precision of a second (RFC 9110, section 6.6.1).
func (s *server1) heading() []byte {
	now := time.Now()
	h := s.head.Load()
	if h == nil || h.second != now.Unix() {
		h = &head{now.Unix(), fmt.Appendf(nil,
			"HTTP/1.1 200 OK\r\nDate: %s\r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\n",
			now.UTC().Format(http.TimeFormat), s.body)}
		s.head.Store(h)
	}
	return h.text
}

// conn1 is a connection of the server.
type conn1 struct {
	net.Conn
	server   *server1
	in       *bufio.Reader
	out      []byte
	extended int64 // when its deadline was set; 0: it has another one
}

// extend moves the deadline of the connection to between idleTimeout-extendEvery and idleTimeout from now.
func (c *conn1) extend() error {
	now := sched.Now()
	if c.extended != 0 && now-c.extended < int64(extendEvery) {
		return nil
	}
	c.extended = now
	return c.SetDeadline(time.Now().Add(idleTimeout))
}

// extendEvery is how often the deadline of a busy connection is set, which takes as long as parsing a request.
const extendEvery = 5 * time.Second

// serve answers a request. It returns false if the connection must be closed.
func (c *conn1) serve(ctx context.Context) bool {
	header, err := c.header()
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return c.refuse(http.StatusRequestHeaderFieldsTooLarge)
	case err != nil:
		return false
	case isPlain(header):
		_, _ = c.in.Discard(len(header)) // which are buffered
		return c.server.Think(ctx, c.Conn) && c.answer("", true)
	}
	r, err := http.ReadRequest(c.in)
	if err != nil || r.ProtoAtLeast(1, 1) && r.Host == "" || !isValid(r) {
		return c.refuse(http.StatusBadRequest)
	}
	if r.ProtoAtLeast(1, 1) && strings.EqualFold(r.Header.Get("Expect"), "100-continue") {
		if _, err := io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
			return false
		}
	}
	most := int64(c.server.Spec.Request)
	n, err := io.Copy(io.Discard, io.LimitReader(r.Body, most+1))
	switch {
	case n > most:
		return c.refuse(http.StatusRequestEntityTooLarge)
	case err != nil:
		return c.refuse(http.StatusBadRequest)
	}
	fields := ""
	switch {
	case r.Close:
		fields = "Connection: close\r\n"
	case !r.ProtoAtLeast(1, 1):
		fields = "Connection: keep-alive\r\n"
	}
	return c.server.Think(ctx, c.Conn) && c.answer(fields, r.Method != http.MethodHead) && !r.Close
}

// header waits for a request and returns its header, which stays buffered.
func (c *conn1) header() ([]byte, error) {
	if c.in.Buffered() == 0 {
		if err := c.extend(); err != nil {
			return nil, err
		}
		if _, err := c.in.Peek(1); err != nil {
			return nil, err
		}
	}
	for first := true; ; first = false {
		b, _ := c.in.Peek(c.in.Buffered())
		if end := endOfHeader(b); end > 0 {
			return b[:end], c.extend()
		}
		if first {
			c.extended = 0
			if err := c.SetReadDeadline(time.Now().Add(headerTimeout)); err != nil {
				return nil, err
			}
		}
		if _, err := c.in.Peek(len(b) + 1); err != nil {
			return nil, err
		}
	}
}

// endOfHeader returns the length of the header at the beginning of b, with the empty line that ends it; 0: it has not
// ended. Lines may end with LF alone (RFC 9112, section 2.2).
func endOfHeader(b []byte) int {
	for i := 0; ; {
		n := bytes.IndexByte(b[i:], '\n')
		if n < 0 {
			return 0
		}
		i += n + 1
		switch {
		case bytes.HasPrefix(b[i:], []byte("\r\n")):
			return i + 2
		case bytes.HasPrefix(b[i:], []byte("\n")):
			return i + 1
		}
	}
}

// isPlain reports whether a request is GET by HTTP/1.1, with one Host and no field that decides where the request ends
// or how it is answered.
func isPlain(header []byte) bool {
	line, rest, _ := bytes.Cut(header, []byte("\r\n"))
	target, ok := bytes.CutPrefix(line, []byte("GET /"))
	if !ok {
		return false
	}
	target, ok = bytes.CutSuffix(target, []byte(" HTTP/1.1"))
	if !ok || bytes.ContainsFunc(target, func(r rune) bool { return r <= ' ' || r == '%' || r >= 0x7f }) {
		return false
	}
	hosts := 0
	for {
		line, rest, ok = bytes.Cut(rest, []byte("\r\n"))
		if len(line) == 0 {
			return ok && len(rest) == 0 && hosts == 1
		}
		name, value, isField := bytes.Cut(line, []byte(":"))
		if !ok || !isField || !isToken(name) || bytes.ContainsFunc(value, isControl) {
			return false
		}
		switch {
		case bytes.EqualFold(name, []byte("Host")):
			if hosts++; !isHost(bytes.TrimSpace(value)) {
				return false
			}
		case bytes.EqualFold(name, []byte("Connection")):
			if !bytes.EqualFold(bytes.TrimSpace(value), []byte("keep-alive")) {
				return false
			}
		case bytes.EqualFold(name, []byte("Content-Length")), bytes.EqualFold(name, []byte("Transfer-Encoding")),
			bytes.EqualFold(name, []byte("Expect")), bytes.EqualFold(name, []byte("Upgrade")):
			return false
		}
	}
}

// isToken reports whether a field's name consists of letters, digits, dashes and underscores. Others that RFC 9110,
// section 5.6.2 permits are rare.
func isToken(name []byte) bool {
	return len(name) > 0 && !bytes.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

// isHost reports whether a host consists of letters, digits, dots, dashes and colons.
func isHost(host []byte) bool {
	return len(host) > 0 && !bytes.ContainsFunc(host, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '-' || r > ':' || r == '/')
	})
}

// isValid reports whether the host and the fields of a request have the characters that they may have, which
// http.ReadRequest leaves to its caller.
func isValid(r *http.Request) bool {
	for name, values := range r.Header {
		if !httpguts.ValidHeaderFieldName(name) ||
			slices.ContainsFunc(values, func(v string) bool { return !httpguts.ValidHeaderFieldValue(v) }) {
			return false
		}
	}
	return httpguts.ValidHostHeader(r.Host)
}

// isControl reports whether a character must not be in a field's value (RFC 9110, section 5.5).
func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// answer writes an answer with these further fields, in as few packets as it takes.
func (c *conn1) answer(fields string, withBody bool) bool {
	c.out = append(c.out[:0], c.server.heading()...)
	c.out = append(append(c.out, fields...), '\r', '\n')
	left := int64(0)
	if withBody {
		n := min(c.server.body, int64(largestAnswer-len(c.out)))
		c.out = append(c.out, socket.Payload[:n]...)
		left = c.server.body - n
	}
	if c.extend() != nil {
		return false
	}
	_, err := c.Write(c.out)
	for left > 0 && err == nil {
		var n int
		n, err = c.Write(socket.Payload[:min(left, int64(len(socket.Payload)))])
		left -= int64(n)
	}
	if err == nil {
		c.server.Answered()
	}
	return err == nil
}

// largestAnswer limits how much of an answer is copied behind its header, in bytes.
const largestAnswer = 16 << 10

// refuse answers that a request is refused. It reads for a moment what the client is still sending, since closing would
// destroy the answer (RFC 9112, section 9.6), and returns false.
func (c *conn1) refuse(status int) bool {
	const lingering, most = 500 * time.Millisecond, 256 << 10
	if c.SetDeadline(time.Now().Add(lingering)) != nil {
		return false
	}
	_, err := fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nDate: %s\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", status,
		http.StatusText(status), time.Now().UTC().Format(http.TimeFormat))
	if end, is := c.Conn.(interface{ CloseWrite() error }); is && errors.Join(err, end.CloseWrite()) == nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(c.in, most))
	}
	return false
}
