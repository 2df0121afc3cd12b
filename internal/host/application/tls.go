package application

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"

	"linerate/internal/model/flow"
)

// serverName is the name in the certificate of linerate's own servers (RFC 6761).
const serverName = "linerate.test"

// certificate is the server certificate of one engine, the only holder of its key.
type certificate struct{ pair tls.Certificate }

// onceCertificate returns a function that creates a certificate on its first call: P-256, valid for a day.
func onceCertificate() func() (certificate, error) {
	return sync.OnceValues(func() (certificate, error) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return certificate{}, fmt.Errorf("making a key: %w", err)
		}
		template := x509.Certificate{
			SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: serverName}, DNSNames: []string{serverName},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
			KeyUsage: x509.KeyUsageDigitalSignature,
		}
		der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
		if err != nil {
			return certificate{}, fmt.Errorf("making a certificate: %w", err)
		}
		return certificate{tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}}, nil
	})
}

// server returns a server's configuration. Sessions are resumed only if the flow's clients resume them.
func (c certificate) server(mode string) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{c.pair}, SessionTicketsDisabled: mode != flow.TLSResumed}
}

// wire is what a client's TLS reads and writes: the connection itself, until an event loop takes that over; after that
// only memory, which the loop fills and empties. Its TLS then takes what has arrived and fails with errNothingArrived,
// after which it goes on.
type wire struct {
	net.Conn
	tls     *tls.Conn
	inLoop  bool
	in, out []byte // what has arrived, and what is to be sent
}

func (w *wire) Read(b []byte) (int, error) {
	switch {
	case !w.inLoop:
		return w.Conn.Read(b)
	case len(w.in) == 0:
		return 0, errNothingArrived
	}
	n := copy(b, w.in)
	w.in = w.in[n:]
	return n, nil
}

func (w *wire) Write(b []byte) (int, error) {
	if !w.inLoop {
		return w.Conn.Write(b)
	}
	w.out = append(w.out, b...)
	return len(b), nil
}

// errNothingArrived is an error that TLS takes for one that passes, such as a timeout.
var errNothingArrived net.Error = nothingArrived{}

type nothingArrived struct{}

func (nothingArrived) Error() string   { return "nothing has arrived" }
func (nothingArrived) Timeout() bool   { return true }
func (nothingArrived) Temporary() bool { return true }

// clientTLS is the TLS state that a flow's clients share.
type clientTLS struct {
	once  sync.Once
	cache tls.ClientSessionCache
}

// clientTLS returns a client's configuration. It does not verify the self-signed certificate of linerate's own
// server: no authority knows it, and the data is no secret. It verifies that of other programs unless the flow
// says otherwise.
func (f *appFlow) clientTLS(alpn ...string) *tls.Config {
	f.tls.once.Do(func() {
		if f.Request.TLS == flow.TLSResumed {
			f.tls.cache = tls.NewLRUClientSessionCache(max(64, f.connections()))
		}
	})
	config := &tls.Config{ServerName: serverName, InsecureSkipVerify: !f.Request.Foreign, NextProtos: alpn,
		ClientSessionCache: f.tls.cache}
	if f.Request.Foreign {
		config.ServerName, _, _ = net.SplitHostPort(f.host())
		config.InsecureSkipVerify = flow.On(f.Request.Insecure)
	}
	return config
}
