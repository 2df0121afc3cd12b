// Package mail is SMTP (RFC 5321) as an application of flows: a client that delivers mails, and a server that
// accepts and discards them.
package mail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strconv"
	"strings"

	"linerate/internal/host/application"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
)

// Names in the envelopes of mails (RFC 2606).
const (
	sender    = "sender@linerate.test"
	recipient = "recipient@linerate.test"
)

const (
	// longestReply limits a reply of the server including all its lines, in bytes.
	longestReply = 16 << 10
	// lineBytes is the length of a mail's lines including CRLF (RFC 5322, section 2.1.1).
	lineBytes = 78
)

func init() { application.Register(Protocol{}, flow.SMTP) }

// Protocol is SMTP.
type Protocol struct{}

// Session returns a client's session.
func (Protocol) Session(d *application.Dialer) application.Session {
	return &session{d: d, shared: application.NewShared[*conn](d), mail: message(size(d.Spec()))}
}

// size returns the size of the flow's mails, in bytes.
func size(spec flow.Spec) int {
	if spec.Request > 0 {
		return int(spec.Request)
	}
	return flow.DefaultBody
}

// message returns a mail of the given size, at least its header, with the final dot line.
func message(bytes int) []byte {
	header := "From: <" + sender + ">\r\nTo: <" + recipient + ">\r\nSubject: linerate\r\n\r\n"
	text := []byte(header)
	line := strings.Repeat("x", lineBytes-2) + "\r\n"
	for len(text) < bytes {
		rest := line[lineBytes-min(lineBytes, max(3, bytes-len(text))):]
		text = append(text, rest...)
	}
	return append(text, ".\r\n"...)
}

// session delivers mails over one connection at a time.
type session struct {
	d      *application.Dialer
	shared *application.Shared[*conn]
	mail   []byte
}

// conn is a connection after the greeting.
type conn struct {
	under  *application.Conn
	stream net.Conn // the connection itself, or TLS on it
	text   *textproto.Conn
	limit  *io.LimitedReader
}

func (c *conn) Close()           { c.under.Close() }
func (c *conn) Usable() bool     { return c.under.Usable() }
func (c *conn) Received() uint64 { return c.under.Received() }

// Close closes the connection without QUIT, since the flow ends.
func (s *session) Close() { s.shared.Close() }

// Do delivers a mail.
func (s *session) Do(ctx context.Context, x *application.Exchange) error {
	err := s.shared.Do(ctx, func() (*conn, error) { return s.open(ctx, x) }, func(c *conn) (last bool, err error) {
		defer c.under.Ended(x)
		err = s.deliver(ctx, c, x)
		last = err != nil
		if code, refused := reply(err); refused {
			x.Answer(code, true)
			err = nil
		}
		return last, err
	})
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// reply returns the reply code if err is a refusal.
func reply(err error) (code string, refused bool) {
	refusal, refused := errors.AsType[*textproto.Error](err)
	if refused {
		code = strconv.Itoa(refusal.Code)
	}
	return code, refused
}

// open opens a connection, waits for the server's greeting, and starts TLS if the flow
// has it.
func (s *session) open(ctx context.Context, x *application.Exchange) (*conn, error) {
	under, err := s.d.TCP(ctx, x)
	if err != nil {
		return nil, err
	}
	c := &conn{under: under}
	if err := s.greet(ctx, c, x); err != nil {
		under.Close()
		if code, refused := reply(err); refused {
			err = &application.Refusal{Code: code, Err: err}
		}
		return nil, err
	}
	return c, nil
}

func (s *session) greet(ctx context.Context, c *conn, x *application.Exchange) error {
	began := sched.Now()
	c.over(c.under)
	if err := c.within(ctx); err != nil {
		return err
	}
	if err := c.expect(220); err != nil {
		return err
	}
	if err := c.command(250, "EHLO linerate.test"); err != nil {
		return err
	}
	began = x.Phase(record.PhaseGreeting, began)
	if !application.Encrypted(s.d.Spec()) {
		return nil
	}
	if err := c.command(220, "STARTTLS"); err != nil {
		return fmt.Errorf("STARTTLS: %w", err)
	}
	// What came before the handshake would be the attacker's (RFC 3207, section 6).
	if c.text.R.Buffered() > 0 {
		return errors.New("the server sent data before the TLS handshake")
	}
	x.Phase(record.PhaseGreeting, began)
	secure, err := s.d.TLS(ctx, x, c.under)
	if err != nil {
		return err
	}
	began = sched.Now()
	c.over(secure)
	if err := c.within(ctx); err != nil {
		return err
	}
	if err := c.command(250, "EHLO linerate.test"); err != nil {
		return err
	}
	x.Phase(record.PhaseGreeting, began)
	return nil
}

// over continues the dialogue on another stream.
func (c *conn) over(stream net.Conn) {
	c.stream = stream
	c.limit = &io.LimitedReader{R: stream}
	c.text = textproto.NewConn(struct {
		io.Reader
		io.WriteCloser
	}{c.limit, stream})
}

// within sets the transaction's deadline.
func (c *conn) within(ctx context.Context) error {
	at, _ := ctx.Deadline()
	return c.stream.SetDeadline(at)
}

// command sends a command and expects a reply.
func (c *conn) command(want int, text string) error {
	if err := c.text.PrintfLine("%s", text); err != nil {
		return err
	}
	return c.expect(want)
}

// expect reads a reply; an unexpected one is returned as a *textproto.Error.
func (c *conn) expect(want int) error {
	c.limit.N = longestReply
	_, _, err := c.text.ReadResponse(want)
	if err != nil && c.limit.N <= 0 {
		return errors.New("a reply of more than 16 KiB")
	}
	return err
}

// deliver delivers a mail. The reply to MAIL counts as the first byte of the answer.
func (s *session) deliver(ctx context.Context, c *conn, x *application.Exchange) error {
	if err := c.within(ctx); err != nil {
		return err
	}
	began := sched.Now()
	if err := c.command(250, "MAIL FROM:<"+sender+">"); err != nil {
		return err
	}
	began = x.Phase(record.PhaseFirstByte, began)
	if err := c.command(25, "RCPT TO:<"+recipient+">"); err != nil { // 251: forwarded (RFC 5321, section 4.3.2)
		return err
	}
	if err := c.command(354, "DATA"); err != nil {
		return err
	}
	if _, err := c.stream.Write(s.mail); err != nil {
		return err
	}
	if err := c.expect(250); err != nil {
		return err
	}
	x.Phase(record.PhaseLastByte, began)
	x.Answer("250", false)
	return nil
}
