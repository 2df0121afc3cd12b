// Package web is HTTP as an application of flows: HTTP/1.1 (RFC 9112), HTTP/2
// (RFC 9113) and HTTP/3 (RFC 9114), and a server that answers every request with a body
// of the flow's size.
package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"linerate/internal/host/application"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
)

// longestHeader bounds the header of a response, in bytes.
const longestHeader = 64 << 10

// agent is the User-Agent of requests.
const agent = "linerate"

func init() { application.Register(Protocol{}, flow.HTTP, flow.HTTP2, flow.HTTP3) }

// Protocol is HTTP, in the version that the flow's protocol names.
type Protocol struct{}

// Session returns a client's session.
func (Protocol) Session(d *application.Dialer) application.Session {
	switch d.Spec().Protocol {
	case flow.HTTP2:
		return newSession(d, dial2)
	case flow.HTTP3:
		return newSession(d, dial3)
	}
	codec, err := newCodec(d)
	if err != nil {
		return application.Invalid{Err: err}
	}
	return application.NewCoded(d, codec, "http/1.1")
}

// transport is an open connection of HTTP/2 or HTTP/3, whose requests are streams.
type transport interface {
	application.Pooled
	RoundTrip(*http.Request) (*http.Response, error)
	// Ended notes in x what the connection sent again meanwhile.
	Ended(x *application.Exchange)
}

// session makes requests over the streams of one connection at a time.
type session struct {
	d      *application.Dialer
	dial   func(ctx context.Context, d *application.Dialer, x *application.Exchange) (transport, error)
	shared *application.Shared[transport]
	url    string
}

func newSession(d *application.Dialer, dial func(context.Context, *application.Dialer, *application.Exchange) (
	transport, error)) *session {
	return &session{d: d, dial: dial, shared: application.NewShared[transport](d), url: address(d)}
}

// Close closes the connection.
func (s *session) Close() { s.shared.Close() }

// Do makes a request.
func (s *session) Do(ctx context.Context, x *application.Exchange) error {
	return s.shared.Do(ctx, func() (transport, error) { return s.dial(ctx, s.d, x) }, func(c transport) (bool, error) {
		defer c.Ended(x)
		return false, s.exchange(ctx, c, x)
	})
}

func (s *session) exchange(ctx context.Context, c transport, x *application.Exchange) error {
	request, err := s.request(ctx)
	if err != nil {
		return err
	}
	began := sched.Now()
	response, err := c.RoundTrip(request)
	if err != nil {
		return unprocessed(cause(ctx, err))
	}
	began = x.Phase(record.PhaseFirstByte, began)
	_, err = io.Copy(io.Discard, response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return cause(ctx, err)
	}
	x.Phase(record.PhaseLastByte, began)
	x.Answer(outcome(response.StatusCode))
	return nil
}

// request is the flow's request.
func (s *session) request(ctx context.Context) (*http.Request, error) {
	method, body := http.MethodGet, io.Reader(nil)
	size := int64(s.d.Spec().Request)
	if size > 0 {
		method, body = http.MethodPost, newPayload(size)
	}
	request, err := http.NewRequestWithContext(ctx, method, s.url, body)
	if err != nil {
		return nil, err
	}
	request.ContentLength = size
	request.Header.Set("User-Agent", agent)
	return request, nil
}

// cause is why a request failed: that its time was over, rather than what that broke.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// ending are the texts by which the libraries say that a server ends a connection and has not
// begun a request (RFC 9113, sections 6.8 and 8.7; RFC 9114, section 5.2): their errors have
// no other mark.
var ending = []string{"graceful shutdown", "client conn not usable", "REFUSED_STREAM"}

// unprocessed marks the failure of a request that the server has not begun.
func unprocessed(err error) error {
	for _, text := range ending {
		if strings.Contains(err.Error(), text) {
			return fmt.Errorf("%w: %w", application.ErrUnprocessed, err)
		}
	}
	return err
}

// outcome is an answer's status, and whether it is an error.
func outcome(status int) (text string, failed bool) {
	return strconv.Itoa(status), status >= http.StatusBadRequest
}

// address is the URL of a flow's requests.
func address(d *application.Dialer) string {
	scheme := "http"
	if application.Encrypted(d.Spec()) {
		scheme = "https"
	}
	return scheme + "://" + d.Host() + cmp.Or(d.Spec().Path, "/")
}

// payload reads as so many bytes, which compress as ill as any.
type payload struct{ left int64 }

func newPayload(bytes int64) io.ReadCloser {
	socket.FillPayload()
	return &payload{bytes}
}

func (p *payload) Read(b []byte) (int, error) {
	if p.left == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(int64(len(b)), p.left)], socket.Payload[:])
	p.left -= int64(n)
	return n, nil
}

func (p *payload) Close() error { return nil }
