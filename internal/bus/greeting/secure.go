package greeting

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"sync"
	"time"
)

// With a token, what follows the introductions goes over TLS 1.3, and each side proves the
// token for this very TLS connection (channel binding, RFC 9266). Certificates are not
// verified and last as long as the process: the proofs authenticate the peer. A host in
// between has a TLS connection of its own with each side, for which neither's proof is valid.

// LeastToken is the minimum length of a token, in characters. A peer that receives a proof
// can try tokens against it offline (only a PAKE would prevent that); 128 random bits, as 32
// hexadecimal digits, are too many to try.
const LeastToken = 32

// bindingBytes and bindingLabel are those of tls-exporter, RFC 9266.
const (
	bindingBytes = 32
	bindingLabel = "EXPORTER-Channel-Binding"
)

// certificate is the one of this process.
var certificate = sync.OnceValues(func() (tls.Certificate, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	always := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Unix(1<<33, 0)}
	der, err := x509.CreateCertificate(rand.Reader, &always, &always, public, private)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}, err
})

// secure makes a stream a TLS connection, and returns what names that connection and no
// other.
func secure(stream io.ReadWriter, server bool) (secured net.Conn, binding []byte, err error) {
	config := &tls.Config{MinVersion: tls.VersionTLS13, SessionTicketsDisabled: true}
	var conn *tls.Conn
	if server {
		own, err := certificate()
		if err != nil {
			return nil, nil, err
		}
		config.Certificates = []tls.Certificate{own}
		conn = tls.Server(connOf(stream), config)
	} else {
		config.InsecureSkipVerify = true // the proofs verify
		conn = tls.Client(connOf(stream), config)
	}
	if err := conn.Handshake(); err != nil {
		return nil, nil, fmt.Errorf("TLS with the peer: %w", err)
	}
	state := conn.ConnectionState()
	binding, err = state.ExportKeyingMaterial(bindingLabel, nil, bindingBytes)
	return conn, binding, err
}

// connOf is a stream as a net.Conn; one that is none has no deadlines.
func connOf(stream io.ReadWriter) net.Conn {
	if conn, ok := stream.(net.Conn); ok {
		return conn
	}
	return withoutDeadlines{stream}
}

type withoutDeadlines struct{ io.ReadWriter }

func (withoutDeadlines) Close() error                     { return nil }
func (withoutDeadlines) LocalAddr() net.Addr              { return &net.UnixAddr{} }
func (withoutDeadlines) RemoteAddr() net.Addr             { return &net.UnixAddr{} }
func (withoutDeadlines) SetDeadline(time.Time) error      { return nil }
func (withoutDeadlines) SetReadDeadline(time.Time) error  { return nil }
func (withoutDeadlines) SetWriteDeadline(time.Time) error { return nil }
