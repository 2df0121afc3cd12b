package web

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"linerate/internal/host/application"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/record"
)

// idleTimeout is how long an idle connection stays open.
const idleTimeout = 2 * time.Minute

// conn2 is a connection of HTTP/2.
type conn2 struct {
	*http.ClientConn
	under *application.Conn
}

func (c *conn2) Close() {
	_ = c.ClientConn.Close() // the connection below is closed in any case
	c.under.Close()
}

// Usable does not know of GOAWAY, after which RoundTrip fails at once.
func (c *conn2) Usable() bool { return c.ClientConn.Err() == nil && c.under.Usable() }

func (c *conn2) Received() uint64 { return c.under.Received() }

func (c *conn2) Ended(x *application.Exchange) { c.under.Ended(x) }

// dial2 opens a connection of HTTP/2, over TLS or with prior knowledge (RFC 9113,
// section 3.3).
func dial2(ctx context.Context, d *application.Dialer, x *application.Exchange) (transport, error) {
	c := &conn2{}
	dial := func(ctx context.Context, _, _ string) (conn net.Conn, err error) {
		c.under, err = d.TCP(ctx, x)
		return c.under, err
	}
	of := &http.Transport{
		DialContext: dial, Protocols: new(http.Protocols), DisableCompression: true,
		MaxResponseHeaderBytes: longestHeader,
		DialTLSContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			secure, err := d.TLS(ctx, x, conn, "h2")
			if err == nil && secure.ConnectionState().NegotiatedProtocol != "h2" {
				err = errors.New("the server does not agree on HTTP/2 (ALPN)")
			}
			if err != nil {
				conn.Close()
				return nil, err
			}
			return secure, nil
		},
	}
	of.Protocols.SetHTTP2(true)
	of.Protocols.SetUnencryptedHTTP2(true)
	scheme := "http"
	if application.Encrypted(d.Spec()) {
		scheme = "https"
	}
	var err error
	if c.ClientConn, err = of.NewClientConn(ctx, scheme, d.Host()); err != nil {
		if c.under != nil {
			c.under.Close()
		}
		return nil, cause(ctx, err)
	}
	return c, nil
}

// quiet stops the QUIC library from writing to standard error that net.core.rmem_max is below the receive
// buffer it requests.
var quiet = sync.OnceFunc(func() { _ = os.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true") })

// conn3 is a connection of HTTP/3.
type conn3 struct {
	*http3.ClientConn
	conn  *quic.Conn
	over  *quic.Transport
	under net.PacketConn
}

func (c *conn3) Close() {
	_ = c.conn.CloseWithError(0, "")
	_ = c.over.Close()
	_ = c.under.Close()
}

func (c *conn3) Usable() bool { return c.conn.Context().Err() == nil }

func (c *conn3) Received() uint64 { return c.conn.ConnectionStats().BytesReceived }

// Ended records nothing: the library does not report per request what QUIC resends.
func (c *conn3) Ended(*application.Exchange) {}

// dial3 opens a connection of HTTP/3.
func dial3(ctx context.Context, d *application.Dialer, x *application.Exchange) (transport, error) {
	quiet()
	packets, remote, err := d.Packets(ctx, x)
	if err != nil {
		return nil, err
	}
	began := sched.Now()
	over := &quic.Transport{Conn: packets}
	// ctx limits the handshake
	config := &quic.Config{HandshakeIdleTimeout: time.Minute, MaxIdleTimeout: idleTimeout,
		KeepAlivePeriod: idleTimeout / 4}
	conn, err := over.Dial(ctx, remote, http3.ConfigureTLSConfig(d.TLSConfig(http3.NextProtoH3)), config)
	if err != nil {
		_ = over.Close()
		_ = packets.Close()
		return nil, cause(ctx, err)
	}
	x.Phase(record.PhaseConnect, began)
	of := &http3.Transport{DisableCompression: true, MaxResponseHeaderBytes: longestHeader}
	return &conn3{of.NewClientConn(conn), conn, over, packets}, nil
}
