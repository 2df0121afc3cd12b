package mail

import (
	"context"
	"io"
	"net"
	"sync"
	"time"

	"github.com/emersion/go-smtp"

	"linerate/internal/host/application"
)

// commandTimeout is how long a client may take for each command. RFC 5321, section 4.5.3.2, allows minutes, but
// strangers must not hold connections that long.
const commandTimeout = 30 * time.Second

// Serve accepts and discards every mail of the flow's size.
func (Protocol) Serve(ctx context.Context, s *application.Server) error {
	server := smtp.NewServer(backend{ctx, s})
	server.Domain = "linerate.test"
	server.ReadTimeout, server.WriteTimeout = commandTimeout, commandTimeout
	server.MaxMessageBytes = int64(size(s.Spec)) + lineBytes + 200 // the header
	server.MaxRecipients = 1
	server.MaxLineLength = 2000
	server.ErrorLog = silent{}
	if application.Encrypted(s.Spec) {
		server.TLSConfig = s.TLS
	}
	// Two concurrent calls would close the library's channel twice.
	end := sync.OnceFunc(func() { _ = server.Close() })
	defer end()
	defer context.AfterFunc(ctx, end)()
	err := server.Serve(s.Listener)
	if err == smtp.ErrServerClosed || ctx.Err() != nil {
		return nil
	}
	return err
}

// silent discards the library's log about its clients.
type silent struct{}

func (silent) Printf(string, ...any) {}
func (silent) Println(...any)        {}

// backend makes the library's sessions.
type backend struct {
	ctx context.Context
	s   *application.Server
}

func (b backend) NewSession(c *smtp.Conn) (smtp.Session, error) { return sink{b, c}, nil }

// sink accepts and discards mails.
type sink struct {
	backend
	client *smtp.Conn
}

func (sink) Reset()                               {}
func (sink) Logout() error                        { return nil }
func (sink) Mail(string, *smtp.MailOptions) error { return nil }
func (sink) Rcpt(string, *smtp.RcptOptions) error { return nil }

// Data reads a mail and counts it. The library replies when it returns.
func (k sink) Data(r io.Reader) error {
	if _, err := io.Copy(io.Discard, r); err != nil {
		return err
	}
	if !k.s.Think(k.ctx, k.client.Conn()) {
		return net.ErrClosed
	}
	k.s.Answered()
	return nil
}
