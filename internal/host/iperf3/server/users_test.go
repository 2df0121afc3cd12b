package server

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linerate/internal/host/iperf3"
)

// users makes a key and a file of users, and returns the options of a client that
// has the public half.
func users(t *testing.T, skew time.Duration, pkcs1 bool) (*Users, *rsa.PrivateKey, string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := func(name string, text []byte) string {
		at := filepath.Join(dir, name)
		if err := os.WriteFile(at, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return at
	}
	private := file("key", pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	list := file("users", []byte("# comment\nbob,1234\r\n\nada,"+iperf3.PasswordHash("ada", "s3cret")+"\r\n"))
	l, err := LoadUsers(private, list, skew, pkcs1)
	if err != nil {
		t.Fatal(err)
	}
	return l, key, file("public", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}))
}

// TestLogins: tokens of new clients, and how far their clock may be off.
func TestLogins(t *testing.T) {
	l, key, _ := users(t, 10*time.Second, false)
	now := time.Unix(1700000000, 0)
	token := func(user, password string, at time.Time, pkcs1 bool) string {
		text, err := iperf3.Credentials{User: user, Password: password, At: at}.Encode(&key.PublicKey, pkcs1)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for name, c := range map[string]struct{ token, want string }{
		"good":        {token("ada", "s3cret", now, false), ""},
		"early":       {token("ada", "s3cret", now.Add(-10*time.Second), false), ""},
		"too early":   {token("ada", "s3cret", now.Add(-11*time.Second), false), "11s off this host's clock, 10s is allowed"},
		"too late":    {token("ada", "s3cret", now.Add(time.Hour), false), "off this host's clock"},
		"wrong":       {token("ada", "secret", now, false), "not known, or the password"},
		"comment":     {token("#", "x", now, false), "not known, or the password"},
		"old padding": {token("ada", "s3cret", now, true), "--use-pkcs1-padding"},
		"none":        {"", "no token"},
		"garbage":     {"Z2FyYmFnZQ==", "not encrypted with this server's key"},
	} {
		err := l.check(c.token, now)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	l.pkcs1 = true
	if err := l.check(token("ada", "s3cret", now, true), now); err != nil {
		t.Errorf("old padding, allowed: %v", err)
	}
	if err := os.Remove(l.users); err != nil {
		t.Fatal(err)
	}
	if err := l.check(token("ada", "s3cret", now, false), now); err == nil {
		t.Error("without a file of users a user is known")
	}
}

func TestBadKeys(t *testing.T) {
	at := filepath.Join(t.TempDir(), "key")
	for _, text := range []string{"", "no key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadUsers(at, at, time.Second, false); err == nil || !strings.Contains(err.Error(), "expected an RSA private key") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := LoadUsers(at+"x", at, time.Second, false); err == nil {
		t.Error("a key that is not there is read")
	}
}
