package server

import (
	"bufio"
	"bytes"
	"crypto/rsa"
	"crypto/subtle"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"

	"linerate/internal/host/iperf3"
	"linerate/internal/kernel/file"
	"linerate/internal/model/unit"
)

// Users are the users who may run tests, in the format of iperf3's servers.
type Users struct {
	key   *rsa.PrivateKey
	users string // file name
	skew  time.Duration
	pkcs1 bool
}

// Size limits of the user file and the key file.
const (
	maxUsers = 1 << 20
	maxKey   = 64 << 10
)

// LoadUsers reads the key and checks the user file, which is read again for each test. With pkcs1 it also
// accepts tokens of iperf3 before 3.17, whose padding makes it easier to decrypt a token without the key.
func LoadUsers(key, users string, skew time.Duration, pkcs1 bool) (*Users, error) {
	text, err := file.ReadPrivate(key, maxKey)
	if err != nil {
		return nil, err
	}
	l := &Users{users: users, skew: skew, pkcs1: pkcs1}
	if l.key, err = parseKey(text); err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	if _, err := l.find("", ""); err != nil {
		return nil, err
	}
	return l, nil
}

// parseKey parses a private key in either format that openssl writes.
func parseKey(text []byte) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("expected an RSA private key in PEM form, such as openssl genrsa writes")
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	any, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := any.(*rsa.PrivateKey)
	if err != nil || !ok {
		return nil, fmt.Errorf("%s: expected an RSA private key that is not encrypted", block.Type)
	}
	return key, nil
}

// check returns why a token is rejected, and whether it may be a guess: it cannot be decrypted, or its user or
// password is wrong. The reason is for the server's log only.
func (l *Users) check(token string, now time.Time) (guess bool, err error) {
	if token == "" {
		return false, errors.New("no token: this server requires a user name and a password")
	}
	said, err := iperf3.DecodeToken(token, l.key, false)
	if err != nil && l.pkcs1 {
		said, err = iperf3.DecodeToken(token, l.key, true)
	}
	if err != nil && !l.pkcs1 {
		return true, fmt.Errorf("%w (iperf3 before 3.17 needs --use-pkcs1-padding here)", err)
	}
	if err != nil {
		return true, err
	}
	known, err := l.find(said.User, said.Password)
	skew := now.Sub(said.At).Abs()
	switch {
	case err != nil:
		return false, err
	case !known:
		return true, fmt.Errorf("user %.40q is not known, or the password is not right", said.User)
	case skew > l.skew:
		return false, fmt.Errorf("the token of user %.40q is %v off this host's clock, %v is allowed", said.User,
			unit.Duration(skew.Round(time.Second)), unit.Duration(l.skew))
	}
	return false, nil
}

// find reports whether the file has this user with this password. A line contains the name, a comma, and the
// hash of the password.
func (l *Users) find(user, password string) (bool, error) {
	text, err := file.ReadPrivate(l.users, maxUsers)
	if err != nil {
		return false, err
	}
	want, found := iperf3.PasswordHash(user, password), 0
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		name, hash, ok := strings.Cut(strings.TrimRight(lines.Text(), "\r"), ",")
		if !ok || strings.HasPrefix(name, "#") || name != user {
			continue
		}
		found |= subtle.ConstantTimeCompare([]byte(strings.ToLower(hash)), []byte(want))
	}
	return found == 1, lines.Err()
}
