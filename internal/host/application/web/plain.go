package web

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"sync"

	"linerate/internal/host/application"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/record"
)

// readers are buffers for responses. A connection has one only while it waits for a response, because a flow
// may have very many connections.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 4<<10) }}

// plain is a session of HTTP/1.1 with one request at a time. Its connections have no goroutines.
type plain struct {
	d       *application.Dialer
	shared  *application.Shared[*plainConn]
	request *http.Request // the request that responses answer
	head    []byte        // the encoded request
	body    int64
	invalid error // why the request is invalid; nil: it is valid
}

type plainConn struct {
	*application.Conn
	stream net.Conn // the connection itself, or TLS on it
	limit  *io.LimitedReader
}

func (c *plainConn) Close() { c.Conn.Close() }

func newPlain(d *application.Dialer) *plain {
	p := &plain{d: d, shared: application.NewShared[*plainConn](d), body: int64(d.Spec().Request)}
	method := http.MethodGet
	if p.body > 0 {
		method = http.MethodPost
	}
	request, err := http.NewRequest(method, address(d), http.NoBody)
	if err != nil {
		p.invalid = err
		return p
	}
	p.request = request
	head := bytes.Buffer{}
	header := http.Header{"User-Agent": {agent}}
	head.WriteString(method + " " + p.request.URL.RequestURI() + " HTTP/1.1\r\nHost: " + p.request.Host + "\r\n")
	if p.body > 0 {
		header.Set("Content-Length", length(p.body))
	}
	_ = header.Write(&head) // to memory
	head.WriteString("\r\n")
	p.head = head.Bytes()
	return p
}

// Close closes the connection.
func (p *plain) Close() { p.shared.Close() }

// Do makes a request.
func (p *plain) Do(ctx context.Context, x *application.Exchange) error {
	if p.invalid != nil {
		return p.invalid
	}
	return cause(ctx, p.shared.Do(ctx, func() (*plainConn, error) {
		return p.open(ctx, x)
	}, func(c *plainConn) (bool, error) {
		defer c.Ended(x)
		last, err := p.exchange(ctx, c, x)
		return last || err != nil, err
	}))
}

func (p *plain) open(ctx context.Context, x *application.Exchange) (*plainConn, error) {
	under, err := p.d.TCP(ctx, x)
	if err != nil {
		return nil, err
	}
	c := &plainConn{Conn: under, stream: under}
	if encrypted(p.d.Spec()) {
		if c.stream, err = p.d.TLS(ctx, x, under, "http/1.1"); err != nil {
			under.Close()
			return nil, err
		}
	}
	c.limit = &io.LimitedReader{R: c.stream}
	return c, nil
}

// exchange makes a request on a connection; last means that the server closes it afterwards.
func (p *plain) exchange(ctx context.Context, c *plainConn, x *application.Exchange) (last bool, err error) {
	at, _ := ctx.Deadline()
	if err := c.stream.SetDeadline(at); err != nil {
		return false, err
	}
	began := sched.Now()
	if _, err := c.stream.Write(p.head); err != nil {
		return false, err
	}
	if p.body > 0 {
		if _, err := io.Copy(c.stream, newPayload(p.body)); err != nil {
			return false, err
		}
	}
	c.limit.N = longestHeader
	reader := readers.Get().(*bufio.Reader)
	reader.Reset(c.limit)
	defer func() {
		// Data after the response belongs to no request: the connection is not used again.
		last = last || reader.Buffered() > 0
		reader.Reset(nil)
		readers.Put(reader)
	}()
	if _, err := reader.Peek(1); err != nil {
		return false, err
	}
	began = x.Phase(record.PhaseFirstByte, began)
	response, err := p.final(reader)
	if err != nil {
		if c.limit.N <= 0 {
			err = errors.New("the header of the response has more than 64 KiB")
		}
		return false, err
	}
	c.limit.N = math.MaxInt64
	_, err = io.Copy(io.Discard, response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return false, err
	}
	x.Phase(record.PhaseLastByte, began)
	x.Answer(outcome(response.StatusCode))
	return response.Close, nil
}

// final reads the header of the final response. Interim responses (status 1xx, RFC 9110, section 15.2) count
// towards longestHeader.
func (p *plain) final(reader *bufio.Reader) (*http.Response, error) {
	for {
		response, err := http.ReadResponse(reader, p.request)
		if err != nil || response.StatusCode >= 200 || response.StatusCode == http.StatusSwitchingProtocols {
			return response, err
		}
	}
}
