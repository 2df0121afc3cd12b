package server

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
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
	private := file("key", pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY",
		Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	list := file("users", []byte("# comment\nbob,1234\r\n\nada,"+iperf3.PasswordHash("ada", "s3cret")+"\r\n"))
	l, err := LoadUsers(private, list, skew, pkcs1)
	if err != nil {
		t.Fatal(err)
	}
	return l, key, file("public", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}))
}

// TestLogins: tokens of new clients, how far their clock may be off, and which refusals
// count as guesses.
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
	for name, c := range map[string]struct {
		token, want string
		guess       bool
	}{
		"good":  {token("ada", "s3cret", now, false), "", false},
		"early": {token("ada", "s3cret", now.Add(-10*time.Second), false), "", false},
		"too early": {token("ada", "s3cret", now.Add(-11*time.Second), false),
			"11s off this host's clock, 10s is allowed", false},
		"too late":    {token("ada", "s3cret", now.Add(time.Hour), false), "off this host's clock", false},
		"wrong":       {token("ada", "secret", now, false), "not known, or the password", true},
		"comment":     {token("#", "x", now, false), "not known, or the password", true},
		"old padding": {token("ada", "s3cret", now, true), "--use-pkcs1-padding", true},
		"none":        {"", "no token", false},
		"garbage":     {"Z2FyYmFnZQ==", "not encrypted with this server's key", true},
	} {
		guess, err := l.check(c.token, now)
		if guess != c.guess {
			t.Errorf("%s: counts as a guess: %t", name, guess)
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	l.pkcs1 = true
	if _, err := l.check(token("ada", "s3cret", now, true), now); err != nil {
		t.Errorf("old padding, allowed: %v", err)
	}
	if err := os.Remove(l.users); err != nil {
		t.Fatal(err)
	}
	if guess, err := l.check(token("ada", "s3cret", now, false), now); err == nil || guess {
		t.Errorf("without a file of users: %v, counts as a guess: %t", err, guess)
	}
}

func TestBadKeys(t *testing.T) {
	at := filepath.Join(t.TempDir(), "key")
	for _, text := range []string{"", "no key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadUsers(at, at, time.Second, false); err == nil ||
			!strings.Contains(err.Error(), "expected an RSA private key") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := LoadUsers(at+"x", at, time.Second, false); err == nil {
		t.Error("a key that is not there is read")
	}
}

// TestWrongPasswords: an address has to wait after wrong passwords, and not after refusals for
// another reason, each of which the server reports as it is.
func TestWrongPasswords(t *testing.T) {
	l, key, _ := users(t, 10*time.Second, false)
	port, visits := open(t, "127.0.0.1", func(o *Options) { o.Users = l })
	refused := func(password string, age time.Duration) string {
		t.Helper()
		r, p := dial(t, port), simple()
		if password != "" {
			var err error
			c := iperf3.Credentials{User: "ada", Password: password, At: time.Now().Add(-age)}
			if p.AuthToken, err = c.Encode(&key.PublicKey, false); err != nil {
				t.Fatal(err)
			}
		}
		r.asks(p)
		return fmt.Sprint(visit(t, visits).Err)
	}
	for range 5 {
		for _, why := range []string{refused("", 0), refused("s3cret", time.Hour)} {
			if !strings.Contains(why, "no token") && !strings.Contains(why, "off this host's clock") {
				t.Errorf("reported: %s", why)
			}
		}
	}
	for range 50 {
		why := refused("secret", 0)
		if strings.Contains(why, "too many wrong tokens or passwords") {
			return
		}
		if !strings.Contains(why, "the password is not right") {
			t.Fatalf("reported: %s", why)
		}
	}
	t.Error("fifty wrong passwords are answered at once")
}
