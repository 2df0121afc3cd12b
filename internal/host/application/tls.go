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
