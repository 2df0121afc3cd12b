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

// certificate is a server's, made for one engine, which alone has its key.
type certificate struct{ pair tls.Certificate }

// onceCertificate makes a certificate at the first call: P-256, valid for a day.
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

// server is the configuration of a server: sessions are resumed only where the flow's
// clients resume them.
func (c certificate) server(mode string) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{c.pair}, SessionTicketsDisabled: mode != flow.TLSResumed}
}

// clientTLS is what the flow's clients have in common.
type clientTLS struct {
	once  sync.Once
	cache tls.ClientSessionCache
}

// clientTLS is the configuration of a client. The certificate of linerate's own server,
// which is signed by itself, is not verified: no certification authority knows it, and what is
// transferred is no secret. That of another program is verified, unless the flow says otherwise.
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
