package web

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"linerate/internal/host/application"
)

// framed is what is compared of a response.
type framed struct {
	status int
	body   int64
	last   bool // the connection ends with it
}

func (f framed) String() string {
	return fmt.Sprintf("status %d, body %d, last %v", f.status, f.body, f.last)
}

// parsed returns the responses in a stream that ends with EOF, received in pieces of a size, and the error. Bodies are
// counted in pieces of one byte.
func parsed(stream []byte, piece int, head bool) (all []framed, err error) {
	p := &parser{}
	p.reset()
	p.head = head
	body := int64(0)
	for len(stream) > 0 {
		b := stream[:min(piece, len(stream))]
		stream = stream[len(b):]
		for len(b) > 0 {
			before := p.Body()
			n, done, err := p.feed(b)
			if before > 0 {
				body += int64(n)
			}
			if err != nil {
				return all, err
			}
			b = b[n:]
			if done {
				all = append(all, framed{p.header.status, body, p.last()})
				if p.last() {
					return all, nil
				}
				body = 0
				p.reset()
			}
		}
	}
	switch {
	case p.state == inRest:
		return append(all, framed{p.header.status, body, true}), nil
	case p.state != inStatus || p.lines.Held() > 0 || p.size > 0:
		return all, io.ErrUnexpectedEOF
	}
	return all, nil
}

// read returns the same as package net/http reads it.
func read(stream []byte, head bool) (all []framed, err error) {
	r := bufio.NewReaderSize(bytes.NewReader(stream), max(16, len(stream)))
	method := http.MethodGet
	if head {
		method = http.MethodHead
	}
	for {
		if _, err := r.Peek(1); err == io.EOF {
			return all, nil
		}
		response, err := http.ReadResponse(r, &http.Request{Method: method})
		if err != nil {
			return all, err
		}
		if response.StatusCode/100 == 1 && response.StatusCode != http.StatusSwitchingProtocols {
			if _, err := r.Peek(1); err == io.EOF {
				return all, io.ErrUnexpectedEOF
			}
			continue
		}
		n, err := io.Copy(io.Discard, response.Body)
		if err != nil {
			return all, err
		}
		last := response.Close || response.StatusCode == http.StatusSwitchingProtocols
		if all = append(all, framed{response.StatusCode, n, last}); last {
			return all, nil
		}
	}
}

// responses are streams with responses, or what pretends to be one.
var responses = []string{
	"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
	"HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
	"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nabc",
	"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
	"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n\x00\x01",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;ext=1\r\nhello\r\n0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked \r\nContent-Length: 9\r\n\r\nA \r\n0123456789\r\n000\r\nA: b\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
	"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
	"HTTP/1.0 200 OK\r\n\r\nuntil the end",
	"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nxHTTP/1.0 500 E\r\n\r\n",
	"HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 1\r\n\r\nx",
	"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nHTTP/1.1 304 Not Modified\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
	"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 05\r\n\r\nhello",
	"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\n", "HTTP/1.1 200 OK\r\n Folded: 1\r\n\r\n",
	"HTTP/1.1 200 OK\r\nA\x00: 1\r\n\r\n", "HTTP/1.1 200 OK\r\nA: \x01\r\n\r\n", "HTTP/1.1 200 OK\r\n: 1\r\n\r\n",
	"HTTP/1.1 2000 OK\r\n\r\n", "HTTP/11 200 OK\r\n\r\n", "ICY 200 OK\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX\r\n0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n11111111111111111\r\n",
	"HTTP/2.0 200 OK\r\nContent-Length: 1\r\n\r\nx", "HTTP/0.0 200 OK\r\nContent-Length: 1\r\n\r\nx",
	"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP",
}

// alike fails unless the parser and net/http agree on a stream: on every response, and on whether all of it is valid.
// Folded fields that concern the framing, trailers with bare LF, and names of trailers are judged otherwise on purpose.
func alike(t *testing.T, stream []byte, head bool) {
	t.Helper()
	for _, other := range []string{"\n ", "\n\t"} {
		if bytes.Contains(stream, []byte(other)) {
			return
		}
	}
	if bytes.Contains(bytes.ToLower(stream), []byte("trailer")) ||
		bytes.Contains(bytes.ToLower(stream), []byte("chunked")) && bytes.Contains(stream, []byte("\n\n")) {
		return
	}
	want, wrong := read(stream, head)
	for _, piece := range []int{1, 3, len(stream) + 1} {
		got, err := parsed(stream, piece, head)
		if piece > 1 {
			for i := range min(len(got), len(want)) {
				got[i].body = want[i].body
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || (err != nil) != (wrong != nil) {
			t.Fatalf("%q in pieces of %d:\ngot  %v, %v\nwant %v, %v", stream, piece, got, err, want, wrong)
		}
	}
}

// TestResponses: responses have the status, the length and the end that net/http reads.
func TestResponses(t *testing.T) {
	for _, stream := range responses {
		alike(t, []byte(stream), false)
		alike(t, []byte(stream), true)
	}
}

// FuzzResponses is TestResponses for any bytes.
func FuzzResponses(f *testing.F) {
	for _, stream := range responses {
		f.Add([]byte(stream), false)
	}
	f.Fuzz(func(t *testing.T, stream []byte, head bool) {
		if len(stream) < 4<<10 { // longer lines have other limits
			alike(t, stream, head)
		}
	})
}

// TestLimitsOfResponses: what a server sends without end is an error.
func TestLimitsOfResponses(t *testing.T) {
	for name, stream := range map[string]string{
		"a line":     "HTTP/1.1 200 " + strings.Repeat("a", 70<<10),
		"header":     "HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", 12<<10),
		"interim":    strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 2<<10),
		"chunk line": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + strings.Repeat("a", 5<<10),
		"small chunks": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
			strings.Repeat("1;"+strings.Repeat("x", 100)+"\r\nx\r\n", 300),
		"trailers": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" +
			strings.Repeat("A: b\r\n", 12<<10),
	} {
		for _, piece := range []int{1000, len(stream)} {
			if got, err := parsed([]byte(stream), piece, false); err == nil || err == io.ErrUnexpectedEOF {
				t.Errorf("%s in pieces of %d: %v, %v", name, piece, got, err)
			}
		}
	}
}

// TestSurplus: what follows the last response belongs to no request, and the connection is not used again.
func TestSurplus(t *testing.T) {
	pending := application.NewPending(1)
	pending.Add()
	p := (&codec{}).Parser()
	stream := []byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nsurplus")
	n, e, err := p.Next(stream, &pending)
	if err != nil || !e.Done || e.Last || e.Outcome != "200" {
		t.Fatalf("%+v, %v", e, err)
	}
	if _, e, _ = p.Next(stream[n:], &application.Pending{}); !e.Last {
		t.Errorf("%+v", e)
	}
}
